// The threads that the frames of animations are decoded on.

import Dispatch
import KFSupport

/// Threads for decoding frames: as many as processors, however many animations there are.
///
/// On Linux the global queues of Dispatch run on the threads of the cooperative pool; serial queues without a target
/// have threads of their own.
enum FrameQueues {
    /// One serial queue for each processor; these are the targets of the animations' queues.
    static let queues = (0..<UsableProcessors.count).map { number in
        DispatchQueue(label: "kf.animation.\(number)", qos: .userInitiated)
    }
    private static let next = Locked(0)

    /// A serial queue for the frames of one animation; it shares one of the threads with others.
    static func makeQueue() -> DispatchQueue {
        let number = next.withLock { next in
            defer { next = (next + 1) % queues.count }
            return next
        }
        return DispatchQueue(label: "kf.animation", target: queues[number])
    }
}
