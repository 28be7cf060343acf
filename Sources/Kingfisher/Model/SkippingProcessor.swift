// Processors that leave animations or vector images alone. The manager applies it to every load's processor.

import Foundation
import KFImaging

/// How processors treat vector images: SVG, in a build with that package trait. (Not in Kingfisher.)
public enum VectorProcessingPolicy: Sendable, Hashable {
    /// They are drawn, and the drawing is processed.
    case process
    /// They are delivered as they are drawn at their own size; other images are processed.
    ///
    /// Such images are cached under keys of their own.
    case skip
}

extension KingfisherParsedOptionsInfo {
    /// Resolves the processor that is used, whose identifier is part of the key.
    mutating func resolveProcessor() {
        guard animatedProcessing != .firstFrame || vectorProcessing != .process || encoding != nil else { return }
        if let encoding, !(processor is EncodedProcessor) { return encodeResult(as: encoding) }
        processor = resolved(processor)
    }

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
        let processor = isSkipped(item) ? DefaultImageProcessor.default : base
        return processor.process(item: item, options: options)
    }

    private func isSkipped(_ item: ImageProcessItem) -> Bool {
        switch item {
        case .image(let image):
            skipped.contains(.vectors) && image.contentType == .svg
                || skipped.contains(.animations) && (image.frames?.frameCount ?? 1) > 1
        case .data(let data):
            skipped.contains(.vectors) && ImageContentType(sniffing: data) == .svg
                || skipped.contains(.animations) && hasFrames(data)
        }
    }

    /// Whether data is an animation, also one with too many or too large frames: no image is better than a processed
    /// still.
    private func hasFrames(_ data: Data) -> Bool {
        do throws(ImagingError) {
            return (try Codecs.frameSource(of: data)?.frameCount ?? 1) > 1
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
