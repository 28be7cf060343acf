// The frames that `kf show` shows: one image, or those of an animation.

import Foundation
import KFImaging
import Kingfisher

/// The frames of a source, decoded when they are asked for.
struct ShowFrames: Sendable {
    /// The first frame, or the only one.
    let image: Image
    /// The number of frames.
    let count: Int
    private let source: (any ImageFrameSource)?

    /// - Parameters:
    ///   - image: An image or an animation.
    ///   - limit: At most this many frames are shown.
    init(_ image: Image, limit: Int) {
        self.image = image.orientedUp
        source = limit > 1 ? image.kf.frameSource : nil
        count = max(1, min(limit, source?.frameCount ?? 1))
    }

    /// How often the file asks to play them; 0 means without end.
    var loopCount: UInt { source?.loopCount ?? 1 }

    /// Decodes one frame, blocking the thread; nil when it cannot be decoded.
    func image(at index: Int) -> Image? {
        guard let source else { return image }
        return source.frame(at: index).map { Image(cgImage: $0) }
    }

    /// The duration of a frame, in seconds.
    func duration(at index: Int) -> Double { source?.duration(at: index) ?? 0 }
}
