// Brings progress from a transport's thread to the main queue. For downloads and the manager.

import KFSupport

/// Brings progress to the main queue; no report begins there once the load has finished.
///
/// So on the main queue the completion comes last; on another it may come while the last progress is reported.
final class ProgressRelay: Sendable {
    private let block: DownloadProgressBlock
    private let isFinished = Locked(false)
    /// The load whose progress it is; no report begins once that is cancelled.
    private let task = Locked<DownloadTask?>(nil)

    init?(_ block: DownloadProgressBlock?) {
        guard let block else { return nil }
        self.block = block
    }

    func report(_ received: Int64, of expected: Int64) {
        guard expected >= 0 else { return }
        CallbackQueue.mainAsync.execute { [self] in
            guard !isFinished.withLock({ $0 }), task.withLock({ $0 })?.isCancelled != true else { return }
            MainActor.assumeIsolated { block(received, expected) }
        }
    }

    func follow(_ task: DownloadTask) { self.task.withLock { $0 = task } }

    func finish() { isFinished.withLock { $0 = true } }
}
