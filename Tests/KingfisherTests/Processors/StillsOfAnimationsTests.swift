// Stills of animations: processors make them even with parameters that change nothing.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@Suite struct StillsOfAnimationsTests {
    private static let far = CGSize(width: 1e4, height: 1e4)
    /// Processors that do not change an opaque image.
    private static let idle: [any ImageProcessor] = [
        FlippingImageProcessor(horizontal: false, vertical: false),
        TrimmingImageProcessor(tolerance: 0),
        RectCroppingImageProcessor(rect: CGRect(origin: .zero, size: far)),
        RectCroppingImageProcessor(rect: .zero),
        CroppingImageProcessor(size: far),
        CroppingImageProcessor(size: .zero),
        SmartCroppingImageProcessor(size: far),
        SmartCroppingImageProcessor(size: .zero),
        OverlayImageProcessor(overlay: .red, fraction: 1),
        OverlayImageProcessor(overlay: .red, fraction: .nan),
        ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 1, inputEV: 0),
        TintImageProcessor(tint: .clear),
        BorderImageProcessor(border: Border(lineWidth: 0)),
        RotationImageProcessor(angle: 0),
        RotationImageProcessor(angle: .nan),
        SharpeningImageProcessor(sigma: 0),
        BlurImageProcessor(blurRadius: 0),
        CanvasResizingImageProcessor(size: .zero),
        DownsamplingImageProcessor(size: .zero),
        FilterImageProcessor(filter: Filter { _ in nil }, identifier: "nothing"),
    ]

    @Test("Processors with neutral parameters still make a still of an animation", arguments: idle.indices)
    func neutralOnAnimations(index: Int) throws {
        let processor = Self.idle[index]
        let slides = (0..<3).map { SampleImage.gradient(16, 12, tint: UInt8(80 * $0)) }
        let data = try #require(Image.animatedImage(with: slides, duration: 1)?.kf.webPRepresentation(lossless: true))
        for options in [[], [.preloadAllAnimationData], [.onlyLoadFirstFrame]] as [KingfisherOptionsInfo] {
            let options = KingfisherParsedOptionsInfo(options)
            let whole = try #require(DefaultImageProcessor.default.process(item: .data(data), options: options))
            for item in [ImageProcessItem.data(data), .image(whole)] {
                let still = try #require(processor.process(item: item, options: options))
                #expect(!still.isAnimated && still.kf.imageFrameCount == nil && still.animatedData == nil)
                #expect(isSame(still, slides[0]))
                let stored = try #require(DefaultCacheSerializer.default.data(with: still, original: data))
                #expect(try ImageInfo(data: stored).frameCount == 1)
            }
        }
    }

    @Test(
        "Processors with neutral parameters return stills unchanged",
        arguments: idle.indices.filter { !(idle[$0] is DownsamplingImageProcessor) }
    )
    func neutralOnStills(index: Int) {
        let image = SampleImage.gradient(16, 12)
        let options = KingfisherParsedOptionsInfo()
        #expect(Self.idle[index].process(item: .image(image), options: options) === image)
    }
}
