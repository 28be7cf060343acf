// Uploads whose names say another format than their bytes.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@Suite struct UploadNameTests {
    private var options: UploadOptions {
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        return options
    }

    /// The code of the error, and "taken" where there is none.
    private func outcome(_ data: Data, _ name: String?, _ options: UploadOptions) async -> String {
        do throws(UploadError) {
            let variants = [UploadVariant("a", width: 10)]
            let upload = try await Upload.processing(data, named: name, into: variants, options: options)
            return upload.files.count == 1 ? "taken" : "no file"
        } catch {
            return "\(error.responseStatus) \(error.code)"
        }
    }

    @Test(
        "The extension of another image format is foreign; others of the same format and those of none are not",
        arguments: [
            (.png, "a.jpg", "jpg"), (.png, "a.b.JPEG", "JPEG"), (.jpeg, "/tmp/a.png", "png"), (.gif, "a.svgz", "svgz"),
            (.avif, "a.heic", "heic"), (.heic, "a.jpg", "jpg"), (.jpeg, ".png", "png"),
            (.jpeg, "a.jpg", nil), (.jpeg, "a.jpe", nil), (.jpeg, "a.jfif", nil), (.jpeg, "A.JPEG", nil),
            (.tiff, "a.tif", nil), (.tiff, "a.tiff", nil), (.heic, "a.heif", nil), (.heif, "a.heic", nil),
            (.avif, "a.heif", nil),
            (.png, "a.apng", nil), (.ico, "a.cur", nil), (.png, "a", nil), (.png, "", nil), (.png, "a.", nil),
            (.png, "a.txt", nil), (.png, "a.pdf", nil), (.png, "a.mp4", nil), (.png, "a.jpg/b", nil),
            (.unknown, "a.jpg", nil),
        ] as [(ImageContentType, String, String?)]
    )
    func extensions(type: ImageContentType, name: String, foreign: String?) {
        #expect(type.foreignExtension(of: name) == foreign)
    }

    @Test("A PNG that is named .jpg is refused with 415, unless that is allowed; a text that is named so is no image")
    func names() async throws {
        let (png, options) = (try SampleImage.png(), options)
        #expect(await outcome(png, "photo.JPG", options) == "415 wrong_extension")
        for name in ["photo.png", "photo", "photo.bak", nil] { #expect(await outcome(png, name, options) == "taken") }
        #expect(await outcome(Data("This is a text.".utf8), "photo.jpg", options) == "415 not_an_image")
        var allowing = options
        allowing.allowsWrongExtension = true
        #expect(await outcome(png, "photo.jpg", allowing) == "taken")
        #expect(UploadError.wrongExtension("jpg", .png).description.contains(".jpg, and its bytes are PNG"))
    }

    @Test("A file has its own name, and nothing is handed over of one that is refused")
    func files() async throws {
        try await withTemporaryDirectory { directory in
            let (place, options, calls) = (directory.appending(path: "a.webp"), options, Counter())
            try SampleImage.png().write(to: place)
            let error = await #expect(throws: UploadError.self) {
                try await Upload.processing(file: place, into: [UploadVariant("a")], options: options)
            }
            #expect(error?.code == "wrong_extension")
            await #expect(throws: UploadError.self) {
                try await Upload.processing(file: place, into: [UploadVariant("a")], options: options) { _ in
                    calls.add()
                }
            }
            #expect(calls.value == 0)
        }
    }
}
