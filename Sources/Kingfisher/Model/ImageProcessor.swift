// The protocols of processors, and the default processor.

public import Foundation
public import KFImaging

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
    /// An image may have to be turned for display: one who looks at the places of its pixels begins with
    /// `image.kf.normalized`.
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

/// A processor that looks for a part of the image, and must keep the same part of all frames of an animation. (Not in
/// Kingfisher.)
public protocol PartFindingImageProcessor: ImageProcessor {
    /// The processor for the part that was found.
    ///
    /// - Parameters:
    ///   - frames: The frames that it will process; looking at them decodes them.
    ///   - options: The options of the load.
    /// - Returns: A processor that keeps one part.
    func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
}

extension ImageProcessor {
    /// The processor that does the same to every frame of an animation: itself, unless it has to find the part first.
    func forAllFrames(
        of frames: any ImageFrameSource,
        _ options: KingfisherParsedOptionsInfo
    ) -> any ImageProcessor {
        (self as? any PartFindingImageProcessor)?.resolved(for: frames, options) ?? self
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
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): image.withScale(options.scaleFactor)
        case .data(let data): options.decoded(data)
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// The image that some bytes make; nil when they cannot be decoded.
    func decoded(_ data: Data) -> KFCrossPlatformImage? {
        .decoded(from: data, options: imageCreatingOptions, limits: limits)
    }
}
