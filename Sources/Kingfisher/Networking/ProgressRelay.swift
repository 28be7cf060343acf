// Brings progress from a transport's thread to the main queue, as often as a screen shows it. For all loads.

import KFSupport

/// Brings progress to the main queue; no report begins there once the load has finished.
///
/// A report that waits for the main queue takes the place of the one before it, and reports come no faster than a
/// screen shows them, but for the last one, with all bytes; that one is left out if the load ends before the main queue
/// is free. On the main queue the completion comes last; on another it may come while the last progress is reported.
final class ProgressRelay: Sendable {
    private struct State: Sendable {
        var isFinished = false
        /// The load whose progress it is; no report begins once that is cancelled.
        var task: DownloadTask?
        /// The report that waits for the main queue.
        var waiting: (received: Int64, expected: Int64)?
        /// When the report before was queued.
        var last: ContinuousClock.Instant?
    }

    /// Screens show 60 images a second.
    private static let interval = Duration.milliseconds(16)

    private let block: DownloadProgressBlock
    private let state = Locked(State())

    init?(_ block: DownloadProgressBlock?) {
        guard let block else { return nil }
        self.block = block
    }

    func report(_ piece: ReceivedPiece) { report(received: piece.received, expected: piece.expected) }

    func report(received: Int64, expected: Int64) {
        guard expected >= 0 else { return }
        let isNew = state.withLock { state in
            let now = ContinuousClock.now
            let isLast = received == expected
            if state.waiting == nil, !isLast, let last = state.last, now - last < Self.interval { return false }
            defer { (state.waiting, state.last) = ((received, expected), now) }
            return state.waiting == nil
        }
        guard isNew else { return }
        CallbackQueue.mainAsync.execute { [self] in
            let report = state.withLock { state in
                defer { state.waiting = nil }
                return state.isFinished || state.task?.isCancelled == true ? nil : state.waiting
            }
            if let report { MainActor.assumeIsolated { block(report.received, report.expected) } }
        }
    }

    func follow(_ task: DownloadTask) { state.withLock { $0.task = task } }

    func finish() { state.withLock { $0.isFinished = true } }
}

extension ProgressRelay: LoadObserver {
    func didReceive(_ piece: ReceivedPiece) { report(piece) }
}
