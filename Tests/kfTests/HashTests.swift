// The command `kf hash`, run in a process of its own.

import Foundation
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct HashTests {
    let place = TestDirectory()

    @Test("There is one line for each image, with tabs between its fields") func lines() async throws {
        let (jpeg, png) = (try SampleImages.jpeg(), try SampleImages.png())
        try place.write(jpeg, "a.jpg")
        try place.write(png, "b.png")
        let result = try await place.kf("hash", "a.jpg", "missing", "b.png")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        let lines = result.output.split(separator: "\n").map { $0.components(separatedBy: "\t") }
        try #require(lines.count == 2)
        for (line, data) in zip(lines, [jpeg, png]) {
            let image = try #require(KFCrossPlatformImage(data: data))
            #expect(line[0] == image.kf.blurHash(components: (4, 3)))
            #expect(Data(base64Encoded: line[1]) == image.kf.thumbHash())
            // This is the length of a hash with twelve components.
            #expect(line[0].count == 28)
        }
        #expect(lines.map { $0[2] } == ["a.jpg", "b.png"])
    }

    @Test("With --json there is one object for each image") func jsonLines() async throws {
        try place.write(try SampleImages.png(), "b.png")
        let result = try await place.kf("hash", "--json", "b.png", "missing")
        #expect(result.status == 1)
        let objects = try result.objects
        let image = try #require(KFCrossPlatformImage(data: try SampleImages.png()))
        #expect(objects[0]["source"] as? String == "b.png")
        #expect(objects[0]["blurHash"] as? String == image.kf.blurHash(components: (4, 3)))
        #expect(objects[0]["thumbHash"] as? String == image.kf.thumbHash()?.base64EncodedString())
        #expect((objects[1]["error"] as? [String: Any])?["code"] as? Int == 5003)
    }
}
