// An image with its scale and orientation: the central type of the library.

public import Foundation
import KFSupport

/// A decoded image: a bitmap, how it is turned, and how many of its pixels make a point.
///
/// The pixels never change; an image may be used from any thread.
public final class Image: Sendable, Hashable {
    /// How many pixels make a point.
    public let scale: CGFloat
    /// How the bitmap is to be turned for display.
    public let imageOrientation: Orientation
    /// The pixels as stored, not turned; nil only for the empty image.
    public let cgImage: Bitmap?
    private let state: Locked<Metadata>

    /// The metadata of an image: its source, and its frames.
    package struct Metadata: Sendable {
        /// The format it was decoded from.
        package var contentType: ImageContentType?
        /// How many frames the source has, even if one only was decoded; nil for stills.
        package var frameCount: Int?
        /// The encoded bytes of an animation.
        package var animatedData: Data?
        /// The frames that are decoded on demand.
        package var frameSource: (any ImageFrameSource)?
        /// The frames that are decoded already.
        package var preloaded: PreloadedFrames?
        /// How the image was made of its data.
        package var creatingOptions: ImageCreatingOptions?
        /// The data that the image was decoded from at its full size; nil when something has been done to it since.
        package var decodedFrom: ContentFingerprint?
        /// The size of the displayed image that this is the whole of, in fewer pixels; nil when that is not known.
        package var reducedFrom: PixelSize?
        /// The part of a JPEG's image that this one shows in its colours; nil where that is not known.
        package var shownPart: ShownPart?
        /// Whether a part of the image, or of its frames, is missing in the data or could not be decoded.
        package var isDamaged = false
        /// Whether the response it was made from depends on fields of the request.
        package var variesWithRequest = false
        /// The number of the last purge that was known when its source was loaded; nil where that was not kept.
        package var loadedAt: UInt64?
        /// The bytes of the file that the image stands for, if it has no pixels.
        package var encoded: EncodedContent?
        /// How the image wants to be shown.
        package var display = Display()

        package init(contentType: ImageContentType? = nil, frameCount: Int? = nil, animatedData: Data? = nil) {
            self.contentType = contentType
            self.frameCount = frameCount
            self.animatedData = animatedData
        }
    }

    package init(cgImage: Bitmap?, scale: CGFloat, orientation: Orientation, metadata: Metadata) {
        self.cgImage = cgImage
        self.scale = Self.validScale(scale)
        imageOrientation = orientation
        state = Locked(metadata)
    }

    /// The scale of an image for a requested one: 1 in place of anything but a positive number.
    package static func validScale(_ scale: CGFloat) -> CGFloat { scale > 0 && scale.isFinite ? scale : 1 }

    /// An empty image: no pixels, size zero, scale 1.
    public convenience init() {
        self.init(cgImage: nil, scale: 1, orientation: .up, metadata: Metadata())
    }

    /// Wraps pixels that exist, without copying them.
    ///
    /// - Parameters:
    ///   - cgImage: The pixels as stored.
    ///   - scale: Pixels a point.
    ///   - orientation: How the pixels are to be turned.
    public convenience init(cgImage: Bitmap, scale: CGFloat = 1, orientation: Orientation = .up) {
        self.init(cgImage: cgImage, scale: scale, orientation: orientation, metadata: Metadata())
    }
}

extension Image {
    /// The size of the displayed image in points.
    public var size: CGSize {
        let (width, height) = (CGFloat(pixelWidth) / scale, CGFloat(pixelHeight) / scale)
        return imageOrientation.isTransposing
            ? CGSize(width: height, height: width) : CGSize(width: width, height: height)
    }

    /// The width of the bitmap as stored, in pixels; 0 for the empty image.
    public var pixelWidth: Int { cgImage?.width ?? 0 }

    /// The height of the bitmap as stored, in pixels; 0 for the empty image.
    public var pixelHeight: Int { cgImage?.height ?? 0 }

    /// Whether a part of the image, or of the frames of an animation, was missing in the data or could not be
    /// decoded.
    ///
    /// Such an image shows the pixels that could be decoded; the rest is grey, transparent, or blurred in a progressive
    /// file. Images that processors make of it are marked as damaged, too. An image that was stored after processing,
    /// and comes from a cache, is not.
    public var isDamaged: Bool { state.withLock { $0.isDamaged } }

    /// Whether some pixel may be less than opaque.
    public var hasAlpha: Bool { cgImage?.hasAlpha ?? true }

    /// Whether these are the same object, or show the same bitmap object in the same way.
    public static func == (one: Image, other: Image) -> Bool {
        if one === other { return true }
        return one.cgImage == other.cgImage && one.scale == other.scale
            && one.imageOrientation == other.imageOrientation && one.animation == other.animation
            && one.metadata.display == other.metadata.display
    }

    /// Hashes the parts that equality compares and that never change.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(cgImage)
        hasher.combine(scale)
        hasher.combine(imageOrientation)
    }
}

extension Image {
    /// The format the image was decoded from; nil when it was made in another way. (Not in Kingfisher.)
    public var contentType: ImageContentType? { state.withLock { $0.contentType } }

    /// The number of frames of the source, even if one only was decoded; nil for stills. (Not in Kingfisher.)
    public package(set) var frameCount: Int? {
        get { state.withLock { $0.frameCount } }
        set { state.withLock { $0.frameCount = newValue } }
    }

    /// The part of its file's image that this one shows; nil where that is not known, or colours were changed.
    package var shownPart: ShownPart? { metadata.shownPart }

    /// Whether the image was decoded from some data at its full size, and nothing has been done to it since.
    ///
    /// Says nothing about which data: a processor may have decoded other bytes than those it was given.
    package var isUnprocessed: Bool { state.withLock { $0.decodedFrom != nil } }

    /// Whether the image is the result of decoding these very bytes, so that they preserve more of it than any encoding
    /// of its pixels.
    package func isDecoded(from data: Data) -> Bool {
        guard let mark = state.withLock({ $0.decodedFrom }) else { return false }
        return mark == ContentFingerprint(data)
    }

    /// The metadata of the image.
    package var metadata: Metadata { state.withLock { $0 } }

    /// Changes the metadata.
    package func updateMetadata(_ change: (inout Metadata) -> Void) { state.withLock { change(&$0) } }

    /// An image that some operation made of this one: no animation, and as damaged as this one is.
    ///
    /// - Parameters:
    ///   - bitmap: The new pixels.
    ///   - scale: Nil keeps it.
    ///   - orientation: How the pixels are to be turned.
    ///   - shownPart: The part of the file's image that they are; nil where their colours are others.
    /// - Returns: The new image.
    package func derived(
        _ bitmap: Bitmap,
        scale: CGFloat? = nil,
        orientation: Orientation = .up,
        shows shownPart: ShownPart? = nil
    ) -> Image {
        var metadata = Metadata()
        (metadata.isDamaged, metadata.shownPart) = (isDamaged, shownPart)
        return Image(cgImage: bitmap, scale: scale ?? self.scale, orientation: orientation, metadata: metadata)
    }
}
