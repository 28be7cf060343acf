// Writing animations, for every format that can hold them.

package import Foundation

extension Codecs {
    /// Whether animations can be written in a format.
    package static func canEncodeAnimation(as type: ImageContentType) -> Bool {
        canEncode(as: type) && builtIn(type)?.canEncodeAnimation ?? false
    }

    /// Whether animations that are written in a format say how often they play, where that is not endlessly.
    package static func keepsLoopCount(as type: ImageContentType) -> Bool { builtIn(type)?.keepsLoopCount ?? false }

    /// Encodes an animation, one frame after another as they are decoded.
    ///
    /// A frame that cannot be decoded is the one before it once more: the animation keeps its timing and all other
    /// frames. In a task that is cancelled no further frame is encoded.
    ///
    /// - Parameters:
    ///   - animation: The frames.
    ///   - type: The format.
    ///   - options: The quality, and what is written beside the pixels.
    /// - Returns: The bytes of a file.
    /// - Throws: ``ImagingError/encodingFailed(_:detail:)``, also when a frame has another size than the first one, or
    ///   ``ImagingError/outOfMemory(bytes:)``.
    package static func encode(
        _ animation: any ImageFrameSource,
        as type: ImageContentType,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data {
        guard let codec = builtIn(type) else { throw .encodingFailed(type, detail: "the format is not built in") }
        // No frame is kept longer than the encoder needs it: some are large.
        var first = animation.frame(at: 0)
        guard let size = first?.size else {
            throw .encodingFailed(type, detail: "the first frame cannot be decoded")
        }
        try type.check(size)
        var latest = 0
        let delays = (0..<animation.frameCount).map { index in
            let delay = animation.duration(at: index)
            return delay.isFinite ? min(max(delay, 0), 3600) : 0
        }
        let frames = AnimationToEncode(size: size, delays: delays, loopCount: animation.loopCount) {
            index throws(ImagingError) in
            guard !Task.isCancelled else { throw .encodingFailed(type, detail: "the task was cancelled") }
            let own = (index == 0 ? first : nil) ?? animation.frame(at: index)
            first = nil
            if own != nil { latest = index }
            guard let bitmap = own ?? animation.frame(at: latest), bitmap.size == size else {
                throw .encodingFailed(type, detail: "frame \(index) has another size than the first one")
            }
            return bitmap
        }
        return try codec.encode(frames, options)
    }

    /// Encodes an animation with a quality of 0…1, or without loss.
    package static func encode(
        _ animation: any ImageFrameSource,
        as type: ImageContentType,
        quality: Double = 1,
        lossless: Bool = false
    ) throws(ImagingError) -> Data {
        try encode(animation, as: type, ImageEncodingOptions(quality: quality, lossless: lossless))
    }
}
