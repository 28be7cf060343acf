// When a GIF shows which frames of an animation; for its encoder.

import Foundation

/// The frames of an animation that a GIF has, and how long it shows each of them.
///
/// Delays are whole hundredths of a second, from 2 (players replace shorter delays) to 65,535. Together they last as
/// long as the animation. If it has more frames than fit into that time, some are left out, but never the first or the
/// last. Where a delay is longer than 65,535, the next frame begins earlier and is shown until its own end.
struct GIFTiming {
    /// The least delay that players take as it is, in hundredths of a second.
    private static let shortest = 2

    /// A frame, and when it begins to be shown, in hundredths of a second.
    private typealias Start = (index: Int, time: Int)

    /// The frames, each with its delay in hundredths of a second.
    let frames: [(index: Int, delay: UInt16)]

    /// The frames to be written.
    ///
    /// - Parameters:
    ///   - delays: How long each frame of the animation is shown, in seconds; 0 where that is not known.
    ///   - keepsFrames: Whether no frame is left out, even if the animation takes longer then.
    init(_ delays: [TimeInterval], keepsFrames: Bool) {
        var ends: [Double] = []
        for delay in delays { ends.append((ends.last ?? 0) + (delay > 0 ? delay * 100 : Double(Self.shortest))) }
        let starts = keepsFrames ? Self.allStarts(ends) : Self.starts(ends)
        let end = max(Int((ends.last ?? 0).rounded()), (starts.last?.time ?? 0) + Self.shortest)
        var written = 0
        frames = starts.enumerated().map { place, start in
            let next = place + 1 < starts.count ? starts[place + 1].time : end
            let delay = UInt16(clamping: next - written)
            written += Int(delay)
            return (start.index, delay)
        }
    }

    /// When each frame starts if all are shown.
    ///
    /// - Parameter ends: When the frames of the animation end.
    /// - Returns: The frames.
    private static func allStarts(_ ends: [Double]) -> [Start] {
        var starts: [Start] = []
        for index in ends.indices {
            starts.append((index, earliest(after: starts, index == 0 ? 0 : ends[index - 1])))
        }
        return starts
    }

    /// When the frames start that can be shown within the time of the animation.
    ///
    /// - Parameter ends: When the frames of the animation end.
    /// - Returns: The frames.
    private static func starts(_ ends: [Double]) -> [Start] {
        guard let end = ends.last else { return [] }
        var starts: [Start] = [(0, 0)]
        for index in ends.indices.dropFirst().dropLast() {
            let time = earliest(after: starts, ends[index - 1])
            // A frame whose time is over is left out; the sums have small errors.
            if Double(time) + 0.001 < ends[index] { starts.append((index, time)) }
        }
        guard ends.count > 1 else { return starts }
        // The last frame is shown within the time as well; others make room for it.
        let last = min(earliest(after: starts, ends[ends.count - 2]), Int(end.rounded()) - shortest)
        while starts.count > 1, starts[starts.count - 1].time + shortest > last { starts.removeLast() }
        starts.append((ends.count - 1, max(last, shortest)))
        return starts
    }

    /// The time from which a frame can be shown that is due at some time.
    private static func earliest(after starts: [Start], _ due: Double) -> Int {
        max(Int(due.rounded()), starts.last.map { $0.time + shortest } ?? 0)
    }
}
