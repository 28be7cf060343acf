// The interface of a built-in format.

import Foundation

/// One format: how its header is read, how it is decoded and encoded.
///
/// The bytes are those of a whole file whose signature has been checked; nothing else about them has been checked.
protocol ImageCodec: SendableMetatype {
    static var contentType: ImageContentType { get }
    /// Whether files of it may have frames, which ``frames(of:limits:)`` finds.
    static var canHaveFrames: Bool { get }
    /// Whether it is read by a program that runs in a process of its own anyway.
    static var isReadByProgram: Bool { get }
    /// Whether images can be written in it.
    static var canEncode: Bool { get }
    /// Whether animations that are written say how often they play, where that is not endlessly.
    static var keepsLoopCount: Bool { get }
    /// Lets its library do what it does the first time it is used, if that needs files.
    static func prepare()
    /// Reads the header; decodes no pixels.
    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo
    /// Decodes the first image, to `options.target(for:)`.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ options: DecodingOptions) throws(ImagingError)
        -> DecodedImage
    /// The frames of an animation; nil for stills, and formats that have nothing else.
    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)?
    /// The EXIF block of a file; nil when it has none, or the format keeps it elsewhere.
    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data?
    /// Opens an upright, opaque still whose rows can be decoded one after another; nil where they cannot.
    static func rows(_ bytes: UnsafeRawBufferPointer, _ limits: ImageDecodingLimits) throws(ImagingError)
        -> (any RowFile)?
    /// Encodes an upright bitmap.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data
    /// Encodes rows as they are made; nil where the format or the options need all rows at once.
    ///
    /// Each call of the closure begins again with the first row.
    static func encode(_ rows: () throws(ImagingError) -> any ImageRows, _ options: ImageEncodingOptions)
        throws(ImagingError) -> Data?
    /// Encodes an animation.
    static func encode(_ animation: AnimationToEncode, _ options: ImageEncodingOptions) throws(ImagingError) -> Data
}

/// Frames to be written, made one after another as the encoder asks for them.
struct AnimationToEncode {
    /// The size of every frame.
    let size: PixelSize
    /// How long each frame is shown, in seconds.
    let delays: [TimeInterval]
    /// How often the frames are to be played; 0 means endlessly.
    let loopCount: UInt
    /// The whole image of a frame.
    let frame: (_ index: Int) throws(ImagingError) -> Bitmap

    /// The delays in whole milliseconds, rounded so that together they last as long as the animation.
    var milliseconds: [UInt32] {
        var (end, written) = (0.0, 0)
        return delays.map { delay in
            end += delay * 1000
            let milliseconds = Int(end.rounded()) - written
            written += milliseconds
            return UInt32(clamping: milliseconds)
        }
    }
}

extension AnimationToEncode {
    /// One frame of a still.
    init(still bitmap: Bitmap) {
        self.init(size: bitmap.size, delays: [0], loopCount: 1) { _ in bitmap }
    }
}

extension ImageCodec {
    /// Most libraries need no files.
    static func prepare() {}

    /// Formats of stills.
    static var canHaveFrames: Bool { false }

    /// Formats that are read by libraries.
    static var isReadByProgram: Bool { false }

    /// Formats of stills.
    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? { nil }

    /// Formats without EXIF, or whose EXIF is not looked for.
    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data? { nil }

    /// Formats of stills, and those whose animations are only read.
    static func encode(_ animation: AnimationToEncode, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        throw .encodingFailed(contentType, detail: "animations of the format cannot be written")
    }

    /// Formats whose decoders give no rows, or give them in another order.
    static func rows(_ bytes: UnsafeRawBufferPointer, _ limits: ImageDecodingLimits) throws(ImagingError)
        -> (any RowFile)?
    { nil }

    /// Formats whose encoders take whole images.
    static func encode(_ rows: () throws(ImagingError) -> any ImageRows, _ options: ImageEncodingOptions)
        throws(ImagingError) -> Data?
    { nil }

    /// Formats that are only read.
    static var canEncode: Bool { false }

    /// Whether animations can be written in it, if anything can.
    static var canEncodeAnimation: Bool { contentType.capacity.hasFrames }

    /// All formats of animations, as a rule.
    static var keepsLoopCount: Bool { canEncodeAnimation }

    /// Formats that are only read.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        throw .encodingFailed(contentType, detail: "the format can only be read")
    }
}

extension DecodingOptions {
    /// Makes the result from an image that has been decoded to ``target(for:_:)``.
    func finished(_ bitmap: Bitmap, _ orientation: Orientation) throws(ImagingError) -> Bitmap {
        try cut(bitmap, orientation).bitmap
    }

    /// The same, and the part of the image that the result shows.
    func cut(
        _ bitmap: Bitmap,
        _ orientation: Orientation
    ) throws(ImagingError) -> (bitmap: Bitmap, shownPart: ShownPart) {
        let (upright, all) = (try bitmap.oriented(from: orientation), ShownPart(storedAs: orientation))
        guard let thumbnail else { return (upright, all) }
        let rect = try upright.rect(of: thumbnail)
        return (try upright.part(rect), all.part(rect, of: upright.size, for: thumbnail))
    }
}
