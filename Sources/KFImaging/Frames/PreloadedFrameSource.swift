// Frames that are there already, as a source. Decodes nothing.

package import Foundation

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
}
