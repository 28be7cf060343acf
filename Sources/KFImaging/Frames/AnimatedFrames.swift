// The frames of encoded data as a source that anybody may ask. Knows no format.

package import Foundation
import KFSupport

/// Frames that are decoded when they are asked for, by one decoder at a time.
package final class AnimatedFrames: ImageFrameSource {
    /// The encoded bytes.
    package let data: Data?
    package let frameCount: Int
    package let loopCount: UInt
    /// Whether the data ends before the last of the frames it announces.
    let isCut: Bool
    /// The size of every frame in pixels, as displayed.
    package let size: PixelSize
    /// How the compositor's pictures are to be turned.
    private let orientation: Orientation
    private let delays: [TimeInterval]
    /// The lock is the turn at the decoder, which one thread at a time may use; so it is held while a frame is decoded.
    ///
    /// Nothing but our own decoders runs under it: the frames of other people's coders are never wrapped in this class. Those
    /// who do not want to wait for one another make copies.
    private let compositor: Locked<FrameCompositor>

    /// Frames of a decoder that nobody else uses.
    init(_ decoder: any FrameDecoder, data: Data?) {
        self.data = data
        frameCount = decoder.frames.count
        loopCount = decoder.loopCount
        isCut = decoder.isCut
        orientation = decoder.orientation
        size = orientation.isTransposing ? decoder.canvas.transposed : decoder.canvas
        delays = decoder.frames.map(\.delay)
        compositor = Locked(FrameCompositor(decoder))
    }

    /// One frame, not turned yet.
    ///
    /// - Throws: ``ImagingError`` when nothing of it can be decoded.
    private func picture(at index: Int) throws(ImagingError) -> Bitmap {
        try compositor.withLock { compositor throws(ImagingError) in try compositor.frame(at: index) }
    }

    package func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard delays.indices.contains(index) else { return nil }
        // The limit is on the longer side, whichever that is; small pictures are turned sooner.
        let picture = (try? picture(at: index))?.limited(to: maxSize)
        return try? picture?.oriented(from: orientation)
    }

    package func duration(at index: Int) -> TimeInterval { delays.indices.contains(index) ? delays[index] : 0 }

    /// Frames of the same bytes, decoded by another decoder; these themselves if that cannot be made any more.
    package func copy() -> AnimatedFrames {
        let decoder = compositor.withLock { $0.decoder }
        guard let another = try? decoder.independent() else { return self }
        return AnimatedFrames(another, data: data)
    }
}

extension Bitmap {
    /// The picture made so small that its longer side is at most that of a size in pixels.
    ///
    /// - Parameter maxSize: Nil and zero limit nothing.
    /// - Returns: The picture, itself when it is small enough; nil when there is not enough memory.
    package func limited(to maxSize: CGSize?) -> Bitmap? {
        let limit = Geometry.thumbnailLimit(points: maxSize ?? .zero, scale: 1)
        return try? resampled(to: Geometry.thumbnail(of: size, limit: limit))
    }
}

extension Codecs {
    /// The frames of an animation, none of them decoded yet; nil for stills.
    static func builtInFrameSource(
        of data: Data,
        limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any ImageFrameSource)? {
        try frames(of: data, limits: limits).map { AnimatedFrames($0, data: data) }
    }
}
