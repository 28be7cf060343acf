// The interface of custom coders.

public import Foundation

/// A format that is not built in, or another way to handle one that is.
///
/// Registered with ``ImageCodersManager/add(_:priority:)``, a coder is asked wherever images are decoded and encoded.
/// Its functions are called from any thread, several at once, and may block; no lock is held during a call. A coder
/// implements what it can do: every function has a default that declines.
///
/// A coder must not hand the data it was given to `Image(data:)`, which would ask the coder again;
/// ``BuiltInImageCoder`` asks no registered coder.
public protocol ImageCoder: Sendable {
    /// Whether the coder wants to try these bytes; should look at the first few only.
    ///
    /// - Parameter data: A whole file, of any format or none.
    /// - Returns: Whether ``decode(_:options:)`` is to be called.
    func canDecode(_ data: Data) -> Bool

    /// Decodes the first image.
    ///
    /// A coder may ignore ``ImageDecodingOptions/maxPixelSize``: an image that is too large is made smaller afterwards.
    /// One that ignores ``ImageDecodingOptions/limits`` takes more memory than is allowed; its image is refused
    /// afterwards.
    ///
    /// - Parameters:
    ///   - data: Bytes that ``canDecode(_:)`` accepted.
    ///   - options: The scale, the requested size, and the limits.
    /// - Returns: The image, with or without an orientation that is still to be applied.
    /// - Throws: Any error; the next coder is asked then.
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image

    /// Reads the header, without decoding pixels; nil, the default, has the image decoded to find out.
    ///
    /// - Parameter data: Bytes that ``canDecode(_:)`` accepted.
    /// - Returns: The information that needs no decoding.
    /// - Throws: Any error; the next coder is asked then.
    func info(of data: Data) throws -> ImageInfo?

    /// The frames of an animation; nil, the default, for stills and lets the next coder be asked.
    ///
    /// More of them than ``ImageDecodingLimits/maxFrameCount`` are refused.
    ///
    /// - Parameter data: Bytes that ``canDecode(_:)`` accepted.
    /// - Returns: The frames, none of them decoded yet.
    func frames(of data: Data) -> (any ImageFrameSource)?

    /// Whether the coder writes a format.
    ///
    /// - Parameter type: The format.
    /// - Returns: Whether ``encode(_:as:options:)`` is to be called.
    func canEncode(_ type: ImageContentType) -> Bool

    /// Encodes the displayed image.
    ///
    /// - Parameters:
    ///   - image: An image with pixels and orientation `.up`.
    ///   - type: A format that ``canEncode(_:)`` accepted.
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
        throw CoderError(description: "it does not decode")
    }

    /// Nil: the image is decoded to find out.
    public func info(of data: Data) throws -> ImageInfo? { nil }

    /// Nil: the format has stills only.
    public func frames(of data: Data) -> (any ImageFrameSource)? { nil }

    /// False: nothing is encoded.
    public func canEncode(_ type: ImageContentType) -> Bool { false }

    /// Throws: nothing is encoded.
    public func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data {
        throw CoderError(description: "it does not encode")
    }
}

/// Why a coder returned no result.
struct CoderError: Error, CustomStringConvertible {
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

    /// Decodes the first image; throws ``ImagingError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        try Codecs.decodeBuiltIn(data, options: options)
    }

    /// The frames of an animation.
    public func frames(of data: Data) -> (any ImageFrameSource)? {
        (try? Codecs.builtInFrameSource(of: data, limits: .default)) ?? nil
    }

    /// Reads the header; throws ``ImagingError``.
    public func info(of data: Data) throws -> ImageInfo? { try Codecs.builtInInfo(of: data) }

    /// Whether a format is built in and can be written.
    public func canEncode(_ type: ImageContentType) -> Bool { Codecs.canEncode(as: type) }

    /// Encodes the displayed image; throws ``ImagingError``.
    public func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data {
        try Codecs.encodeBuiltIn(image, as: type, options)
    }
}
