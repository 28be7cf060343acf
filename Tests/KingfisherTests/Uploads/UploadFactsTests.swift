// The facts about an upload as JSON.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct UploadFactsTests {
    /// The facts about an image that is stored turned, as they are read from JSON.
    private func json(_ image: Image, _ photo: PhotoInfo? = nil) throws -> [String: Any] {
        var info = ImageInfo(
            contentType: .jpeg,
            pixelWidth: image.pixelHeight,
            pixelHeight: image.pixelWidth,
            byteCount: 12
        )
        info.orientation = try #require(Orientation(exif: 6))
        let facts = UploadFacts(info, photo, image, maxColorCount: 2)
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(facts))
        return try #require(json as? [String: Any])
    }

    @Test("Every key is there, and what is not known is null") func keys() throws {
        let image = SampleImage.gradient(40, 60)
        let facts = try json(image)
        #expect(
            facts.keys.sorted() == [
                "alpha", "blurHash", "bytes", "colorProfile", "colors", "damaged", "duration", "exif", "format",
                "frames",
                "height", "loopCount", "orientation", "perceptualHash", "thumbHash", "width",
            ]
        )
        for key in ["colorProfile", "duration", "exif", "loopCount"] { #expect(facts[key] is NSNull, "\(key)") }
        #expect(facts["format"] as? String == "jpeg" && facts["bytes"] as? Int == 12 && facts["frames"] as? Int == 1)
        #expect(facts["width"] as? Int == 40 && facts["height"] as? Int == 60 && facts["orientation"] as? Int == 6)
        #expect(facts["perceptualHash"] as? String == image.kf.perceptualHash?.description)
        #expect((facts["thumbHash"] as? String).flatMap { Data(base64Encoded: $0) } == image.kf.thumbHash())
        let colors = try #require(facts["colors"] as? [[String: Any]])
        #expect(colors.count == 2)
        for color in colors {
            #expect(color["share"] is Double)
            #expect((color["color"] as? String)?.wholeMatch(of: #/#[0-9a-f]{6}/#) != nil)
        }
    }

    @Test("The facts have the proportions of the image, whichever its variants have", arguments: ThumbnailMode.allCases)
    func proportions(mode: ThumbnailMode) async throws {
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        var variant = UploadVariant("tall", width: 40, height: 160)
        variant.mode = mode
        let facts = try await Upload.processing(SampleImage.png(160, 80), into: [variant], options: options).facts
        let preview = try #require(facts.thumbHash.flatMap { Image(thumbHash: $0) })
        let alone = try await Upload.processing(SampleImage.png(160, 80), into: [], options: options).facts
        let expected = try #require(alone.thumbHash.flatMap { Image(thumbHash: $0) })
        #expect(preview.pixelWidth == 32 && expected.pixelWidth == 32)
        #expect(preview.pixelHeight == expected.pixelHeight && preview.pixelHeight < 32)
    }

    @Test("Of EXIF the place is there where it was read, and otherwise whether there is one") func exif() throws {
        func exif(_ text: String) throws -> [String: Any] {
            let photo = try JSONDecoder().decode(PhotoInfo.self, from: Data(text.utf8))
            return try #require(json(SampleImage.gradient(), photo)["exif"] as? [String: Any])
        }
        let noted = try exif(#"{"hasLocation": true, "iso": 100, "camera": "A"}"#)
        #expect(
            noted.keys.sorted() == [
                "aperture", "camera", "date", "exposureTime", "focalLength", "iso", "lens", "location",
            ]
        )
        #expect(noted["location"] as? Bool == true && noted["iso"] as? Int == 100 && noted["date"] is NSNull)
        let read = try exif(#"{"hasLocation": true, "location": {"latitude": 1.5, "longitude": -2.5}}"#)
        #expect((read["location"] as? [String: Double])?["longitude"] == -2.5)
    }
}
