// The progress of loads that run side by side. Knows nothing of what is loaded.

import KFSupport

/// Keeps a progress bar up to date from any thread.
final class ProgressReport: Sendable {
    private let bar: Locked<ProgressBar>
    private let console: Console

    init(total: Int, console: Console) {
        bar = Locked(ProgressBar(total: total))
        self.console = console
        show { _ in }
    }

    /// Notes what has arrived of one load.
    func note(_ load: Int, received: Int64, expected: Int64) {
        show { $0.note(load, received: received, expected: expected) }
    }

    /// Notes that one load has ended.
    func end(_ load: Int, failed: Bool) { show { $0.end(load, failed: failed) } }

    private func show(_ change: (inout ProgressBar) -> Void) {
        let bar = bar.withLock { bar in
            change(&bar)
            return bar
        }
        console.show(bar)
    }
}
