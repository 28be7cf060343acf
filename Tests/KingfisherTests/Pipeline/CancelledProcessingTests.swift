// Cancelled loads stop processing between frames, and between decoding and encoding.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@_spi(Server) @testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct CancelledProcessingTests {
    /// Counts the frames that it is given, and waits in the first one of its run until it may go on.
    private final class SlowProcessor: ImageProcessor {
        let identifier = "slow"
        let runs = Counter()
        let hasBegun = Promise<Void>()
        private let mayGoOn = DispatchSemaphore(value: 0)

        func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            runs.add()
            if runs.value == 2 {
                hasBegun.fulfil(())
                mayGoOn.wait()
            }
            // A still: what is done to each frame is up to the load.
            let image = DefaultImageProcessor.default.process(item: item, options: options)
            return image?.cgImage.map { Image(cgImage: $0) }
        }

        func goOn() { mayGoOn.signal() }
    }

    private func animation(frames count: Int) async throws -> Data {
        let frames = (0..<count).map { SampleImage.gradient(32, 32, tint: UInt8($0 * 8)) }
        let image = try #require(Image.animatedImage(with: frames, duration: 3))
        return try await image.kf.encoded(as: ImageEncoding(.webp)).data
    }

    enum Form: CaseIterable { case encoded, preloaded }

    @Test("A cancelled load of an animation stops between frames", arguments: Form.allCases)
    func betweenFrames(form: Form) async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try await animation(frames: 30)))
            let (processor, url) = (SlowProcessor(), rig.server.url("/a"))
            let options: KingfisherOptionsInfo = [
                .processor(processor), .animatedProcessing(.transformFrames), .preloadAllAnimationData,
            ]
            let load = Task {
                switch form {
                case .encoded:
                    _ = try await rig.manager.retrieveEncoded(with: url, options: options, as: ImageEncoding(.gif))
                case .preloaded: _ = try await rig.manager.retrieveImage(with: url, options: options)
                }
            }
            await processor.hasBegun.value
            load.cancel()
            _ = await load.result
            processor.goOn()
            // Another load gets all of it.
            let again = try await rig.manager.retrieveEncoded(with: url, as: ImageEncoding(.webp))
            #expect(again.frameCount == 30)
            #expect(processor.runs.value <= 3)
        }
    }

    @Test("Who waits for the same pixels makes them where the one who began has been cancelled")
    func sharedPixels() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try await animation(frames: 30)))
            let (processor, url) = (SlowProcessor(), rig.server.url("/a"))
            let options: KingfisherOptionsInfo = [
                .processor(processor), .animatedProcessing(.transformFrames), .preloadAllAnimationData,
            ]
            // Loads of different encodings share the image before it.
            func load(_ format: ImageContentType) -> Task<EncodedImage, any Error> {
                Task { try await rig.manager.retrieveEncoded(with: url, options: options, as: ImageEncoding(format)) }
            }
            let first = load(.webp)
            await processor.hasBegun.value
            let second = load(.gif)
            try await until("both wait") { rig.manager.loads.all.count == 2 }
            first.cancel()
            processor.goOn()
            _ = await first.result
            #expect(try await second.value.frameCount == 30)
        }
    }

    /// A processor with a fixed weight for every image.
    private struct WeighedProcessor: WeighingImageProcessor {
        let identifier = "weighed"
        let weight: ImageWeight

        func weight(of data: Data) -> ImageWeight { weight }

        func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            DefaultImageProcessor.default.process(item: item, options: options)
        }
    }

    @Test("An image that its processor refuses is not made; large ones are") func weights() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            let error = await failure {
                let processor = WeighedProcessor(weight: .refused)
                return try await rig.manager.retrieveImage(with: url, options: [.processor(processor)])
            }
            guard case .processorError(.processingFailed(let processor, _))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(processor is WeighedProcessor)
            for weight in [ImageWeight.large, .small] {
                let options: KingfisherOptionsInfo = [.processor(WeighedProcessor(weight: weight)), .forceRefresh]
                #expect(try await rig.manager.retrieveImage(with: url, options: options).image.pixelWidth == 64)
            }
        }
    }
}
