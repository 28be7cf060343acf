// The progress of loads that run side by side, shown as one bar.

import KFSupport

/// Keeps a progress bar up to date from any thread.
final class ProgressReport: Sendable {
    private let bar: Locked<ProgressBar>
    private let console: Console
    private let start = ContinuousClock.now

    init(total: Int, console: Console) {
        bar = Locked(ProgressBar(total: total))
        self.console = console
        show { _ in }
    }

    /// Records the bytes received by one load.
    func record(_ load: Int, received: Int64, expected: Int64) {
        show { $0.record(load, received: received, expected: expected) }
    }

    /// Records that one load has ended.
    func end(_ load: Int, failed: Bool) { show { $0.end(load, failed: failed) } }

    /// Notes how many loads have ended so far, and how many of them failed.
    func note(finished: Int, failed: Int) { show { ($0.finished, $0.failed) = (finished, failed) } }

    private func show(_ change: (inout ProgressBar) -> Void) {
        let bar = bar.withLock { bar in
            change(&bar)
            bar.elapsed = start.duration(to: .now) / .seconds(1)
            return bar
        }
        console.show(bar)
    }
}
