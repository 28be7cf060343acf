// The processor that makes animations of animations: it runs another one on every frame. Loads use it with
// `.animatedProcessing(.transformFrames)`.

import Foundation
import KFImaging
import KFSupport

/// Runs a processor on every frame of an animation, and on stills as usual.
struct EachFrameProcessor: WrappingImageProcessor {
    let base: any ImageProcessor
    let identifier: String

    init(_ base: any ImageProcessor) {
        self.base = base
        identifier = "com.onevcat.Kingfisher.EachFrame(\(base.identifier))"
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image):
            guard let frames = wanted(image.frames, options) else { return base.process(item: item, options: options) }
            return animation(frames, of: image, options)
        case .data(let data):
            return process(data, options)
        }
    }

    /// The processor gets the data first, since only it knows which formats it reads.
    ///
    /// When it fails, this fails, and an animation that it returns is the result. A still stands for the animation that
    /// the data holds, whose frames the processor is given as images.
    private func process(_ data: Data, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        // Frames that are not processed yet need not be decoded all at once.
        var onDemand = options
        onDemand.preloadAllAnimationData = false
        guard let result = base.process(item: .data(data), options: onDemand) else { return nil }
        if result.metadata.encoded != nil { return result }
        if result.isAnimated {
            return options.preloadAllAnimationData ? base.process(item: .data(data), options: options) : result
        }
        let found: (any ImageFrameSource)?
        do throws(ImagingError) {
            found = options.onlyLoadFirstFrame ? nil : try Codecs.frameSource(of: data, limits: options.limits)
        } catch {
            // No image is better than a still in place of the animation.
            switch error {
            case .tooManyFrames, .limitExceeded: return nil
            default: found = nil
            }
        }
        guard let frames = wanted(found, options) else { return result }
        // The part that was found in the first frame alone may differ from the one that all frames keep.
        let poster = base is any PartFindingImageProcessor ? nil : result.orientedUp.cgImage
        return animation(frames, of: result, poster: poster.map { result.derived($0) }, options)
    }

    /// The animation of the processed frames; marked as damaged if the image they come from is.
    private func animation(
        _ frames: any ImageFrameSource,
        of image: Image,
        poster: Image? = nil,
        _ options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        let processed = ProcessedFrames(of: frames, by: base.forAllFrames(of: frames, options), options)
        let creating = options.imageCreatingOptions
        let result = Image.animated(processed, options: creating, baseImage: poster, limits: options.limits)
        if image.isDamaged { result?.updateMetadata { $0.isDamaged = true } }
        return result
    }

    /// The frames, if there are more than one and not only the first is to be loaded.
    private func wanted(
        _ frames: (any ImageFrameSource)?,
        _ options: KingfisherParsedOptionsInfo
    ) -> (any ImageFrameSource)? {
        guard !options.onlyLoadFirstFrame, let frames, frames.frameCount > 1 else { return nil }
        return frames
    }
}

/// The frames of an animation, each processed when it is needed.
///
/// All have the size of the first one: a frame that the processor makes smaller or larger is placed in the middle of
/// it, and the parts that stick out are cut off.
struct ProcessedFrames: ImageFrameSource {
    private let frames: any ImageFrameSource
    private let processor: any ImageProcessor
    private let options: KingfisherParsedOptionsInfo
    private let canvas: Canvas

    init(of frames: any ImageFrameSource, by processor: any ImageProcessor, _ options: KingfisherParsedOptionsInfo) {
        self.init(frames, processor, options, Canvas())
    }

    private init(
        _ frames: any ImageFrameSource,
        _ processor: any ImageProcessor,
        _ options: KingfisherParsedOptionsInfo,
        _ canvas: Canvas
    ) {
        self.frames = frames
        self.processor = processor
        self.options = options
        self.canvas = canvas
    }

    /// None: no file holds the processed frames.
    var data: Data? { nil }
    var frameCount: Int { frames.frameCount }
    var loopCount: UInt { frames.loopCount }
    var isDamaged: Bool { frames.isDamaged }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard let bitmap = processed(index) else { return nil }
        if index == 0 { canvas.size.withLock { $0 = bitmap.size } }
        let size = canvas.size.withLock { $0 } ?? frame(at: 0)?.size ?? bitmap.size
        return (try? bitmap.placed(in: size))?.limited(to: maxSize)
    }

    func duration(at index: Int) -> TimeInterval { frames.duration(at: index) }

    func copy() -> ProcessedFrames { ProcessedFrames(frames.copy(), processor, options, canvas) }

    /// A frame after processing; nil when it cannot be decoded or processed.
    private func processed(_ index: Int) -> Bitmap? {
        guard let frame = frames.frame(at: index) else { return nil }
        let image = Image(cgImage: frame, scale: options.scaleFactor)
        return processor.process(item: .image(image), options: options)?.orientedUp.cgImage
    }

    /// The size of the first frame, once it is known; copies share it.
    private final class Canvas: Sendable {
        let size = Locked<PixelSize?>(nil)
    }
}
