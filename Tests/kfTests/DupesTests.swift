// The command `kf dupes`, run in a process of its own.

import Foundation
import KFImaging
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct DupesTests {
    let place = TestDirectory()

    init() throws {
        try FileManager.default.createDirectory(atPath: place.path("photos/sub"), withIntermediateDirectories: true)
    }

    /// Two photos in several files, beside others that are nothing.
    private func writePhotos() throws {
        let one = Image.painted(width: 300, height: 200, Landscape(seed: 1).painting(width: 300, height: 200))
        let other = one.kf.flipped(horizontal: true, vertical: true)
        let small = one.kf.thumbnail(size: CGSize(width: 120, height: 80))
        try place.write(#require(one.pngData()), "photos/a.png")
        try place.write(#require(small.jpegData(compressionQuality: 0.3)), "photos/sub/a small.jpg")
        try place.write(#require(other.pngData()), "photos/b.png")
        try place.write(#require(other.webPData), "photos/sub/c.webp")
        try place.write(#require(one.pngData()), "photos/.hidden.png")
        try place.write(Data("text".utf8), "photos/notes.txt")
        let link = place.path("photos/link.png")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.path("photos/a.png"))
    }

    @Test("Images that look alike are listed together, the largest first, with blank lines between the groups")
    func groups() async throws {
        try writePhotos()
        let flat = try await place.kf("dupes", "photos")
        #expect(flat.status == 0 && flat.output == "" && flat.errors == "", "\(flat.errors)")
        let deep = try await place.kf("dupes", "-r", "photos")
        #expect(deep.status == 0 && deep.errors == "", "\(deep.errors)")
        let groups = "photos/a.png\nphotos/sub/a small.jpg\n\nphotos/b.png\nphotos/sub/c.webp\n"
        #expect(deep.output == groups)
        let named = try await place.kf("dupes", "photos/sub/a small.jpg", "photos/a.png", "photos/b.png")
        #expect(named.output == "photos/a.png\nphotos/sub/a small.jpg\n")
    }

    @Test("--json prints an object for each group, and one for each file that cannot be read")
    func json() async throws {
        try writePhotos()
        try place.write(Data("hello".utf8), "photos/broken.jpg")
        let result = try await place.kf("dupes", "photos", "photos/sub", "missing", "--json")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 2 && result.errors.hasPrefix("kf: photos/broken.jpg: "), "\(result.errors)")
        let objects = try result.objects
        try #require(objects.count == 4)
        #expect(objects[0]["source"] as? String == "photos/broken.jpg")
        #expect((objects[1]["error"] as? [String: Any])?["code"] as? Int == 5003)
        let images = try #require(objects[2]["images"] as? [[String: Any]])
        #expect(images.map { $0["source"] as? String } == ["photos/a.png", "photos/sub/a small.jpg"])
        #expect(images[1]["width"] as? Int == 120 && images[1]["height"] as? Int == 80)
        #expect(try images[1]["bytes"] as? Int == place.data("photos/sub/a small.jpg").count)
        #expect(images[1]["format"] as? String == "jpeg")
        let hashes = try images.map { try #require(($0["perceptualHash"] as? String).flatMap(PerceptualHash.init)) }
        #expect(hashes[0].distance(to: hashes[1]) <= 6)
    }

    @Test("A distance that means nothing is a usage error, and a folder without images a failure")
    func mistakes() async throws {
        let distance = try await place.kf("dupes", "photos", "--distance", "40")
        #expect(distance.status == 2 && distance.errors.contains("--distance must be from 0 to 32"))
        let empty = try await place.kf("dupes", "photos")
        #expect(empty.status == 1 && empty.errors.contains("there is no file with an image's extension in it"))
    }
}
