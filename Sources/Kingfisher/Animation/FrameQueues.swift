// On which threads the frames of players are decoded. Knows no frames.

import Dispatch
import Foundation
import KFSupport

/// Threads for decoding frames: as many as cores, however many animations there are.
///
/// They are not those of the cooperative pool, as those behind the global queues of Dispatch are on Linux: serial
/// queues by themselves have threads of their own.
enum FrameQueues {
    /// One serial queue a core, which are the targets of the players' queues.
    static let queues = (0..<ProcessInfo.processInfo.activeProcessorCount).map { number in
        DispatchQueue(label: "kf.animation.\(number)", qos: .userInitiated)
    }
    private static let next = Locked(0)

    /// A serial queue for the frames of one player; it shares one of the threads with others.
    static func makeQueue() -> DispatchQueue {
        let number = next.withLock { next in
            defer { next = (next + 1) % queues.count }
            return next
        }
        return DispatchQueue(label: "kf.animation", target: queues[number])
    }
}
