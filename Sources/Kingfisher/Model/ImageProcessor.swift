// The protocol of processors, how they are joined, and the default processor.

public import Foundation
import KFImaging
import KFSupport

/// The input of a processor.
public enum ImageProcessItem: Sendable {
    /// An image that exists already.
    case image(KFCrossPlatformImage)
    /// The bytes of an image that has to be decoded.
    case data(Data)
}

/// Makes an image out of data, or another image out of an image.
public protocol ImageProcessor: Sendable {
    /// Names the processing, down to its parameters: two processors with one identifier must give the same result. It
    /// is part of the cache key.
    var identifier: String { get }

    /// Processes an item.
    ///
    /// Called on a thread for pixel work, or on the ``KingfisherParsedOptionsInfo/processingQueue``, never on the
    /// caller's thread.
    /// - Parameters:
    ///   - item: Data to decode or an image to change.
    ///   - options: The options of the load.
    /// - Returns: The image, or nil when it could not be made; the load then fails with
    ///   ``KingfisherError/ProcessorErrorReason/processingFailed(processor:item:)``.
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?
}

extension ImageProcessor {
    /// A processor that runs this one and then another on its result.
    ///
    /// Identifiers are joined with `|>`; an empty one (``DefaultImageProcessor``) is left out, so that one image has
    /// one cache key however it is requested.
    /// - Parameter another: The processor that runs second.
    /// - Returns: Both, as one processor.
    public func append(another: any ImageProcessor) -> any ImageProcessor {
        JoinedImageProcessor(first: self, second: another)
    }
}

infix operator |> : AdditionPrecedence

/// Joins two processors: the left one runs first.
public func |> (left: any ImageProcessor, right: any ImageProcessor) -> any ImageProcessor {
    left.append(another: right)
}

func == (left: any ImageProcessor, right: any ImageProcessor) -> Bool { left.identifier == right.identifier }

func != (left: any ImageProcessor, right: any ImageProcessor) -> Bool { !(left == right) }

/// A processor that is several in a row.
protocol ChainedImageProcessor: ImageProcessor {
    /// See ``ImageProcessor/lastStep``.
    var steps: (before: any ImageProcessor, last: any ImageProcessor)? { get }
}

/// A processor that decodes data to a smaller size, and does nothing else to it.
protocol SizeLimitingImageProcessor: ImageProcessor {
    /// The longer side of the result, in pixels; 0 limits nothing.
    func longerSide(scale: CGFloat) -> Int
}

/// A processor that the options of a load have put around the one they name.
protocol WrappingImageProcessor: ImageProcessor {
    var base: any ImageProcessor { get }
}

extension ImageProcessor {
    /// The processor that the options name, for errors.
    var named: any ImageProcessor { (self as? any WrappingImageProcessor)?.base.named ?? self }

    /// The last processor of several in a row, and the one that stands for those before it; nil if there is one only.
    ///
    /// The image before the last one has a key of its own: the last one has an identifier.
    var lastStep: (before: any ImageProcessor, last: any ImageProcessor)? {
        (self as? any ChainedImageProcessor)?.steps
    }

    /// The processor that is given the data: the first of several in a row.
    var firstStep: any ImageProcessor { lastStep?.before.firstStep ?? self }
}

/// Two processors in a row.
private struct JoinedImageProcessor: PartFindingImageProcessor, ChainedImageProcessor {
    let first: any ImageProcessor
    let second: any ImageProcessor
    let identifier: String

    init(first: any ImageProcessor, second: any ImageProcessor) {
        self.first = first
        self.second = second
        identifier = [first.identifier, second.identifier].filter { !$0.isEmpty }.joined(separator: "|>")
    }

    var steps: (before: any ImageProcessor, last: any ImageProcessor)? {
        second.identifier.isEmpty ? nil : (first, second)
    }

    /// Each of the two, resolved; the second one gets the frames that the first one makes.
    func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor {
        let first = first.forAllFrames(of: frames, options)
        let between = ProcessedFrames(of: frames, by: first, options)
        return JoinedImageProcessor(first: first, second: second.forAllFrames(of: between, options))
    }

    // Both always run, even one with an empty identifier: users' processors decode data by joining the default
    // processor and themselves, and would never end if that were taken apart.
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard let image = first.process(item: item, options: options) else { return nil }
        let result = second.process(item: .image(image), options: options)
        if image.isDamaged { result?.updateMetadata { $0.isDamaged = true } }
        return result
    }
}

/// Decodes data of any known format, animations too, and gives images the scale of the options.
public struct DefaultImageProcessor: ImageProcessor {
    /// The processor loads use when they name no other.
    public static let `default` = DefaultImageProcessor()

    /// Empty: images are cached under their plain key.
    public let identifier = ""

    /// Creates a default processor.
    public init() {}

    /// The decoded image, or the given one with the scale of the options.
    /// - Parameters:
    ///   - item: Data to decode or an image.
    ///   - options: Names the scale, and how animations are decoded.
    /// - Returns: The image, or nil for data that cannot be decoded.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): image.withScale(options.scaleFactor)
        case .data(let data): .decoded(from: data, options: options.imageCreatingOptions)
        }
    }
}

extension ImageProcessor {
    /// Runs the processor where the options say, away from the caller's thread.
    func processed(_ item: ImageProcessItem, _ options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> KFCrossPlatformImage
    {
        let processor = options.resolved(self)
        let image = await (options.processingQueue ?? .untouch).run { processor.process(item: item, options: options) }
        guard let image else { throw .processorError(reason: .processingFailed(processor: named, item: item)) }
        return image
    }
}
