// The processor that a load really uses, by what its options say of animations, vector images and encoding; and the
// processor that leaves some of these alone. For the manager and its loads.

import Foundation
import KFImaging

extension KingfisherParsedOptionsInfo {
    /// The processor that treats animations and vector images as the options say; itself if it does already.
    func resolved(_ processor: any ImageProcessor) -> any ImageProcessor {
        // What is encoded is resolved already, and encoded as a whole.
        guard !(processor is SkippingProcessor || processor is EncodedProcessor || processor is ImageEncoder) else {
            return processor
        }
        var skipped: SkippingProcessor.Kinds = []
        // The first frame alone is a still.
        if animatedProcessing == .skip, !onlyLoadFirstFrame { skipped.insert(.animations) }
        if vectorProcessing == .skip { skipped.insert(.vectors) }
        let processor = animatedProcessing.applied(to: processor)
        guard !skipped.isEmpty, !processor.identifier.isEmpty else { return processor }
        return SkippingProcessor(processor, skipped)
    }
}

extension AnimatedProcessingPolicy {
    /// The processor that transforms the frames of animations, if the policy says so.
    package func applied(to processor: any ImageProcessor) -> any ImageProcessor {
        guard self == .transformFrames, !processor.identifier.isEmpty, !(processor is EachFrameProcessor) else {
            return processor
        }
        return EachFrameProcessor(processor)
    }
}

/// Runs a processor, but not on some kinds of images, which are only decoded.
struct SkippingProcessor: WrappingImageProcessor {
    /// Kinds of images.
    struct Kinds: OptionSet, Sendable {
        let rawValue: UInt8
        static let animations = Kinds(rawValue: 1)
        static let vectors = Kinds(rawValue: 2)

        fileprivate var names: [String] {
            [(Kinds.animations, "animations"), (.vectors, "vectors")].filter { contains($0.0) }.map { $0.1 }
        }
    }

    let base: any ImageProcessor
    let identifier: String
    private let skipped: Kinds

    init(_ base: any ImageProcessor, _ skipped: Kinds) {
        self.base = base
        self.skipped = skipped
        let names = skipped.names.joined(separator: ",")
        identifier = "com.onevcat.Kingfisher.Skipping(\(names),\(base.identifier))"
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        let processor = isSkipped(item, options.limits) ? DefaultImageProcessor.default : base
        return processor.process(item: item, options: options)
    }

    private func isSkipped(_ item: ImageProcessItem, _ limits: ImageDecodingLimits) -> Bool {
        switch item {
        case .image(let image):
            skipped.contains(.vectors) && image.contentType == .svg
                || skipped.contains(.animations) && (image.frames?.frameCount ?? 1) > 1
        case .data(let data):
            skipped.contains(.vectors) && ImageContentType(sniffing: data) == .svg
                || skipped.contains(.animations) && hasFrames(data, limits)
        }
    }

    /// Whether data is an animation, also one with too many or too large frames: no image is better than a processed
    /// still.
    private func hasFrames(_ data: Data, _ limits: ImageDecodingLimits) -> Bool {
        do throws(ImagingError) {
            return (try Codecs.frameSource(of: data, limits: limits)?.frameCount ?? 1) > 1
        } catch {
            switch error {
            case .tooManyFrames, .limitExceeded: return true
            default: return false
            }
        }
    }
}

extension ImageProcessor {
    /// Whether it processes the frames of animations, so that those of a stored animation are processed already.
    var transformsFrames: Bool { ((self as? SkippingProcessor)?.base ?? self) is EachFrameProcessor }
}

extension ImageProcessor {
    /// Runs the processor where the options say, away from the caller's thread.
    func processed(_ item: ImageProcessItem, _ options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> KFCrossPlatformImage
    {
        let processor = options.resolved(self)
        let image = await (options.processingQueue ?? .untouch).run { processor.process(item: item, options: options) }
        if let image { return image }
        if let limits = options.decodingLimits, case .data(let data) = item {
            Codecs.noteFinalFailure(of: data, limits)
        }
        throw .processorError(reason: .processingFailed(processor: named, item: item))
    }
}
