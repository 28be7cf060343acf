// Options and processors that apply to animations, and caches that keep their results apart.

import Foundation
import KFImaging
import KFSupport
import Testing

@testable import Kingfisher

/// An animation of three frames of one colour each.
private struct Slides: ImageFrameSource {
    static let colors: [UInt32] = [0xFFFF_0000, 0xFF00_FF00, 0xFF00_00FF]
    var data: Data? { nil }
    var frameCount: Int { 3 }
    var loopCount: UInt { 4 }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard Self.colors.indices.contains(index) else { return nil }
        return Bitmap(width: 8, height: 6) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: Self.colors[index])
        }
    }

    func duration(at index: Int) -> TimeInterval { 0.1 * TimeInterval(index + 1) }

    static func encoded() throws -> Data { try Codecs.encode(Slides(), as: .webp, lossless: true) }
}

/// A red square that grows and shrinks in an empty field.
private struct GrowingSquare: ImageFrameSource {
    static let sides = [6, 8, 4]
    var data: Data? { nil }
    var frameCount: Int { 3 }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard Self.sides.indices.contains(index) else { return nil }
        return Bitmap(width: 16, height: 16) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            for y in 3..<3 + Self.sides[index] {
                for x in 3..<3 + Self.sides[index] {
                    memory.storeBytes(of: 0xFFFF_0000, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
    }

    func duration(at index: Int) -> TimeInterval { 0.1 }
}

/// Swaps red and blue, and counts its runs.
private struct RedBlueSwap: ImageProcessor {
    let identifier = "exchange"
    let runs = Counter()

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard let image = DefaultImageProcessor.default.process(item: item, options: options) else { return nil }
        guard let bitmap = image.cgImage else { return image }
        runs.add()
        let swapped = Bitmap(width: bitmap.width, height: bitmap.height) { memory, bytesPerRow in
            bitmap.withUnsafeBytes { memory.copyMemory(from: $0) }
            for offset in stride(from: 0, to: bytesPerRow * bitmap.height, by: 4) { memory.swapAt(offset, offset + 2) }
        }
        return Image(cgImage: swapped, scale: image.scale)
    }
}

/// Decodes data after skipping a number of bytes.
private struct OffsetDecoder: ImageProcessor {
    let identifier = "behind"
    let count: Int

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): image
        case .data(let data):
            DefaultImageProcessor.default.process(item: .data(data.dropFirst(count)), options: options)
        }
    }
}

/// Decodes data by itself, and counts its runs.
private struct StillDecoder: ImageProcessor {
    let identifier = "still"
    let runs = Counter()

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        runs.add()
        switch item {
        case .image(let image): return image
        case .data(let data): return Image(data: data)
        }
    }
}

extension Bitmap {
    fileprivate var firstPixel: UInt32 { withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } }
}

extension Image {
    fileprivate var firstPixel: UInt32? { cgImage?.firstPixel }
    fileprivate var framePixels: [UInt32?] {
        guard let frames else { return [] }
        return (0..<frames.frameCount).map { frames.frame(at: $0)?.firstPixel }
    }
}

private let swapped: [UInt32] = [0xFF00_00FF, 0xFF00_FF00, 0xFFFF_0000]

/// Runs `body` with a manager of its own and a source of an animation.
private func withManager(_ body: (KingfisherManager, Source) async throws -> Void) async throws {
    try await withCache { cache in
        let manager = KingfisherManager(downloader: ImageDownloader(name: "animations"), cache: cache)
        manager.defaultOptions = [.callbackQueue(.untouch), .waitForCache]
        let provider = RawImageDataProvider(data: try Slides.encoded(), cacheKey: "slides")
        try await body(manager, .provider(provider))
    }
}

@Suite struct AnimatedProcessingTests {
    private func process(
        _ processor: any ImageProcessor,
        _ item: ImageProcessItem,
        _ options: KingfisherOptionsInfo = []
    ) async throws -> Image {
        try await processor.processed(item, KingfisherParsedOptionsInfo(options))
    }

    @Test("Data becomes a still or an animation, as the options say") func optionsDecide() async throws {
        let data = try Slides.encoded()
        let processor = DefaultImageProcessor.default
        let lazy = try await process(processor, .data(data), [.scaleFactor(2)])
        #expect(lazy.kf.frameSource?.frameCount == 3 && lazy.scale == 2 && lazy.kf.imageFrameCount == 3)
        let whole = try await process(processor, .data(data), [.preloadAllAnimationData])
        #expect(whole.images?.count == 3 && whole.kf.frameSource == nil)
        let first = try await process(processor, .data(data), [.preloadAllAnimationData, .onlyLoadFirstFrame])
        #expect(first.images == nil && first.kf.frameSource == nil && first.kf.imageFrameCount == 3)
        let options = KingfisherParsedOptionsInfo([.preloadAllAnimationData])
        let read = [
            DefaultCacheSerializer.default.image(with: data, options: options),
            FormatIndicatedCacheSerializer.png.image(with: data, options: options),
        ]
        #expect(read.allSatisfy { $0?.images?.count == 3 })
    }

    @Test("Changing the scale keeps the animation") func changedScale() async throws {
        let lazy = try #require(
            KingfisherWrapper<Image>.image(data: Slides.encoded(), options: ImageCreatingOptions())
        )
        let image = try await process(DefaultImageProcessor.default, .image(lazy), [.scaleFactor(2)])
        #expect(image.scale == 2 && image.framePixels == Slides.colors && image.kf.imageCreatingOptions?.scale == 2)
        #expect(try await process(DefaultImageProcessor.default, .image(lazy)) === lazy)
    }

    @Test("Processors give the first frame by default") func firstFrameByDefault() async throws {
        for preload in [[], [.preloadAllAnimationData]] as [KingfisherOptionsInfo] {
            let image = try await process(RedBlueSwap(), .data(Slides.encoded()), preload)
            #expect(image.firstPixel == swapped[0] && !image.isAnimated && image.kf.imageFrameCount == nil)
            #expect(image.kf.animatedImageData == nil)
        }
    }

    @Test("Each frame is processed only when it is shown") func lazyProcessing() async throws {
        let processor = RedBlueSwap()
        let options: KingfisherOptionsInfo = [.animatedProcessing(.transformFrames), .scaleFactor(2)]
        let image = try await process(processor, .data(Slides.encoded()), options)
        #expect(image.firstPixel == swapped[0] && image.scale == 2 && image.kf.imageFrameCount == 3)
        #expect(processor.runs.value == 1)
        let source = try #require(image.kf.frameSource)
        // The size of all frames is that of the first one, which is processed for it once.
        #expect(source.frame(at: 2)?.firstPixel == swapped[2] && processor.runs.value == 3)
        #expect(source.frame(at: 1)?.firstPixel == swapped[1] && processor.runs.value == 4)
        #expect(source.loopCount == 4 && source.data == nil && source.frame(at: 3) == nil)
        #expect((0..<3).allSatisfy { abs(source.duration(at: $0) - 0.1 * Double($0 + 1)) < 1e-9 })
        #expect(source.copy().frame(at: 1, maxSize: CGSize(width: 4, height: 4))?.width == 4)
        #expect(image.framePixels == swapped)
    }

    @Test("Animations from data, decoded on demand or preloaded, are processed alike")
    func allAnimationFormats() async throws {
        let data = try Slides.encoded()
        let options: KingfisherOptionsInfo = [.animatedProcessing(.transformFrames)]
        let preload = ImageCreatingOptions(preloadAll: true)
        let lazy = try #require(KingfisherWrapper<Image>.image(data: data, options: ImageCreatingOptions()))
        let whole = try #require(KingfisherWrapper<Image>.image(data: data, options: preload))
        for item in [ImageProcessItem.data(data), .image(lazy), .image(whole)] {
            let image = try await process(RedBlueSwap(), item, options)
            #expect(image.framePixels == swapped && image.frames?.loopCount == 4)
        }
        let all = try await process(RedBlueSwap(), .data(data), options + [.preloadAllAnimationData])
        #expect(all.images?.map { $0.firstPixel } == swapped && abs(all.duration - 0.6) < 1e-9)
        let first = try await process(RedBlueSwap(), .data(data), options + [.onlyLoadFirstFrame])
        #expect(first.firstPixel == swapped[0] && !first.isAnimated)
    }

    @Test("Two frames are an animation and one is not", arguments: [1, 2])
    func twoFrames(count: Int) async throws {
        let frames = (0..<count).compactMap { Slides().frame(at: $0) }.map { Image(cgImage: $0) }
        let whole = try #require(Image.animatedImage(with: frames, duration: 1))
        let image = try await process(RedBlueSwap(), .image(whole), [.animatedProcessing(.transformFrames)])
        #expect(image.firstPixel == swapped[0] && image.isAnimated == (count == 2))
        if count == 2 { #expect(image.framePixels == Array(swapped.prefix(2))) }
    }

    @Test("An image that a processor refuses is an error") func refusedImage() async throws {
        let data = try Slides.encoded()
        let options: KingfisherOptionsInfo = [.animatedProcessing(.transformFrames)]
        for processor in [GIFProcessor.default, GIFProcessor.default |> RedBlueSwap()] as [any ImageProcessor] {
            await #expect(throws: KingfisherError.self) { try await process(processor, .data(data), options) }
        }
        let image = try await process(WebPProcessor.default |> RedBlueSwap(), .data(data), options)
        #expect(image.framePixels == swapped)
    }

    @Test("A processor that decodes data by itself gets the data, and its animation is kept") func processorData()
        async throws
    {
        // The data begins with an animation; the one that the processor decodes follows it.
        let inner = try Codecs.encode(GrowingSquare(), as: .webp, lossless: true)
        let outer = try Slides.encoded()
        let processor = OffsetDecoder(count: outer.count)
        for preload in [[], [.preloadAllAnimationData]] as [KingfisherOptionsInfo] {
            let image = try await process(
                processor,
                .data(outer + inner),
                [.animatedProcessing(.transformFrames)] + preload
            )
            #expect(image.pixelWidth == 16 && image.frames?.frameCount == 3)
            #expect((image.images != nil) == !preload.isEmpty)
        }
        let image = try await process(WebPProcessor.default, .data(outer), [.animatedProcessing(.transformFrames)])
        #expect(image.framePixels == Slides.colors && image.kf.animatedImageData == outer)
    }

    @Test("Chained processors all run on every frame") func chainedProcessors() async throws {
        let resizing = ResizingImageProcessor(referenceSize: CGSize(width: 4, height: 3))
        let image = try await process(
            RedBlueSwap() |> resizing |> RedBlueSwap(),
            .data(Slides.encoded()),
            [.animatedProcessing(.transformFrames)]
        )
        #expect(image.framePixels == Slides.colors && image.pixelWidth == 4)
        #expect(image.kf.frameSource?.frame(at: 2)?.height == 3)
    }

    @Test("Frames of different sizes are placed on one canvas") func framesOfDifferentSizes() async throws {
        let data = try Codecs.encode(GrowingSquare(), as: .webp, lossless: true)
        let options: KingfisherOptionsInfo = [.animatedProcessing(.transformFrames)]
        // A closure trims each frame alone, while the library's own trimming crops all frames alike.
        let trimming = AnyImageProcessor(id: "trimming") { $0.kf.trimmed() }
        let image = try await process(trimming, .data(data), options)
        let frames = try #require(image.kf.frameSource)
        // Read out of order, by a copy that has decoded no other frame.
        #expect(frames.copy().frame(at: 2)?.width == 6)
        for index in 0..<3 {
            let frame = try #require(frames.frame(at: index))
            #expect(frame.width == 6 && frame.height == 6)
            // The coloured squares have sides of 6, 8 and 4 pixels.
            let isCovered = index < 2
            #expect(frame.firstPixel == (isCovered ? 0xFFFF_0000 : 0))
        }
        let stored = try #require(DefaultCacheSerializer.default.data(with: image, original: data))
        // The first two frames look the same on the canvas and may be written as one.
        let restored = try #require(Image.decoded(from: stored, options: ImageCreatingOptions())?.frames)
        let time = (0..<restored.frameCount).reduce(0) { $0 + restored.duration(at: $1) }
        #expect(abs(time - 0.3) < 1e-9 && restored.frame(at: restored.frameCount - 1)?.firstPixel == 0)
        let small = try #require(frames.frame(at: 1, maxSize: CGSize(width: 3, height: 3)))
        #expect(small.width == 3 && small.height == 3)
    }

    @Test("Stills are processed in the same way with `animatedProcessing`") func stills() async throws {
        let png = try SampleImage.png(10, 10)
        let image = try await process(RedBlueSwap(), .data(png), [.animatedProcessing(.transformFrames)])
        #expect(image.pixelWidth == 10 && !image.isAnimated)
        let bad = KingfisherParsedOptionsInfo([.animatedProcessing(.transformFrames)])
        await #expect(throws: KingfisherError.self) { try await RedBlueSwap().processed(.data(Data("x".utf8)), bad) }
    }

    @Test("A cached image made with other options is made again") func changedOptions() async throws {
        try await withManager { manager, source in
            func load(_ options: KingfisherOptionsInfo) async throws -> RetrieveImageResult {
                try await manager.retrieveImage(with: source, options: options)
            }
            let lazy = try await load([])
            #expect(lazy.cacheType == .none && lazy.image.kf.frameSource != nil)
            #expect(try await load([]).image === lazy.image)
            let first = try await load([.onlyLoadFirstFrame])
            #expect(first.cacheType == .memory && !first.image.isAnimated && first.image.kf.imageFrameCount == 3)
            #expect(try await load([.onlyLoadFirstFrame]).image === first.image)
            let whole = try await load([.preloadAllAnimationData, .loadDiskFileSynchronously])
            #expect(whole.cacheType == .memory && whole.image.images?.count == 3)
            #expect(try await load([.scaleFactor(2)]).image.scale == 2)
        }
    }

    @Test("A cached still that does not record its creating options is not made again") func keptStill() async throws {
        try await withManager { manager, source in
            let still = try #require(Image(data: Slides.encoded()))
            #expect(still.kf.imageFrameCount == 3 && still.kf.animatedImageData != nil)
            manager.cache.memoryStorage.store(value: still, forKey: source.cacheKey)
            let found = try await manager.retrieveImage(with: source)
            #expect(found.cacheType == .memory && found.image === still)

            let decoder = StillDecoder()
            for expected in [CacheType.none, .memory, .memory] {
                let result = try await manager.retrieveImage(with: source, options: [.processor(decoder)])
                #expect(result.cacheType == expected && decoder.runs.value == 1)
            }
        }
    }

    @Test(
        "An invalid scale is replaced by 1, and the image is not made again",
        arguments: [CGFloat.nan, 0, -2, .infinity]
    )
    func invalidScale(scale: CGFloat) async throws {
        try await withManager { manager, source in
            let first = try await manager.retrieveImage(with: source, options: [.scaleFactor(scale)])
            #expect(first.image.scale == 1 && first.image.isAnimated)
            for options in [[], [.scaleFactor(scale)]] as [KingfisherOptionsInfo] {
                #expect(try await manager.retrieveImage(with: source, options: options).image === first.image)
            }
        }
    }

    @Test("Loads end even if numbers in their options are not valid", .timeLimit(.minutes(5)))
    func invalidNumbers() async throws {
        try await withManager { manager, source in
            let options: KingfisherOptionsInfo = [
                .scaleFactor(.nan), .downloadPriority(.nan), .memoryCacheExpiration(.seconds(.nan)),
            ]
            let result = try await manager.retrieveImage(with: source, options: options)
            #expect(result.image.isAnimated)
        }
    }

    @Test("A cached image that cannot be made again with other options is an error")
    func failedRecreation() async throws {
        try await withManager { manager, source in
            let image = SampleImage.gradient(4, 4)
            image.updateMetadata {
                ($0.animatedData, $0.frameCount) = (Data("broken".utf8), 3)
                $0.creatingOptions = ImageCreatingOptions(onlyFirstFrame: true)
            }
            manager.cache.memoryStorage.store(value: image, forKey: source.cacheKey)
            let error = await failure { try await manager.retrieveImage(with: source) }
            #expect(error?.errorCode == 4001)
        }
    }

    @Test("Stills and animations of one processor are cached separately") func separateCaching() async throws {
        try await withManager { manager, source in
            func load(_ options: KingfisherOptionsInfo) async throws -> RetrieveImageResult {
                try await manager.retrieveImage(with: source, options: [.processor(RedBlueSwap())] + options)
            }
            #expect(try await load([]).image.isAnimated == false)
            let moving = try await load([.animatedProcessing(.transformFrames)])
            #expect(moving.cacheType == .none && moving.image.framePixels == swapped)
            #expect(try await load([.animatedProcessing(.transformFrames)]).image === moving.image)
            let still = try await load([])
            #expect(still.cacheType == .memory && !still.image.isAnimated)
        }
    }

    @Test("Processed animations survive on disk") func processedAnimationOnDisk() async throws {
        try await withManager { manager, source in
            let processor = RedBlueSwap()
            let options: KingfisherOptionsInfo = [.processor(processor), .animatedProcessing(.transformFrames)]
            _ = try await manager.retrieveImage(with: source, options: options)
            manager.cache.clearMemoryCache()
            let runs = processor.runs.value
            let again = try await manager.retrieveImage(with: source, options: options)
            #expect(again.cacheType == .disk && again.image.framePixels == swapped)
            #expect(again.image.frames?.loopCount == 4 && again.image.kf.frameSource?.duration(at: 2) == 0.3)
            // Frames that were processed before they were stored are not processed again, even with other options.
            let whole = try await manager.retrieveImage(with: source, options: options + [.preloadAllAnimationData])
            #expect(whole.image.images?.map { $0.firstPixel } == swapped && processor.runs.value == runs)
        }
    }

    @Test("Data representations of animations are their bytes") func dataRepresentations() throws {
        let data = try Slides.encoded()
        let image = try #require(KingfisherWrapper<Image>.image(data: data, options: ImageCreatingOptions()))
        #expect(image.kf.animatedImageData == data && image.kf.gifRepresentation() == nil)
        #expect(image.kf.data(format: .PNG)?.kf.imageFormat == .PNG)
        #expect(image.kf.data(format: .unknown)?.kf.imageFormat == .PNG)
        #expect(image.kf.data(format: .JPEG, compressionQuality: 0.5)?.kf.imageFormat == .JPEG)
        #expect(image.kf.data(format: .GIF) == nil)
        let gif = SampleImage.gradient(4, 4)
        let bytes = Data("GIF89a and more".utf8)
        gif.updateMetadata { $0.animatedData = bytes }
        #expect(gif.kf.data(format: .GIF) == bytes && gif.kf.gifRepresentation() == bytes)
        #expect(Image().kf.data(format: .PNG) == nil)
        gif.kf.imageFrameCount = 12
        #expect(gif.kf.imageFrameCount == 12 && gif.kf.cost == gif.cacheCost && gif.kf.imageSource == nil)
    }

    @Test("Delays are read as in Kingfisher") func frameDelays() throws {
        let cases: [([String: Any]?, TimeInterval)] = [
            (nil, 0.1), ([:], 0.1), (["UnclampedDelayTime": 0.05, "DelayTime": 0.2], 0.05), (["DelayTime": 0.2], 0.2),
            (["DelayTime": 1], 1), (["UnclampedDelayTime": 0.011], 0.1), (["UnclampedDelayTime": 0.0111], 0.0111),
            (["UnclampedDelayTime": "1", "DelayTime": NSNumber(value: 0.25)], 0.25), (["DelayTime": -1], 0.1),
        ]
        for (info, delay) in cases { #expect(GIFAnimatedImage.getFrameDuration(from: info) == delay) }
        let numbers: [Any] = [2.0, Float(2), CGFloat(2), 2, Int8(2), UInt64(2), NSNumber(value: 2), Decimal(2)]
        for number in numbers { #expect(GIFAnimatedImage.getFrameDuration(from: ["DelayTime": number]) == 2) }
        for nonsense in [Double.nan, .infinity, -.infinity] {
            for value: Any in [nonsense, CGFloat(nonsense), Float(nonsense), NSNumber(value: nonsense)] {
                #expect(GIFAnimatedImage.getFrameDuration(from: ["UnclampedDelayTime": value]) == 0.1)
            }
        }
        #expect(GIFAnimatedImage.getFrameDuration(from: Slides(), at: 1) == 0.2)
        for index in [-1, 3] { #expect(GIFAnimatedImage.getFrameDuration(from: Slides(), at: index) == 0) }
        let all = try #require(GIFAnimatedImage(from: Slides(), options: ImageCreatingOptions(scale: 2)))
        #expect(all.images.map(\.firstPixel) == Slides.colors && abs(all.duration - 0.6) < 1e-9)
    }
}
