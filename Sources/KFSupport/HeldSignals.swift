// Signals that wait until something is done. Knows nothing of what that is.

import CKFLinux
import Foundation

/// Signals of this process that take effect only after something was done.
///
/// One thread sleeps until one arrives, does what was asked for, and then lets the signal have the effect it had before:
/// a handler that was there is called, or the process dies of the signal as its parent expects. A signal that comes once
/// more meanwhile takes effect at once.
package enum HeldSignals {
    private static let actions = Locked([Int32: @Sendable () -> Void]())

    /// Holds signals, and does `action` when one arrives, on a thread of its own.
    ///
    /// A signal that is ignored stays so. One that is held already keeps its first action.
    ///
    /// - Parameters:
    ///   - signals: Their numbers.
    ///   - action: What is done before the signal takes effect.
    /// - Returns: Those that are held, now or already.
    @discardableResult
    package static func hold(_ signals: [Int32], until action: @escaping @Sendable () -> Void) -> [Int32] {
        guard let descriptor = writer else { return [] }
        return signals.filter { signal in
            let isNew = actions.withLock { actions in
                guard actions[signal] == nil else { return false }
                actions[signal] = action
                return true
            }
            guard isNew else { return true }
            if kf_hold_signal(signal, descriptor) == 0 { return true }
            actions.withLock { $0[signal] = nil }
            return false
        }
    }

    /// Where the signal handler writes; nil when the process had no descriptors left.
    ///
    /// Made once and never closed: a signal may come at any time.
    private static let writer: Int32? = {
        var ends: [Int32] = [0, 0]
        guard kf_pipe(&ends) == 0 else { return nil }
        let reader = ends[0]
        let thread = Thread {
            kf_name_thread("kf.signals")
            listen(reader)
        }
        thread.stackSize = 512 << 10
        thread.start()
        return ends[1]
    }()

    private static func listen(_ reader: Int32) {
        var number: UInt8 = 0
        while true {
            let count = read(reader, &number, 1)
            if count == 1 {
                actions.withLock { $0[Int32(number)] }?()
                kf_release_signal(Int32(number))
            } else if errno != EINTR {
                return
            }
        }
    }
}
