// The processor and the serializer of each format, and the animations that serializers store.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// The processor and serializer of one format, and its type.
struct Pair: Sendable, CustomTestStringConvertible {
    let type: ImageContentType
    let name: String
    let processor: any ImageProcessor
    let serializer: any CacheSerializer
    var testDescription: String { name }

    static let all = [
        Pair(type: .webp, name: "WebP", processor: WebPProcessor.default, serializer: WebPCacheSerializer.default),
        Pair(type: .avif, name: "AVIF", processor: AVIFProcessor.default, serializer: AVIFCacheSerializer.default),
        Pair(type: .jpeg, name: "JPEG", processor: JPEGProcessor.default, serializer: JPEGCacheSerializer.default),
        Pair(type: .png, name: "PNG", processor: PNGProcessor.default, serializer: PNGCacheSerializer.default),
    ]
}

/// Frames of one colour each, as an animation without original data.
private func animation(_ side: Int = 16) throws -> Image {
    let images = (0..<3).map { SampleImage.gradient(side, side, alpha: true, tint: UInt8(80 * $0)) }
    return try #require(Image.animatedImage(with: images, duration: 0.75))
}

/// Whether two images are alike, by a signal-to-noise ratio in decibels.
private func alike(_ one: Image?, _ other: Image?, atLeast bound: Double) throws -> Bool {
    let (first, second) = (try #require(one?.cgImage), try #require(other?.cgImage))
    return ImageComparison.compare(first, second, atLeast: bound).isAlike
}

/// A GIF of one red pixel and one green one.
private let gif: Data = {
    var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 255, 0]
    for code: UInt8 in [0x44, 0x4C] {
        bytes += [0x21, 0xF9, 4, 0, 20, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, code, 1, 0]
    }
    return Data(bytes + [0x3B])
}()

/// Unwraps data from an envelope, and counts its runs.
private struct UnwrappingProcessor: ImageProcessor {
    static let seal = Data("sealed: ".utf8)
    let identifier = "unwrapping"
    let runs = Counter()

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): return image
        case .data(let data):
            runs.add()
            return data.starts(with: Self.seal) ? Image(data: data.dropFirst(Self.seal.count)) : nil
        }
    }
}

@Suite struct FormatPairTests {
    private let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
    private let picture = SampleImage.gradient()

    @Test("The processor reads what the serializer stores", arguments: Pair.all)
    func roundTrip(pair: Pair) throws {
        // In two steps: the compiler of Swift 6.2 ends at one.
        let written = pair.serializer.data(with: picture, original: Data("ignored".utf8))
        let data = try #require(written)
        #expect(ImageContentType(sniffing: data) == pair.type)
        #expect(!pair.serializer.originalDataUsed)
        let stored = try #require(pair.serializer.image(with: data, options: options))
        #expect(stored.scale == 2)
        #expect(try alike(stored, picture, atLeast: 30))
        let processed = try #require(pair.processor.process(item: .data(data), options: options))
        #expect(processed.scale == 2)
        #expect(try alike(processed, stored, atLeast: 90))
    }

    @Test("Other formats are refused", arguments: Pair.all)
    func otherFormats(pair: Pair) throws {
        let other = try #require(pair.type == .png ? picture.jpegData(compressionQuality: 1) : picture.pngData())
        #expect(pair.processor.process(item: .data(other), options: options) == nil)
        #expect(pair.serializer.image(with: other, options: options) == nil)
        #expect(pair.serializer.image(with: Data("hello, world".utf8), options: options) == nil)
    }

    @Test("Images pass unchanged", arguments: Pair.all)
    func unchangedImages(pair: Pair) {
        #expect(pair.processor.process(item: .image(picture), options: options) === picture)
        #expect(pair.processor.identifier == pair.name + "Processor")
    }

    @Test("A fallback processor takes other formats") func fallback() throws {
        let png = try #require(picture.pngData())
        let processor = WebPProcessor(fallback: DownsamplingImageProcessor(size: CGSize(width: 8, height: 8)))
        let name = "com.onevcat.Kingfisher.DownsamplingImageProcessor((8.0, 8.0))"
        #expect(processor.identifier == "WebPProcessor(\(name))")
        #expect(processor.process(item: .data(png), options: options)?.pixelWidth == 16)
        let webp = try #require(picture.webPData)
        #expect(processor.process(item: .data(webp), options: options)?.pixelWidth == 64)
        #expect(WebPProcessor(fallback: DefaultImageProcessor.default).identifier == "WebPProcessor()")
    }

    @Test("Original bytes are stored on request if the image is unchanged") func preferredOriginals() throws {
        let webp = try #require(picture.kf.webPRepresentation(lossless: true))
        let decoded = try #require(WebPProcessor.default.process(item: .data(webp), options: options))
        let preferring = WebPCacheSerializer(quality: 0.1)
        #expect(preferring.data(with: decoded, original: webp) == webp)
        #expect(WebPCacheSerializer.default.data(with: decoded, original: webp) != webp)
        #expect(WebPCacheSerializer(quality: 0.1, preferOriginal: false).data(with: decoded, original: webp) != webp)
        // The original bytes are not those of an image that a processor has changed.
        let changed = decoded.kf.resize(to: CGSize(width: 10, height: 10))
        let stored = try #require(preferring.data(with: changed, original: webp))
        #expect(Image(data: stored)?.pixelWidth == 20)
    }

    @Test("Serializers of pairs are equal when format, quality and preference are equal")
    func equality() {
        #expect(WebPCacheSerializer.default == WebPCacheSerializer(preferOriginal: false))
        let all = [
            WebPCacheSerializer.default, WebPCacheSerializer(), WebPCacheSerializer(quality: 0.1),
            WebPCacheSerializer(lossless: true),
        ]
        #expect(Set(all).count == all.count)
        #expect(AnyHashable(WebPCacheSerializer()) == AnyHashable(WebPCacheSerializer()))
        #expect(AnyHashable(WebPCacheSerializer()) != AnyHashable(AVIFCacheSerializer()))
    }

    @Test("Bytes from which the image was not decoded are not stored") func unrelatedOriginals() throws {
        let png = try #require(picture.pngData())
        let webp = try #require(picture.webPData)
        let other = try #require(SampleImage.gradient(10, 10).webPData)
        let envelope = Data("sealed: ".utf8) + png
        for bytes in [png, webp, gif] {
            let image = try #require(DefaultImageProcessor.default.process(item: .data(bytes), options: options))
            #expect(DefaultCacheSerializer.default.data(with: image, original: bytes) == bytes)
            for original in [envelope, other] {
                let stored = try #require(DefaultCacheSerializer.default.data(with: image, original: original))
                #expect(stored != original)
                let restored = try #require(Image.decoded(from: stored, options: ImageCreatingOptions()))
                #expect(restored.pixelWidth == image.pixelWidth && restored.frameCount == image.frameCount)
            }
        }
        // A file of the right format may still hold another image.
        let image = try #require(Image(data: webp))
        #expect(WebPCacheSerializer(lossless: true).data(with: image, original: other) != other)
        #expect(WebPCacheSerializer(lossless: true).data(with: image, original: webp) == webp)
    }

    @Test("A processor that unwraps its data runs once") func unwrappingProcessor() async throws {
        let unwrapping = UnwrappingProcessor()
        try await withCache { cache in
            let manager = KingfisherManager(downloader: ImageDownloader(name: "envelopes"), cache: cache)
            let envelope = UnwrappingProcessor.seal + (try #require(picture.pngData()))
            let source = Source.provider(RawImageDataProvider(data: envelope, cacheKey: "envelope"))
            let options: KingfisherOptionsInfo = [.processor(unwrapping), .waitForCache, .callbackQueue(.untouch)]
            _ = try await manager.retrieveImage(with: source, options: options)
            cache.clearMemoryCache()
            let again = try await manager.retrieveImage(with: source, options: options)
            #expect(again.cacheType == .disk && again.image.pixelWidth == 64 && unwrapping.runs.value == 1)
        }
    }

    @Test("An image survives encoding as WebP and decoding") func webPRoundTrip() throws {
        #expect(Image(webPData: try #require(picture.pngData())) == nil)
        let webP = try #require(picture.webPData)
        let image = Image(webPData: webP)
        #expect(try alike(image, picture, atLeast: 30))
        let exact = try #require(picture.kf.webPRepresentation(lossless: true))
        #expect(try alike(Image(webPData: exact), picture, atLeast: .infinity))
        #expect(
            Image().webPData == nil && Image().kf.webPRepresentation() == nil && Image().kf.avifRepresentation() == nil
        )
        let (small, large) = (picture.kf.webPRepresentation(quality: 0), picture.kf.webPRepresentation(quality: 1))
        #expect(small?.count ?? .max < large?.count ?? 0)
        #expect(ImageContentType(sniffing: try #require(picture.kf.avifRepresentation())) == .avif)
    }

    @Test("GIF bytes are stored unchanged") func gifBytes() throws {
        let image = try #require(GIFProcessor.default.process(item: .data(gif), options: options))
        #expect(image.kf.imageFrameCount == 2)
        #expect(GIFCacheSerializer.default.data(with: image, original: nil) == gif)
        #expect(FormatIndicatedCacheSerializer.gif.data(with: image, original: nil) == gif)
        #expect(GIFCacheSerializer.default.data(with: picture, original: picture.pngData()) == nil)
        #expect(GIFCacheSerializer.default.image(with: gif, options: options)?.kf.frameSource?.frameCount == 2)
    }

    @Test("The serializer stores the indicated format") func indicatedFormats() throws {
        let webP = try #require(FormatIndicatedCacheSerializer.webP.data(with: picture, original: nil))
        #expect(ImageContentType(sniffing: webP) == .webp)
        #expect(try alike(Image(data: webP), picture, atLeast: .infinity))
        let avif = try #require(FormatIndicatedCacheSerializer.avif.data(with: picture, original: nil))
        #expect(ImageContentType(sniffing: avif) == .avif)
        #expect(try alike(Image(data: avif), picture, atLeast: .infinity))
        let kinds: [(CGFloat) -> FormatIndicatedCacheSerializer] = [
            FormatIndicatedCacheSerializer.webP(compressionQuality:),
            FormatIndicatedCacheSerializer.avif(compressionQuality:),
        ]
        for lossy in kinds {
            let sizes = try [0.1, 1].map { try #require(lossy($0).data(with: picture, original: nil)).count }
            #expect(sizes[0] < sizes[1])
        }
    }
}

@Suite struct StoredAnimationTests {
    private let options = KingfisherParsedOptionsInfo()

    @Test("Unprocessed animations are stored as animated WebP with their original bytes") func animatedWebP() throws {
        let data = try #require(animation().kf.webPRepresentation(lossless: true))
        let image = try #require(WebPProcessor.default.process(item: .data(data), options: options))
        #expect(image.kf.imageFrameCount == 3 && image.kf.frameSource?.duration(at: 1) == 0.25)
        // Frames decoded on demand are unchanged: the original bytes are stored, whatever the quality.
        #expect(image.kf.webPRepresentation(quality: 0.1) == data)
        #expect(WebPCacheSerializer.default.data(with: image, original: nil) == data)
        #expect(image.kf.gifRepresentation() == nil)
    }

    @Test("Animated WebP is read with the preloading, frames and scale of the options")
    func animatedWebPOptions() throws {
        let data = try #require(animation().kf.webPRepresentation(lossless: true))
        let serializer = WebPCacheSerializer.default
        let all = try #require(serializer.image(with: data, options: .init([.preloadAllAnimationData])))
        #expect(all.kf.images?.count == 3 && abs(all.kf.duration - 0.75) < 1e-9 && all.kf.frameSource == nil)
        let first = try #require(serializer.image(with: data, options: .init([.onlyLoadFirstFrame])))
        #expect(first.kf.images == nil && first.kf.frameSource == nil && first.kf.imageFrameCount == 3)
        let lazy = try #require(serializer.image(with: data, options: .init([.scaleFactor(2)])))
        #expect(lazy.kf.images == nil && lazy.kf.frameSource?.frameCount == 3 && lazy.scale == 2)
        #expect(lazy.kf.frameSource?.loopCount == 0)
    }

    @Test("Originals of newer formats are stored unchanged")
    func newerFormats() throws {
        var small = DefaultCacheSerializer.default
        small.compressionQuality = 0.5
        let picture = SampleImage.gradient(alpha: true)
        let originals = [picture.webPData, picture.kf.avifRepresentation(), try animation().webPData].compactMap(\.self)
        #expect(originals.count == 3)
        for original in originals {
            let image = try #require(DefaultImageProcessor.default.process(item: .data(original), options: options))
            for serializer in [DefaultCacheSerializer.default, small] {
                #expect(serializer.data(with: image, original: original) == original)
            }
            let changed = image.kf.resize(to: CGSize(width: 5, height: 5))
            let stored = try #require(small.data(with: changed, original: original))
            #expect(Image(data: stored)?.pixelWidth == 5)
        }
        let jpeg = try #require(picture.jpegData(compressionQuality: 1))
        let image = try #require(DefaultImageProcessor.default.process(item: .data(jpeg), options: options))
        #expect(small.data(with: image, original: jpeg) != jpeg)
    }

    @Test("Processed frames are stored as an animation")
    func processedAnimations() throws {
        var settings = KingfisherParsedOptionsInfo([.animatedProcessing(.transformFrames)])
        settings.processor = ResizingImageProcessor(referenceSize: CGSize(width: 8, height: 8))
        settings.resolveProcessor()
        let original = try #require(animation().webPData)
        let processed = try #require(settings.processor.process(item: .data(original), options: settings))
        #expect(processed.kf.frameSource?.frameCount == 3)
        let stored = try #require(DefaultCacheSerializer.default.data(with: processed, original: original))
        let restored = try #require(DefaultCacheSerializer.default.image(with: stored, options: settings))
        #expect(ImageContentType(sniffing: stored) == .webp && restored.pixelWidth == 8)
        let (before, after) = (try #require(processed.kf.frameSource), try #require(restored.kf.frameSource))
        #expect(after.frameCount == 3)
        for index in 0..<3 {
            #expect(after.duration(at: index) == before.duration(at: index))
            let one = Image(cgImage: try #require(before.frame(at: index)))
            let other = Image(cgImage: try #require(after.frame(at: index)))
            #expect(try alike(one, other, atLeast: 48))
        }
        // A lower quality makes smaller files that are still animated.
        var small = DefaultCacheSerializer.default
        small.compressionQuality = 0.3
        let lossy = try #require(small.data(with: processed, original: nil))
        #expect(try ImageInfo(data: lossy).frameCount == 3)
    }

    @Test("An animation survives the disk cache") func animationInDiskCache() async throws {
        let original = gif
        let image = try #require(DefaultImageProcessor.default.process(item: .data(original), options: options))
        try await withCache { cache in
            try await cache.store(
                image,
                original: original,
                forKey: "a",
                processorIdentifier: WebPProcessor.default.identifier,
                cacheSerializer: WebPCacheSerializer(lossless: true)
            )
            cache.clearMemoryCache()
            let options: KingfisherOptionsInfo = [
                .processor(WebPProcessor.default), .cacheSerializer(WebPCacheSerializer.default),
            ]
            let found = try await cache.retrieveImage(forKey: "a", options: options)
            let restored = try #require(found.image)
            #expect(found.cacheType == .disk && restored.kf.imageFrameCount == 2)
            #expect(restored.kf.frameSource?.duration(at: 1) == 0.2 && restored.kf.frameSource?.loopCount == 1)
        }
    }
}
