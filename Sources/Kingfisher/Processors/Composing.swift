// Processors made of closures and of other processors, which run one after another.

public import KFImaging

/// A processor that is a closure.
public struct AnyImageProcessor: ImageProcessor {
    /// The identifier that its creator has given it.
    public let identifier: String
    private let body: @Sendable (KFCrossPlatformImage) -> KFCrossPlatformImage?

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - id: Names the closure's processing; it is part of the cache key, so no two closures may share it. Reverse
    ///     domain names are a good choice.
    ///   - body: Makes the new image out of the given one, on a thread for pixel work; nil is a failure.
    public init(id: String, _ body: @escaping @Sendable (KFCrossPlatformImage) -> KFCrossPlatformImage?) {
        identifier = id
        self.body = body
    }

    /// The image that the closure returns; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options).flatMap(body)
    }
}

/// Several processors, one after another.
///
/// It has the identifier that joining them with `|>` gives, so that both share cached images.
public struct CompositionImageProcessor: ImageProcessor {
    /// The processors' identifiers, joined.
    public var identifier: String { joined.identifier }
    /// The processors; the first one runs first.
    public let processors: [any ImageProcessor]
    private let joined: any ImageProcessor

    /// Creates a processor.
    ///
    /// - Parameter processors: The first one runs first; an empty list does what ``DefaultImageProcessor`` does.
    public init(_ processors: [any ImageProcessor]) {
        self.processors = processors
        joined = processors.dropFirst().reduce(processors.first ?? DefaultImageProcessor.default, |>)
    }

    /// The image that the last processor returns.
    ///
    /// When a processor fails, those after it do not run.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        joined.process(item: item, options: options)
    }
}

extension CompositionImageProcessor: PartFindingImageProcessor, ChainedImageProcessor {
    var steps: (before: any ImageProcessor, last: any ImageProcessor)? { joined.lastStep }

    /// The same processors in a row, each resolved for the frames that the one before it makes.
    public func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
    {
        joined.forAllFrames(of: frames, options)
    }
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
