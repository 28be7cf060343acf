// Policies that leave animations or vector images alone, and what they do not change.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// An animation of two frames of one colour each.
private struct Blinking: ImageFrameSource {
    var data: Data? { nil }
    var frameCount: Int { 2 }
    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        Bitmap(width: 8, height: 8) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: index == 0 ? 0xFFFF_0000 : 0xFF00_00FF)
        }
    }
    func duration(at index: Int) -> TimeInterval { 0.1 }

    static func encoded() throws -> Data { try Codecs.encode(Blinking(), as: .webp, lossless: true) }
}

/// Halves images, and counts its runs.
private struct Halving: ImageProcessor {
    let identifier = "halving"
    let runs = Counter()
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        runs.add()
        let image = DefaultImageProcessor.default.process(item: item, options: options)
        return image?.kf.resize(to: CGSize(width: 4, height: 4))
    }
}

@Suite struct SkippedProcessingTests {
    private let processor = Halving()
    private let drawing = Data(
        "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8'/></svg>".utf8
    )

    private func process(_ item: ImageProcessItem, _ options: KingfisherOptionsInfo) async throws -> Image {
        try await processor.processed(item, KingfisherParsedOptionsInfo(options))
    }

    @Test("Animations are delivered whole and stills are processed, from data and from images") func animations()
        async throws
    {
        let moving = try Blinking.encoded(), skip = KingfisherOptionsInfoItem.animatedProcessing(.skip)
        let fromData = try await process(.data(moving), [skip])
        #expect(fromData.isAnimated && fromData.pixelWidth == 8 && fromData.kf.imageFrameCount == 2)
        let fromImage = try await process(.image(fromData), [skip])
        #expect(fromImage === fromData && processor.runs.value == 0)
        let preloaded = try await process(.data(moving), [skip, .preloadAllAnimationData])
        #expect(preloaded.images?.count == 2)
        #expect(try await process(.image(preloaded), [skip]).images?.count == 2 && processor.runs.value == 0)
        #expect(try await process(.data(try SampleImage.png(8, 8)), [skip]).pixelWidth == 4)
        #expect(try await process(.image(SampleImage.gradient(8, 8)), [skip]).pixelWidth == 4)
    }

    @Test("The first frame alone is a still, and is processed under the key that it has without the policy")
    func firstFrame() async throws {
        let still: KingfisherOptionsInfo = [.animatedProcessing(.skip), .onlyLoadFirstFrame]
        let image = try await process(.data(try Blinking.encoded()), still)
        #expect(!image.isAnimated && image.pixelWidth == 4)
        #expect(KingfisherParsedOptionsInfo(still).resolved(processor).identifier == "halving")
    }

    @Test("Each policy has a key of its own, and a processor that changes nothing keeps the plain one") func keys() {
        func key(_ options: KingfisherOptionsInfo) -> String {
            var parsed = KingfisherParsedOptionsInfo([.processor(processor)] + options)
            parsed.resolveProcessor()
            let resolved = parsed.processor.identifier
            parsed.resolveProcessor()
            #expect(parsed.processor.identifier == resolved)
            return resolved
        }
        let animated: [KingfisherOptionsInfo] = [
            [], [.animatedProcessing(.skip)], [.animatedProcessing(.transformFrames)],
        ]
        let all = animated.flatMap { [key($0), key($0 + [.vectorProcessing(.skip)])] }
        #expect(Set(all).count == 6)
        let options = KingfisherParsedOptionsInfo([.animatedProcessing(.skip), .vectorProcessing(.skip)])
        #expect(options.resolved(DefaultImageProcessor.default).identifier.isEmpty)
    }

    @Test("An animation is found in memory and on disk as it was, and frames are transformed only once")
    func caching() async throws {
        try await Rig.run { rig in
            let source = Source.provider(RawImageDataProvider(data: try Blinking.encoded(), cacheKey: "moving"))
            for policy in [AnimatedProcessingPolicy.skip, .transformFrames] {
                let options: KingfisherOptionsInfo = [
                    .processor(processor), .animatedProcessing(policy), .vectorProcessing(.skip), .waitForCache,
                ]
                let width = policy == .skip ? 8 : 4
                let made = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(made.cacheType == .none && made.image.pixelWidth == width && made.image.isAnimated)
                let kept = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(kept.cacheType == .memory && kept.image === made.image)
                let runs = processor.runs.value
                rig.cache.clearMemoryCache()
                let read = try await rig.manager.retrieveImage(
                    with: source,
                    options: options + [.preloadAllAnimationData]
                )
                #expect(read.cacheType == .disk && read.image.pixelWidth == width && read.image.images?.count == 2)
                let onDemand = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(onDemand.image.kf.frameSource?.frameCount == 2 && processor.runs.value == runs)
            }
        }
    }

    @Test("Vector images are left alone, known by the data's format or by the image's") func vectors() async throws {
        let skip = KingfisherOptionsInfoItem.vectorProcessing(.skip)
        let drawn = SampleImage.gradient(8, 8)
        drawn.updateMetadata { $0.contentType = .svg }
        #expect(try await process(.image(drawn), [skip]) === drawn)
        _ = try? await process(.data(drawing), [skip])
        #expect(processor.runs.value == 0)
        #expect(try await process(.image(drawn), []).pixelWidth == 4)
        #expect(try await process(.data(try SampleImage.png(8, 8)), [skip]).pixelWidth == 4)
        #expect(processor.runs.value == 2)
    }

    #if SVG
    @Test("A drawing is drawn at its own size") func drawnWhole() async throws {
        #expect(try await process(.data(drawing), [.vectorProcessing(.skip)]).pixelWidth == 8)
        #expect(try await process(.data(drawing), []).pixelWidth == 4)
    }
    #endif
}
