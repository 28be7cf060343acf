// Encoded results of bytes in hand, and limits of one load or one manager.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct EncodedBytesTests {
    private let box = ThumbnailImageProcessor(size: CGSize(width: 16, height: 16), mode: .fill)

    @Test("Bytes, and a file of them, become the same file as by a manager")
    func sameAsManager() async throws {
        try await Rig.run { rig in
            let (data, options) = (try SampleImage.jpeg(80, 60), [.processor(box)] as KingfisherOptionsInfo)
            let url = rig.server.route("/a.jpg", .data(data))
            for encoding in [ImageEncoding(.webp), ImageEncoding(), ImageEncoding(.jpeg, quality: 0.5)] {
                let loaded = try await rig.manager.retrieveEncoded(with: url, options: options, as: encoding)
                let made = try await EncodedImage.made(from: data, options: options, as: encoding)
                #expect(made.data == loaded.data && made.contentType == loaded.contentType && made.pixelWidth == 16)
                #expect(made.cacheType == .none && made.cacheMetadata == nil)
            }
            let file = rig.directory.appending(path: "photo.jpg")
            try data.write(to: file)
            let made = try await EncodedImage.made(fromFile: file, options: options, as: ImageEncoding(.webp))
            #expect(
                try await made.checksum
                    == EncodedImage.made(from: data, options: options, as: ImageEncoding(.webp)).checksum
            )
        }
    }

    @Test("What is no image, too large or not there is an error with its reason")
    func errors() async throws {
        let text = await failure { try await EncodedImage.made(from: Data("just some text".utf8)) }
        #expect(text?.imagingError == .unrecognizedFormat(resembling: "plain text"))
        let limits = ImageDecodingLimits(maxPixelCount: 100)
        let data = try SampleImage.png(20, 20) + Data(UUID().uuidString.utf8)
        let large = await failure { try await EncodedImage.made(from: data, options: [.decodingLimits(limits)]) }
        let reason = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 100, width: 20, height: 20)
        #expect(large?.imagingError == reason)
        let missing = await failure { try await EncodedImage.made(fromFile: URL(filePath: "/no/such/file.png")) }
        #expect(missing?.errorCode == 5003)
        let cancelled = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await EncodedImage.made(from: data) }
        }.value
        #expect(cancelled?.isCancelled == true)
    }

    @Test("Limits are those of one load, or of one manager; loads with others share the download alone")
    func limits() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png(20, 20) + Data(UUID().uuidString.utf8)))
            let limits = ImageDecodingLimits(maxPixelCount: 100)
            let processors: [any ImageProcessor] = [
                DefaultImageProcessor.default, box, DownsamplingImageProcessor(size: CGSize(width: 4, height: 4)),
            ]
            for processor in processors {
                let options: KingfisherOptionsInfo = [.processor(processor), .forceRefresh]
                async let refused = failure {
                    try await rig.manager.retrieveImage(with: url, options: options + [.decodingLimits(limits)])
                }
                async let loaded = rig.manager.retrieveImage(with: url, options: options)
                #expect(try await loaded.image.cgImage != nil)
                guard case .limitExceeded(_, 100, 20, 20)? = await refused?.imagingError else {
                    Issue.record("\(processor)")
                    continue
                }
            }
            rig.manager.defaultOptions += [.decodingLimits(limits)]
            let refused = await failure { try await rig.manager.retrieveImage(with: url, options: [.forceRefresh]) }
            #expect(refused?.errorCode == 4001)
            // On disk as well.
            rig.cache.clearMemoryCache()
            let stored = await failure { try await rig.manager.retrieveImage(with: url, options: [.onlyFromCache]) }
            #expect(stored != nil)
        }
    }

    @Test("A quality that is none is an error, not the nearest one", arguments: [80, -0.1, .nan])
    func quality(quality: Double) async throws {
        let image = SampleImage.gradient()
        let error = await #expect(throws: ImagingError.self) {
            try await image.kf.encoded(as: ImageEncoding(.jpeg, quality: quality))
        }
        guard case .encodingFailed(.jpeg, let detail)? = error, detail.contains("0…1") else {
            Issue.record("\(String(describing: error))")
            return
        }
        var other = ImageEncoding()
        other.formatQuality[.webp] = quality
        #expect(try await image.kf.encoded(as: other).contentType == .jpeg)
        other.format = .webp
        await #expect(throws: ImagingError.self) { try await image.kf.encoded(as: other) }
    }

    @Test(
        "A score that no image can have is an error, and the bounds are none",
        arguments: [-1e308, 0.99, 1, 100, 100.1, 1e308, .infinity, .nan]
    )
    func score(score: Double) async throws {
        var encoding = ImageEncoding(.jpeg)
        encoding.targetScore = score
        let file = try? await SampleImage.gradient().kf.encoded(as: encoding)
        #expect((file != nil) == (1...100).contains(score))
    }

    @Test("Pixels are changed by name, and an image stays turned as it is")
    func pixels() {
        let bitmap = Bitmap(width: 2, height: 1) { memory, _ in memory.copyBytes(from: [1, 2, 3, 255, 4, 5, 6, 255]) }
        let image = Image(cgImage: bitmap, scale: 2, orientation: .right)
        let negative = image.kf.mapPixels { $0.red = $0.alpha - $0.red }
        #expect(negative.scale == 2 && negative.imageOrientation == .right)
        #expect(negative.cgImage?[0, 0] == Bitmap.Pixel(red: 252, green: 2, blue: 1))
        #expect(Image().kf.mapPixels { $0.red = 0 }.cgImage == nil)
    }

    @Test("An image of one's own becomes a thumbnail of its scale")
    func thumbnail() {
        let image = SampleImage.gradient(40, 20).kf.scaled(to: 2)
        let small = image.kf.thumbnail(size: CGSize(width: 5, height: 5), mode: .fill)
        #expect(small.scale == 2 && small.cgImage?.width == 10 && small.cgImage?.height == 10)
        #expect(image.kf.thumbnail(size: CGSize(width: 1e9, height: 0), enlarges: true) === image)
    }
}
