// Where built-in formats are decoded: in this process, or in decoder processes that run the same codecs.

import Foundation

extension Codecs {
    /// Reads a header.
    static func info(of data: Data, _ codec: any ImageCodec.Type, _ limits: ImageDecodingLimits) throws(ImagingError)
        -> ImageInfo
    {
        var info: ImageInfo
        if let (pool, file) = try isolation(of: data, codec, limits) {
            info = try pool.info(file)
        } else {
            info = try data.withBytes { bytes throws(ImagingError) in try codec.info(bytes) }
        }
        if codec.contentType == .jpeg { info.gainMap = GainMap(of: data, limits: limits)?.info }
        return info
    }

    /// Decodes the first image, to `options.target(for:)`.
    static func image(
        of data: Data,
        _ codec: any ImageCodec.Type,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        if let (pool, file) = try isolation(of: data, codec, options.limits) { return try pool.image(file, options) }
        return try data.withBytes { bytes throws(ImagingError) in try codec.decode(bytes, options) }
    }

    /// The frames as the data describes them; nil for stills.
    static func frames(
        of data: Data,
        _ codec: any ImageCodec.Type,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any FrameDecoder)? {
        guard codec.canHaveFrames else { return nil }
        if let (pool, file) = try isolation(of: data, codec, limits) { return try pool.frames(file) }
        return try codec.frames(of: data, limits: limits)
    }

    /// The EXIF block; nil when there is none.
    static func exif(
        of data: Data,
        _ codec: any ImageCodec.Type,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> Data? {
        if let (pool, file) = try isolation(of: data, codec, limits) { return try pool.exif(file) }
        return data.withUnsafeBytes { codec.exif($0) }
    }

    /// The decoders that are to be used, and the file as they take it; nil where this process decodes.
    private static func isolation(
        of data: Data,
        _ codec: any ImageCodec.Type,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> (pool: DecoderPool, file: DecoderPool.File)? {
        guard !codec.isReadByProgram, let pool = try DecoderPool.shared.forUse(limits.isolation) else { return nil }
        return (pool, DecoderPool.File(data: data, type: codec.contentType, limits: limits))
    }
}
