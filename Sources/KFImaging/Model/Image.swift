// A picture with its scale and orientation. Knows codecs by one name, and no processor, cache or view.

public import Foundation
import KFSupport

/// A decoded picture: a bitmap, how it is turned, and how many of its pixels make a point.
///
/// The pixels never change; an image may be used from any thread.
public final class Image: Sendable, Hashable {
    /// How many pixels make a point.
    public let scale: CGFloat
    /// How the bitmap is to be turned for display.
    public let imageOrientation: Orientation
    /// The pixels as stored, not turned; nil only for the empty image.
    public let cgImage: Bitmap?
    private let metadata: Locked<Metadata>

    /// What an image remembers of the data that it comes from.
    package struct Metadata: Sendable {
        /// The format it was decoded from.
        package var contentType: ImageContentType?
        /// How many frames the source has, even if one only was decoded; nil for stills.
        package var frameCount: Int?
        /// The encoded bytes of an animation.
        package var animatedData: Data?
        /// Whether nothing has been done to the picture since it was decoded at its full size.
        package var isUnprocessed = false

        package init(contentType: ImageContentType? = nil, frameCount: Int? = nil, animatedData: Data? = nil) {
            self.contentType = contentType
            self.frameCount = frameCount
            self.animatedData = animatedData
        }
    }

    package init(cgImage: Bitmap?, scale: CGFloat, orientation: Orientation, metadata: Metadata) {
        self.cgImage = cgImage
        self.scale = scale > 0 && scale.isFinite ? scale : 1
        imageOrientation = orientation
        self.metadata = Locked(metadata)
    }

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

    /// Decodes the first picture of JPEG, PNG, GIF, WebP or AVIF data at scale 1; nil when that is impossible.
    ///
    /// - Parameter data: The encoded bytes; they alone decide what format it is.
    public convenience init?(data: Data) { self.init(data: data, scale: 1) }

    /// Decodes the first picture of JPEG, PNG, GIF, WebP or AVIF data; nil when that is impossible.
    ///
    /// - Parameters:
    ///   - data: The encoded bytes; they alone decide what format it is.
    ///   - scale: Pixels a point.
    public convenience init?(data: Data, scale: CGFloat) {
        guard let decoded = try? Codecs.decode(data, options: DecodingOptions(scale: scale)) else { return nil }
        self.init(
            cgImage: decoded.cgImage,
            scale: decoded.scale,
            orientation: decoded.imageOrientation,
            metadata: decoded.metadata.withLock { $0 }
        )
    }

    /// Reads and decodes a file at scale 1, blocking the thread; nil when that is impossible.
    ///
    /// - Parameter contentsOfFile: The path.
    public convenience init?(contentsOfFile: String) {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: contentsOfFile)) else { return nil }
        self.init(data: data)
    }
}

extension Image {
    /// The size of the displayed picture in points.
    public var size: CGSize {
        let (width, height) = (CGFloat(pixelWidth) / scale, CGFloat(pixelHeight) / scale)
        return imageOrientation.isTransposing
            ? CGSize(width: height, height: width) : CGSize(width: width, height: height)
    }

    /// The width of the bitmap as stored, in pixels; 0 for the empty image.
    public var pixelWidth: Int { cgImage?.width ?? 0 }

    /// The height of the bitmap as stored, in pixels; 0 for the empty image.
    public var pixelHeight: Int { cgImage?.height ?? 0 }

    /// Whether some pixel may be less than opaque.
    public var hasAlpha: Bool { cgImage?.hasAlpha ?? true }

    /// The displayed picture as PNG; nil for the empty image.
    ///
    /// - Returns: The encoded bytes.
    public func pngData() -> Data? { try? Codecs.encode(self, as: .png) }

    /// The displayed picture as JPEG, transparent parts laid over white; nil for the empty image.
    ///
    /// - Parameter compressionQuality: 0…1; from 0.9 up the colours keep their full resolution.
    /// - Returns: The encoded bytes.
    public func jpegData(compressionQuality: CGFloat) -> Data? {
        try? Codecs.encode(self, as: .jpeg, quality: Double(compressionQuality))
    }

    /// Whether these are the same object, or show the same bitmap object in the same way.
    public static func == (one: Image, other: Image) -> Bool {
        if one === other { return true }
        return one.cgImage == other.cgImage && one.scale == other.scale
            && one.imageOrientation == other.imageOrientation && one.frameCount == other.frameCount
    }

    /// Hashes what equality looks at and never changes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(cgImage)
        hasher.combine(scale)
        hasher.combine(imageOrientation)
    }
}

extension Image {
    /// The format the image was decoded from.
    package var contentType: ImageContentType? { metadata.withLock { $0.contentType } }

    /// The number of frames of the source, even if one only was decoded; nil for stills.
    package var frameCount: Int? {
        get { metadata.withLock { $0.frameCount } }
        set { metadata.withLock { $0.frameCount = newValue } }
    }

    /// The encoded bytes of the animation the image was decoded from.
    package var animatedData: Data? { metadata.withLock { $0.animatedData } }

    /// Whether the picture is all its source holds, and nothing has been done to it since: the source's bytes say more
    /// about it than any encoding of its pixels.
    package var isUnprocessed: Bool { metadata.withLock { $0.isUnprocessed } }

    /// What the pixels take in memory, in bytes.
    package var cost: Int { pixelWidth * pixelHeight * 4 }

    /// The same picture with orientation `.up`; the image itself when there is not enough memory to turn it.
    package var normalized: Image { (try? upright()) ?? self }

    /// The same picture with orientation `.up`.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func upright() throws(ImagingError) -> Image {
        guard let bitmap = cgImage, imageOrientation != .up else { return self }
        return Image(
            cgImage: try bitmap.oriented(from: imageOrientation),
            scale: scale,
            orientation: .up,
            metadata: metadata.withLock { $0 }
        )
    }

    /// The same pixels under another scale; the same object when nothing changes.
    package func relabelled(scale: CGFloat) -> Image {
        guard scale != self.scale else { return self }
        return Image(
            cgImage: cgImage,
            scale: scale,
            orientation: imageOrientation,
            metadata: metadata.withLock { $0 }
        )
    }
}
