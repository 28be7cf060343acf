// `kf info` shows gain maps, and `--keep gainmap` keeps them.

import Foundation
import KFImaging
import Kingfisher
@_spi(Server) import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct GainMapTests {
    let place = TestDirectory()

    init() throws {
        try place.write(Self.fixture().file, "in.jpg")
    }

    private static func fixture() throws -> GainMapFixture {
        GainMapFixture(image: try SampleImages.jpeg(64, 48), map: try SampleImages.jpeg(32, 24), hasISO: true)
    }

    @Test("kf info tells the size, the kinds and the numbers") func info() async throws {
        let lines = try await place.kf("info", "in.jpg").output
        #expect(
            lines.contains(
                "gain map     32×24 pixels, XMP and ISO 21496-1, boost -0.50…2.25 stops, for screens of 0.25…2.50 stops"
            ),
            "\(lines)"
        )
        try place.write(SampleImages.jpeg(), "none.jpg")
        #expect(try await !place.kf("info", "none.jpg").output.contains("gain map"))
        let objects = try await place.kf("info", "--json", "in.jpg", "none.jpg").objects
        let map = try #require(objects[0]["gainMap"] as? [String: Any])
        #expect(map["width"] as? Int == 32 && map["height"] as? Int == 24 && map["maxCapacity"] as? Double == 2.5)
        #expect(map["parameters"] as? [String] == ["xmp", "iso"] && map["isBaseHDR"] as? Bool == false)
        let channels = try #require(map["channels"] as? [[String: Double]])
        let channel: [String: Double] = [
            "minBoost": -0.5, "maxBoost": 2.25, "gamma": 1.5, "offsetSDR": 1 / 64, "offsetHDR": 1 / 32,
        ]
        #expect(channels == [channel] && objects[1]["gainMap"] is NSNull)
    }

    @Test("--keep gainmap keeps it through cuts and sizes, from folders and from the cache")
    func kept() async throws {
        let steps = ["--process", "crop(32x32) |> rotate(90)"]
        let process = try await place.kf(["process", "in.jpg", "-o", "kept.jpg", "--keep", "gainmap"] + steps)
        #expect(process.status == 0 && process.errors == "", "\(process.errors)")
        let kept = try place.data("kept.jpg")
        #expect(try GainMapStructure(kept)?.mapISO == GainMapFixture.isoParameters)
        #expect(try ImageInfo(data: kept).gainMap?.pixelWidth == 16)
        // The second time the original comes from the cache, and an image without the map is in it.
        for name in ["plain.jpg", "first.jpg", "second.jpg"] {
            let keep = name == "plain.jpg" ? [] : ["--keep", "gainmap"]
            let fetch = try await place.kf(["fetch", "in.jpg", "-o", name] + keep + steps)
            #expect(fetch.status == 0 && fetch.errors == "", "\(fetch.errors)")
        }
        #expect(try place.data("first.jpg") == kept && place.data("second.jpg") == kept)
        #expect(try GainMapStructure(place.data("plain.jpg")) == nil)
    }

    @Test("With EXIF both are kept, the location only if it is named") func withEXIF() async throws {
        var fixture = try Self.fixture()
        fixture.image = SampleEXIF(isLittleEndian: true).added(toJPEG: fixture.image)
        try place.write(fixture.file, "exif.jpg")
        for (words, isLocated) in [("exif,gainmap", false), ("gainmap,exif+gps", true)] {
            #expect(try await place.kf("process", "exif.jpg", "-o", "out.jpg", "--keep", words).errors == "")
            let data = try place.data("out.jpg")
            let exif = try #require(Codecs.exif(of: data))
            #expect((exif.range(of: Data("LATITUDE".utf8)) != nil) == isLocated)
            // The image lies on its side in the file.
            let info = try ImageInfo(data: data)
            #expect(info.pixelWidth == 48 && info.gainMap?.pixelWidth == 24 && info.gainMap?.pixelHeight == 32)
        }
        for words in ["gainmap,", "", "gainmap,xmp"] {
            #expect(try await place.kf("process", "in.jpg", "-o", "out.jpg", "--keep", words).status == 2)
        }
    }

    @Test("A map that is lost causes a warning that says why; none for an image without") func warnings() async throws {
        let keep = ["--keep", "gainmap"]
        let gray = try await place.kf(["process", "in.jpg", "-o", "out.jpg", "--process", "bw()"] + keep)
        #expect(gray.status == 0)
        #expect(
            gray.errors.hasPrefix("kf: warning: in.jpg: the gain map was not kept, for only cutting"),
            "\(gray.errors)"
        )
        let png = try await place.kf(["process", "in.jpg", "-o", "out.png"] + keep)
        #expect(png.errors.contains("the gain map was not kept, for PNG is written without"), "\(png.errors)")
        try place.write(SampleImages.jpeg(), "none.jpg")
        #expect(try await place.kf(["process", "none.jpg", "-o", "out.jpg"] + keep).errors == "")
        #expect(try await place.kf(["process", "in.jpg", "-o", "out.jpg", "--process", "bw()"]).errors == "")
    }

    @Test("A map of more pixels than are allowed is left out") func limit() async throws {
        let fixture = GainMapFixture(image: try SampleImages.jpeg(64, 48), map: try SampleImages.jpeg(320, 240))
        try place.write(fixture.file, "large.jpg")
        let arguments = ["process", "large.jpg", "-o", "out.jpg", "--keep", "gainmap"]
        #expect(try await place.kf(arguments + ["--max-pixels", "4000"]).status == 0)
        #expect(try GainMapStructure(place.data("out.jpg")) == nil)
        #expect(try await place.kf(arguments + ["--max-pixels", "80000"]).status == 0)
        #expect(try GainMapStructure(place.data("out.jpg")) != nil)
    }
}
