// The entry points: registered coders where there are any, the built-in ones otherwise.

package import Foundation

extension Codecs {
    /// Reads the header; no pixels are decoded, unless a registered coder has no other way.
    ///
    /// - Throws: ``ImagingError``.
    package static func info(
        of data: Data,
        limits: ImageDecodingLimits = .default
    ) throws(ImagingError) -> ImageInfo {
        guard let custom = ImageCodersManager.shared.custom else { return try builtInInfo(of: data, limits: limits) }
        return try custom.info(of: data)
    }

    /// Decodes the first image.
    ///
    /// - Throws: ``ImagingError``.
    package static func decode(
        _ data: Data,
        options: DecodingOptions = DecodingOptions()
    ) throws(ImagingError) -> Image {
        do throws(ImagingError) {
            if let box = options.thumbnail, box.enlarges, let info = try? info(of: data, limits: options.limits) {
                let stored = PixelSize(info.pixelWidth, info.pixelHeight)
                let displayed = info.orientation.isTransposing ? stored.transposed : stored
                try box.check(enlarging: displayed, options.limits)
            }
            guard let custom = ImageCodersManager.shared.custom else {
                return try decodeBuiltIn(data, options: options)
            }
            return try custom.decode(data, options: options)
        } catch {
            throw recorded(error, of: data, options.limits)
        }
    }

    /// The frames of an animation, none of them decoded yet; nil for stills.
    ///
    /// - Parameters:
    ///   - data: The encoded bytes.
    ///   - limits: The limits beyond which data is refused.
    /// - Returns: The frames.
    /// - Throws: ``ImagingError``.
    package static func frameSource(
        of data: Data,
        limits: ImageDecodingLimits = .default
    ) throws(ImagingError) -> (any ImageFrameSource)? {
        guard let custom = ImageCodersManager.shared.custom else {
            return try builtInFrameSource(of: data, limits: limits)
        }
        return try custom.frames(of: data, limits: limits)
    }

    /// Encodes the displayed image.
    ///
    /// - Parameters:
    ///   - image: The image; its orientation is applied first.
    ///   - type: The format.
    ///   - options: The quality, and what is written beside the pixels.
    /// - Returns: The bytes of a file.
    /// - Throws: ``ImagingError/encodingFailed(_:detail:)`` or ``ImagingError/outOfMemory(bytes:)``.
    package static func encode(
        _ image: Image,
        as type: ImageContentType,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data {
        guard let custom = ImageCodersManager.shared.custom else {
            return try encodeBuiltIn(image, as: type, options)
        }
        return try custom.encode(image, as: type, options: options)
    }

    /// Encodes the displayed image with a quality of 0…1, or without loss.
    package static func encode(
        _ image: Image,
        as type: ImageContentType,
        quality: Double = 1,
        lossless: Bool = false
    ) throws(ImagingError) -> Data {
        try encode(image, as: type, ImageEncodingOptions(quality: quality, lossless: lossless))
    }
}
