// What a format that somebody else brings has to offer. Knows no format and no list of coders.

public import Foundation

/// How data is to be decoded.
public struct ImageDecodingOptions: Sendable, Hashable {
    /// The scale of the image: pixels a point; 1 unless set.
    public var scale: CGFloat
    /// A limit on the longer displayed side in pixels.
    ///
    /// Nil decodes every pixel and keeps the orientation as a label; otherwise the image is never enlarged and comes
    /// with orientation `.up`. 0 limits nothing.
    public var maxPixelSize: Int?
    /// The box that the picture is made for, which goes before ``maxPixelSize``.
    package var thumbnail: Thumbnail?
    /// What is refused.
    public var limits: ImageDecodingLimits

    /// Options of decoding.
    ///
    /// - Parameters:
    ///   - scale: Pixels a point.
    ///   - maxPixelSize: A limit on the longer displayed side in pixels.
    ///   - limits: What is refused.
    public init(scale: CGFloat = 1, maxPixelSize: Int? = nil, limits: ImageDecodingLimits = .default) {
        self.scale = scale
        self.maxPixelSize = maxPixelSize
        self.limits = limits
    }

    /// Whether a picture is wanted that is upright and perhaps smaller than the one in the data.
    var isReducing: Bool { maxPixelSize != nil || thumbnail != nil }

    /// The size to decode to, for a picture that is stored in the given size and still has to be turned.
    func target(for stored: PixelSize, _ orientation: Orientation = .up) -> PixelSize {
        guard let thumbnail else { return Geometry.thumbnail(of: stored, limit: maxPixelSize ?? 0) }
        guard orientation.isTransposing else { return thumbnail.scaled(stored) }
        return thumbnail.scaled(stored.transposed).transposed
    }

    /// What is to be made of a picture that has been decoded to ``target(for:_:)``.
    func finished(_ bitmap: Bitmap, _ orientation: Orientation) throws(ImagingError) -> Bitmap {
        let upright = try bitmap.oriented(from: orientation)
        return try thumbnail.map { thumbnail throws(ImagingError) in try upright.cut(to: thumbnail) } ?? upright
    }
}

/// The same, as the codecs here call it.
package typealias DecodingOptions = ImageDecodingOptions

/// How an image is to be encoded.
public struct ImageEncodingOptions: Sendable, Hashable {
    /// From 0 to 1, for formats that lose something; 1 unless set.
    public var quality: Double
    /// Whether nothing may be lost, for formats that can do both; false unless set.
    public var lossless: Bool

    /// Options of encoding.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; what lies outside is moved to the nearer end, and NaN counts as 1.
    ///   - lossless: Whether nothing may be lost.
    public init(quality: Double = 1, lossless: Bool = false) {
        self.quality = quality.isNaN ? 1 : min(max(quality, 0), 1)
        self.lossless = lossless
    }
}

/// A format that is not built in, or another way to handle one that is.
///
/// Registered with ``ImageCodersManager/add(_:priority:)``, a coder is asked wherever images are decoded and encoded. Its
/// functions are called from any thread, several at once, and may block; no lock is held meanwhile. A coder implements
/// what it can do: every function has a default that says no.
///
/// A coder must not hand the data it was given to `Image(data:)`, which would ask the coder again; ``BuiltInImageCoder``
/// asks nobody else.
public protocol ImageCoder: Sendable {
    /// Whether the coder wants to try these bytes; should look at the first few only.
    ///
    /// - Parameter data: A whole file, of any format or none.
    /// - Returns: Whether ``decode(_:options:)`` is to be called.
    func canDecode(_ data: Data) -> Bool

    /// Decodes the first picture.
    ///
    /// A coder that ignores ``ImageDecodingOptions/maxPixelSize`` is right all the same: what is too large is made smaller
    /// afterwards. One that ignores ``ImageDecodingOptions/limits`` takes memory that nobody allowed; its picture is
    /// refused afterwards.
    ///
    /// - Parameters:
    ///   - data: Bytes that ``canDecode(_:)`` said yes to.
    ///   - options: The scale, the size that is wanted, and what is to be refused.
    /// - Returns: The image, with or without an orientation that is still to be applied.
    /// - Throws: Any error; the next coder is asked then.
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image

    /// What the header says, without decoding pixels; nil, the default, has the picture decoded to find out.
    ///
    /// - Parameter data: Bytes that ``canDecode(_:)`` said yes to.
    /// - Returns: What is known without decoding.
    /// - Throws: Any error; the next coder is asked then.
    func info(of data: Data) throws -> ImageInfo?

    /// The frames of an animation; nil, the default, for stills and lets the next coder be asked.
    ///
    /// More of them than ``ImageDecodingLimits/maxFrameCount`` are refused.
    ///
    /// - Parameter data: Bytes that ``canDecode(_:)`` said yes to.
    /// - Returns: The frames, none of them decoded yet.
    func frames(of data: Data) -> (any ImageFrameSource)?

    /// Whether the coder writes a format.
    ///
    /// - Parameter type: The format.
    /// - Returns: Whether ``encode(_:as:options:)`` is to be called.
    func canEncode(_ type: ImageContentType) -> Bool

    /// Encodes the displayed picture.
    ///
    /// - Parameters:
    ///   - image: An image with pixels and orientation `.up`.
    ///   - type: A format that ``canEncode(_:)`` said yes to.
    ///   - options: The quality.
    /// - Returns: The bytes of a file.
    /// - Throws: Any error; the next coder is asked then.
    func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data
}

extension ImageCoder {
    /// False: nothing is decoded.
    public func canDecode(_ data: Data) -> Bool { false }

    /// Throws: nothing is decoded.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        throw CoderRefusal(description: "it does not decode")
    }

    /// Nil: the picture is decoded to find out.
    public func info(of data: Data) throws -> ImageInfo? { nil }

    /// Nil: the format has stills only.
    public func frames(of data: Data) -> (any ImageFrameSource)? { nil }

    /// False: nothing is encoded.
    public func canEncode(_ type: ImageContentType) -> Bool { false }

    /// Throws: nothing is encoded.
    public func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data {
        throw CoderRefusal(description: "it does not encode")
    }
}

/// Why a coder's answer is none.
struct CoderRefusal: Error, CustomStringConvertible {
    let description: String
}

/// All built-in formats as one coder, for coders that add something to them; asks no registered coder.
public struct BuiltInImageCoder: ImageCoder {
    /// The coder.
    public init() {}

    /// Whether the bytes begin like a format that is built in.
    public func canDecode(_ data: Data) -> Bool {
        ImageContentType(sniffing: data).map { Codecs.isBuiltIn($0) } ?? false
    }

    /// Decodes the first picture; throws ``ImagingError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        try Codecs.decodeBuiltIn(data, options: options)
    }

    /// The frames of an animation.
    public func frames(of data: Data) -> (any ImageFrameSource)? {
        (try? Codecs.builtInFrameSource(of: data, limits: .default)) ?? nil
    }

    /// What the header says; throws ``ImagingError``.
    public func info(of data: Data) throws -> ImageInfo? { try Codecs.builtInInfo(of: data) }

    /// Whether a format is built in and can be written.
    public func canEncode(_ type: ImageContentType) -> Bool { Codecs.builtIn(type)?.isWritten ?? false }

    /// Encodes the displayed picture; throws ``ImagingError``.
    public func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data {
        try Codecs.encodeBuiltIn(image, as: type, quality: options.quality, lossless: options.lossless)
    }
}
