// What there is to show: one picture, or the frames of an animation. Knows no terminal.

import Foundation
import KFImaging
import Kingfisher

/// The pictures of a source, made when they are asked for.
struct ShowFrames: Sendable {
    /// The first frame, or all there is.
    let picture: Image
    /// How many there are.
    let count: Int
    private let source: (any ImageFrameSource)?

    /// - Parameters:
    ///   - image: A picture or an animation.
    ///   - limit: At most this many frames are shown.
    init(_ image: Image, limit: Int) {
        picture = image.orientedUp
        source = limit > 1 ? image.kf.frameSource : nil
        count = max(1, min(limit, source?.frameCount ?? 1))
    }

    /// How often the file wants them to be played; 0 means for ever.
    var loopCount: UInt { source?.loopCount ?? 1 }

    /// One frame, blocking the thread; nil when it cannot be had.
    func picture(at index: Int) -> Image? {
        guard let source else { return picture }
        return source.frame(at: index).map { Image(cgImage: $0) }
    }

    /// How long a frame is shown, in seconds.
    func duration(at index: Int) -> Double { source?.duration(at: index) ?? 0 }
}
