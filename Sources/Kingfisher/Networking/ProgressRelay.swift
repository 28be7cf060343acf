// Brings progress from a transport's thread to the main queue, as often as a screen shows it. For all loads.

import Dispatch
import KFSupport

/// Brings progress to the main queue, before the completion handler of its load.
///
/// A report that waits for the main queue takes the place of the one before it, and reports come no faster than a
/// screen shows them, but for the last one, with all bytes.
///
/// The last report is in front of a completion on the main queue. A completion on another queue, and the end of an
/// async function, waits until the report has been made: for two seconds at most, since the main thread may be blocked
/// until the load ends, and not at all as long as that is so. A report that has not begun by then is dropped, and so
/// are those of a load that was cancelled.
final class ProgressRelay: Sendable {
    private struct State: Sendable {
        var isFinished = false
        /// The load whose progress it is; no report begins once that is cancelled.
        var task: DownloadTask?
        /// The report that waits for the main queue.
        var waiting: (received: Int64, expected: Int64)?
        /// Fulfilled when the last report that was queued has been made.
        var isDelivered: Promise<Bool>?
        /// When the report before was queued.
        var last: ContinuousClock.Instant?
    }

    /// Screens show 60 images a second.
    private static let interval = Duration.milliseconds(16)
    /// Whether the main queue has run a report since one was waited for in vain.
    private static let isMainServed = Locked(true)

    /// The function that is called with the progress.
    enum Receiver: Sendable {
        /// Once at a time, on the main queue, as often as a screen shows it.
        case onMain(DownloadProgressBlock)
        /// At once, on the transport's thread.
        case directly(@Sendable (_ received: Int64, _ expected: Int64) -> Void)
    }

    private let receiver: Receiver
    private let queue: CallbackQueue?
    private let state = Locked(State())

    /// A relay to a receiver; nil if there is none.
    /// - Parameters:
    ///   - receiver: The function that is called with the progress.
    ///   - queue: Where the load's completion handler is called; nil for an async function.
    init?(_ receiver: Receiver?, before queue: CallbackQueue?) {
        guard let receiver else { return nil }
        (self.receiver, self.queue) = (receiver, queue)
    }

    /// A relay to a block on the main queue; nil if there is none.
    convenience init?(_ block: DownloadProgressBlock?, before queue: CallbackQueue?) {
        self.init(block.map { Receiver.onMain($0) }, before: queue)
    }

    func report(_ piece: ReceivedPiece) { report(received: piece.received, expected: piece.expected) }

    func report(received: Int64, expected: Int64) {
        guard received >= 0, expected > 0 else { return }
        switch receiver {
        case .directly(let report): report(received, expected)
        case .onMain(let block): reportOnMain(received, expected, to: block)
        }
    }

    private func reportOnMain(_ received: Int64, _ expected: Int64, to block: @escaping DownloadProgressBlock) {
        let delivered = Promise<Bool>()
        let isNew = state.withLock { state in
            let now = ContinuousClock.now
            let isLast = received == expected
            if state.waiting == nil, !isLast, let last = state.last, now - last < Self.interval { return false }
            let isNew = state.waiting == nil
            (state.waiting, state.last) = ((received, expected), now)
            if isNew { state.isDelivered = delivered }
            return isNew
        }
        guard isNew else { return }
        CallbackQueue.mainAsync.execute { [self] in
            let report = state.withLock { state in
                defer { state.waiting = nil }
                return state.isFinished || state.task?.isCancelled == true ? nil : state.waiting
            }
            if let report { MainActor.assumeIsolated { block(report.received, report.expected) } }
            delivered.fulfil(true)
            Self.isMainServed.withLock { $0 = true }
        }
    }

    func watch(_ task: DownloadTask) { state.withLock { $0.task = task } }

    /// The load has ended; once this returns, its completion may come.
    func finish<Value>(_ result: Result<Value, KingfisherError>) async {
        if case .failure(let error) = result, error.isCancelled {
            return state.withLock { $0.isFinished = true }
        }
        guard queue?.identity != .main else { return }  // the completion comes behind the reports
        if let isDelivered = state.withLock({ $0.isDelivered }) { await wait(for: isDelivered) }
        state.withLock { $0.isFinished = true }
    }

    private func wait(for isDelivered: Promise<Bool>) async {
        guard isDelivered.valueIfFulfilled == nil, Self.isMainServed.withLock({ $0 }) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2)) { isDelivered.fulfil(false) }
        let isInTime = await isDelivered.value { isDelivered.fulfil(false) }
        if !isInTime, !Task.isCancelled { Self.isMainServed.withLock { $0 = false } }
    }
}

extension ProgressRelay: LoadObserver {
    func didReceive(_ piece: ReceivedPiece) { report(piece) }
}
