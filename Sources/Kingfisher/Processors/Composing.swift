// Processors made of closures and of other processors.

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
    ///
    /// - Parameters:
    ///   - item: Data to decode or an image.
    ///   - options: Names the scale.
    /// - Returns: The image, or nil for data that cannot be decoded and when the closure returns nil.
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
    /// - Parameters:
    ///   - item: The input of the first processor.
    ///   - options: The options that are passed to each.
    /// - Returns: The image, or nil when a processor fails; those after it do not run.
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
