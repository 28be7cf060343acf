// The frames of encoded data, decoded on demand from any thread; and frames that are there already.

package import Foundation
import KFSupport

/// Frames that are decoded when they are asked for, by one decoder at a time.
package final class OnDemandFrameSource: ImageFrameSource {
    /// The encoded bytes.
    package let data: Data?
    package let frameCount: Int
    package let loopCount: UInt
    /// Whether the data ends before the last of the frames it announces.
    private let isTruncated: Bool
    /// The size of every frame in pixels, as displayed.
    package let size: PixelSize
    /// How the compositor's images are to be turned.
    private let orientation: Orientation
    private let delays: [TimeInterval]
    /// The lock is held while a frame is decoded, since one thread at a time may use the decoder.
    ///
    /// Only the built-in decoders run under it: frames of custom coders are never wrapped in this class. Callers that
    /// do not want to wait for one another make copies.
    private let compositor: Locked<FrameCompositor>

    /// Frames of a decoder that has no other user.
    init(_ decoder: any FrameDecoder, data: Data?) {
        self.data = data
        frameCount = decoder.frames.count
        loopCount = decoder.loopCount
        isTruncated = decoder.isTruncated
        orientation = decoder.orientation
        size = orientation.isTransposing ? decoder.canvas.transposed : decoder.canvas
        delays = decoder.frames.map(\.delay)
        compositor = Locked(FrameCompositor(decoder))
    }

    /// One frame, not turned yet.
    ///
    /// - Throws: ``ImagingError`` when nothing of it can be decoded.
    private func bitmap(at index: Int) throws(ImagingError) -> Bitmap {
        try compositor.withLock { compositor throws(ImagingError) in try compositor.frame(at: index) }
    }

    package func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard delays.indices.contains(index) else { return nil }
        // The limit is on the longer side, whichever that is; turning small images is less work.
        let bitmap = (try? bitmap(at: index))?.limited(to: maxSize)
        return try? bitmap?.oriented(from: orientation)
    }

    package var isDamaged: Bool { isTruncated || compositor.withLock { $0.isDamaged } }

    package func duration(at index: Int) -> TimeInterval { delays.indices.contains(index) ? delays[index] : 0 }

    /// Frames of the same bytes, decoded by another decoder; this source itself if no other decoder can be made.
    package func copy() -> OnDemandFrameSource {
        let decoder = compositor.withLock { $0.decoder }
        guard let another = try? decoder.independent() else { return self }
        return OnDemandFrameSource(another, data: data)
    }
}

extension Bitmap {
    /// The image made so small that its longer side is at most that of a size in pixels.
    ///
    /// - Parameter maxSize: Nil and zero limit nothing.
    /// - Returns: The image, itself when it is small enough; nil when there is not enough memory.
    package func limited(to maxSize: CGSize?) -> Bitmap? {
        let limit = Geometry.thumbnailLimit(points: maxSize ?? .zero, scale: 1)
        return try? resampled(to: Geometry.thumbnail(of: size, limit: limit))
    }
}

/// The frames of a preloaded animation.
package struct PreloadedFrameSource: ImageFrameSource {
    private let frames: PreloadedFrames

    package init(_ frames: PreloadedFrames) { self.frames = frames }

    package var data: Data? { nil }
    package var frameCount: Int { frames.images.count }
    package var loopCount: UInt { frames.loopCount }

    package func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard frames.images.indices.contains(index) else { return nil }
        return frames.images[index].orientedUp.cgImage?.limited(to: maxSize)
    }

    package func duration(at index: Int) -> TimeInterval {
        frames.delays.indices.contains(index) ? frames.delays[index] : 0
    }
}

extension Image {
    /// The frames, decoded on demand or already; nil for stills.
    package var frames: (any ImageFrameSource)? {
        let metadata = metadata
        return metadata.frameSource ?? metadata.preloaded.map { PreloadedFrameSource($0) }
    }

    /// Whether a part of the image is missing, or of a frame that has been decoded by now.
    package var hasDamagedFrames: Bool { isDamaged || frames?.isDamaged ?? false }
}
