// Uploads: their variants and facts, the errors of what is none, and what is stripped.

import Foundation
import KFImaging
@_spi(Server) import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct UploadTests {
    private let formats = [ImageEncoding(.webp), ImageEncoding(.jpeg)]
    private var options: UploadOptions {
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        return options
    }

    /// A picture with detail everywhere.
    private func landscape(_ width: Int, _ height: Int) -> Image {
        .painted(width: width, height: height, Landscape(seed: 1).painting(width: width, height: height))
    }

    /// A file of the catalogue.
    private func file(_ name: String) throws -> Data { try Data(contentsOf: Catalogue.url(name)) }

    @Test("Each variant has its files, in the sizes and formats that are wanted")
    func variants() async throws {
        var avatar = UploadVariant("avatar", width: 50, height: 50)
        (avatar.mode, avatar.anchor) = (.fill, .smart)
        let variants = [
            UploadVariant("small", width: 100, encodings: formats),
            UploadVariant("large", width: 400, encodings: formats),
            avatar, UploadVariant("own"), UploadVariant("low", height: 60),
        ]
        let data = try SampleImage.png(600, 300)
        let upload = try await Upload.processing(data, into: variants, options: options)
        let found = upload.files.map { file in
            "\(file.variant) \(file.pixelWidth)×\(file.pixelHeight) \(file.image.contentType.name)"
        }
        #expect(
            found == [
                "small 100×50 WebP", "small 100×50 JPEG", "large 400×200 WebP", "large 400×200 JPEG",
                "avatar 50×50 PNG",
                "own 600×300 PNG", "low 120×60 PNG",
            ]
        )
        for file in upload.files {
            let image = try #require(Image(data: file.image.data))
            #expect(image.pixelWidth == file.pixelWidth && image.pixelHeight == file.pixelHeight)
        }
        #expect(upload.facts.displayedWidth == 600 && upload.facts.info.contentType == .png)
        #expect(upload.facts.photo == nil)
        #expect(upload.facts.blurHash != nil && upload.facts.thumbHash != nil && !upload.facts.colors.isEmpty)
        #expect(!upload.facts.isDamaged)
    }

    @Test(
        "A variant differs from one that was made alone by less than can be seen",
        arguments: [[800, 400, 200], [450, 350, 150]]
    )
    func likeAlone(widths: [Int]) async throws {
        let data = try #require(landscape(1000, 750).jpegData(compressionQuality: 0.95))
        let exact = [ImageEncoding(.png)]
        let variants = widths.map { UploadVariant("w\($0)", width: $0, encodings: exact) }
        let together = try await Upload.processing(data, into: variants, options: options)
        for (variant, file) in zip(variants, together.files) {
            let alone = try await Upload.processing(data, into: [variant], options: options).files[0]
            let bitmaps = try [file, alone].map { try #require(Image(data: $0.image.data)?.cgImage) }
            #expect(try #require(ImageComparison.psnr(bitmaps[0], bitmaps[1])) >= 50, "\(variant.name)")
        }
    }

    @Test("Files say nothing of the camera, and have neither comments nor XMP, unless EXIF is kept; notes are facts")
    func privacy() async throws {
        var encoding = ImageEncodingOptions()
        // One directory with one field: the maker, "abc".
        encoding.metadata.exif = Data(
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x0F, 1, 2, 0, 4, 0, 0, 0, 0x61, 0x62, 0x63, 0, 0, 0, 0, 0]
        )
        let photo = try Codecs.encode(SampleImage.gradient(), as: .jpeg, encoding)
        func segment(_ marker: UInt8, _ text: String) -> Data {
            Data([0xFF, marker, 0, UInt8(text.utf8.count + 2)]) + Data(text.utf8)
        }
        let notes = segment(0xFE, "secret comment") + segment(0xE1, "http://ns.adobe.com/xap/1.0/\0secret history")
        let data = photo.prefix(2) + notes + photo.dropFirst(2)
        var variants = [UploadVariant("kept"), UploadVariant("plain")]
        variants[0].encodings[0].keptMetadata = .exif
        let upload = try await Upload.processing(data, into: variants, options: options)
        #expect(upload.facts.photo?.camera == "abc" && upload.facts.photo?.hasLocation == false)
        let files = upload.files.map(\.image.data)
        #expect(try PhotoInfo(data: files[0])?.camera == "abc")
        #expect(try PhotoInfo(data: files[1]) == nil && files[1].range(of: Data("abc".utf8)) == nil)
        for file in files { #expect(file.range(of: Data("secret".utf8)) == nil) }
    }

    @Test("An animation keeps its frames where its format holds them, and its first frame where it does not")
    func animations() async throws {
        var still = ImageEncoding(.webp)
        still.frames = .first
        let variants = [UploadVariant("a", width: 10, encodings: [ImageEncoding(.webp), ImageEncoding(.jpeg), still])]
        let upload = try await Upload.processing(file("animated.gif"), into: variants, options: options)
        let frames = upload.files.map(\.image.frameCount)
        #expect(frames[0] == upload.facts.info.frameCount && frames[0] > 1 && frames[1] == 1 && frames[2] == 1)
        #expect(upload.files.allSatisfy { $0.pixelWidth == 10 })
    }

    @Test(
        "An animation beyond the limits is too large where its frames are kept, and a still elsewhere",
        arguments: [(2, 1200), (3, 1199), (3, 1200)]
    )
    func largeAnimations(frameCount: Int, pixelCount: Int) async throws {
        let (data, isAllowed) = (try file("animated.gif"), frameCount * pixelCount == 3600)
        var options = options
        (options.limits.maxFrameCount, options.limits.maxFramePixelCount) = (frameCount, pixelCount)
        func result(_ encoding: ImageEncoding) async -> String {
            let variant = UploadVariant("a", encodings: [encoding])
            do throws(UploadError) {
                let upload = try await Upload.processing(data, into: [variant], options: options)
                return "\(upload.files[0].image.frameCount)"
            } catch {
                return "\(error.responseStatus) \(error.code)"
            }
        }
        #expect(await result(formats[0]) == (isAllowed ? "3" : "413 too_large"))
        #expect(await result(formats[1]) == "1")
    }

    @Test(
        "What is no upload has an error with a code and a status",
        arguments: [
            ("text", 415, "not_an_image"), ("empty", 415, "not_an_image"), ("bomb.png", 413, "too_large"),
            ("long", 413, "too_large"), ("header", 422, "damaged"),
        ]
    )
    func errors(kind: String, status: Int, code: String) async throws {
        let png = try SampleImage.png(64, 64)
        var options = options
        let data: Data =
            switch kind {
            case "text": Data("a text named photo.jpg".utf8)
            case "empty": Data()
            case "long": png + Data(count: 1000)
            case "header": png.prefix(40)
            default: try file(kind)
            }
        if kind == "long" { options.maxBytes = 1000 }
        let error = await #expect(throws: UploadError.self) {
            try await Upload.processing(data, into: [UploadVariant("a", width: 10)], options: options)
        }
        #expect(error?.responseStatus == status && error?.code == code, "\(String(describing: error))")
    }

    @Test("A variant that its format does not hold is too large; a smaller part and another format are not")
    func formatSizes() async throws {
        let data = try SampleImage.png(16_384, 2)
        var part = UploadVariant("part", width: 100, height: 2, encodings: formats)
        part.mode = .fill
        let fitting = [part, UploadVariant("jpeg", encodings: [formats[1]]), UploadVariant("own")]
        let upload = try await Upload.processing(data, into: fitting, options: options)
        #expect(upload.files.map(\.pixelWidth) == [100, 100, 16_384, 16_384])
        let error = await #expect(throws: UploadError.self) {
            try await Upload.processing(data, into: [UploadVariant("a", encodings: formats)], options: options)
        }
        #expect(error?.responseStatus == 413 && error?.code == "too_large")
        #expect(error?.description.contains("longest side of WebP = 16383") == true)
    }

    @Test("A cut file is an error; where damage is allowed, it gives what there is of it, and says so")
    func damaged() async throws {
        let data = try #require(landscape(400, 300).jpegData(compressionQuality: 0.9))
        let cut = data.prefix(data.count / 2)
        var options = options
        let error = await #expect(throws: UploadError.self) {
            try await Upload.processing(cut, into: [UploadVariant("a", width: 100)], options: options)
        }
        #expect(error?.responseStatus == 422 && error?.code == "damaged")
        options.allowsDamage = true
        let upload = try await Upload.processing(cut, into: [UploadVariant("a", width: 100)], options: options)
        #expect(upload.facts.isDamaged && upload.files[0].image.isDamaged)
    }

    @Test("Damage of a later frame is an error where frames are kept, and is said of the file where it is allowed")
    func damagedFrames() async throws {
        var data = try file("animated.gif")
        // The pixels of the last frame begin with a code that stands for nothing.
        data.replaceSubrange(data.count - 17..<data.count - 2, with: repeatElement(0xFF, count: 15))
        var options = options
        let error = await #expect(throws: UploadError.self) {
            try await Upload.processing(data, into: [UploadVariant("a", encodings: formats)], options: options)
        }
        #expect(error?.responseStatus == 422 && error?.code == "damaged")
        let still = UploadVariant("still", width: 20, encodings: [formats[1]])
        #expect(try await !Upload.processing(data, into: [still], options: options).files[0].image.isDamaged)
        options.allowsDamage = true
        let animation = UploadVariant("moving", width: 20, encodings: formats)
        let upload = try await Upload.processing(data, into: [animation], options: options)
        #expect(upload.files.map(\.image.isDamaged) == [true, false] && upload.files[0].image.frameCount > 1)
        #expect(upload.facts.isDamaged)
        // Of frames that are not processed, too; those before it are whole.
        var encoding = formats[0]
        #expect(try await EncodedImage.made(from: data, as: encoding).isDamaged)
        encoding.maxFrameCount = 2
        #expect(try await !EncodedImage.made(from: data, as: encoding).isDamaged)
    }

    @Test("A gain map beyond the upload's limits is left out", arguments: [3072, 3071])
    func gainMaps(maxPixelCount: Int) async throws {
        let file = try GainMapFixture(image: SampleImage.jpeg(16, 16), map: SampleImage.jpeg(64, 48)).file
        var (options, variant) = (options, UploadVariant("a"))
        options.limits.maxPixelCount = maxPixelCount
        variant.encodings[0].keptMetadata = .gainMap
        let upload = try await Upload.processing(file, into: [variant], options: options)
        let map = try ImageInfo(data: upload.files[0].image.data).gainMap
        #expect((map != nil) == (maxPixelCount == 3072))
    }

    @Test("A quality that is none names its variant, and a cancelled task ends")
    func variantErrors() async throws {
        let data = try SampleImage.png()
        let bad = UploadVariant("bad", width: 10, encodings: [ImageEncoding(.jpeg, quality: 80)])
        let error = await #expect(throws: UploadError.self) {
            try await Upload.processing(data, into: [bad], options: options)
        }
        #expect(error?.code == "variant_failed" && error?.responseStatus == 500)
        #expect(error?.description.contains("bad") == true)
        let limited = options
        let cancelled = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(UploadError) {
                _ = try await Upload.processing(data, into: [UploadVariant("a")], options: limited)
                return ""
            } catch {
                return error.code
            }
        }.value
        #expect(cancelled == "cancelled")
    }

    @Test("A file is read up to its limit, and one that is not there is the program's fault")
    func files() async throws {
        try await withTemporaryDirectory { directory in
            let place = directory.appending(path: "a.png")
            var options = options
            func status() async -> Int {
                do throws(UploadError) {
                    _ = try await Upload.processing(file: place, into: [], options: options)
                    return 200
                } catch {
                    return error.responseStatus
                }
            }
            #expect(await status() == 500)
            try SampleImage.png().write(to: place)
            #expect(await status() == 200)
            options.maxBytes = .max
            #expect(await status() == 200)
            options.maxBytes = 10
            #expect(await status() == 413)
            // A file without an end, of which no more is read than is needed to refuse it.
            let error = await #expect(throws: UploadError.self) {
                try await Upload.processing(file: URL(filePath: "/dev/zero"), into: [], options: options)
            }
            guard case .tooManyBytes(11, allowed: 10)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("Images that look alike have hashes that differ in few bits")
    func likeness() async throws {
        let bird = landscape(800, 600)
        let hash = try #require(bird.kf.perceptualHash)
        let small = bird.kf.thumbnail(size: CGSize(width: 200, height: 200))
        let bad = try #require(small.jpegData(compressionQuality: 0.2).flatMap { Image(data: $0) })
        #expect(try hash.distance(to: #require(bad.kf.perceptualHash)) <= 6)
        let other = try #require(bird.kf.flipped(horizontal: true, vertical: true).kf.perceptualHash)
        #expect(hash.distance(to: other) > 16)
        #expect(PerceptualHash(hash.description) == hash && PerceptualHash(bits: hash.bits) == hash)
        #expect(PerceptualHash("xyz") == nil && PerceptualHash("+000000000000001") == nil)
        #expect(PerceptualHash(bits: 0).distance(to: PerceptualHash(bits: .max)) == 64)
        #expect(Image().kf.perceptualHash == nil)
    }
}
