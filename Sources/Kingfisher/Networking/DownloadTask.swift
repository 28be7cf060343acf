// The handle on one load. Knows how to cancel it at any time, not what it does.

import KFSupport

/// A handle on a load that was started by a method with a completion handler.
///
/// It stays the same through retries, alternative sources and waiting: ``cancel()`` ends whatever is going on.
public final class DownloadTask: Sendable {
    private struct State: Sendable {
        var cancellation: (@Sendable () -> Void)?
        var isCancelled = false
        var isFinished = false
        var isProviderLoad = false
        var sessionTask: SessionDataTask?
        var cancelToken: SessionDataTask.CancelToken?
    }

    private let state = Locked(State())

    init() {}

    /// The transfer this load waits for, which other loads may share; nil until there is one, and for providers.
    public var sessionTask: SessionDataTask? { state.withLock { $0.sessionTask } }

    /// What distinguishes this load from the others that share its transfer.
    public var cancelToken: SessionDataTask.CancelToken? { state.withLock { $0.cancelToken } }

    /// Whether a transfer has been created for this load, or it is being served by a provider.
    public var isInitialized: Bool { state.withLock { $0.sessionTask != nil || $0.isProviderLoad } }

    /// Cancels this load; others that share its transfer go on.
    ///
    /// Safe at any time, from any thread. Before the transfer began it never will; after the load has settled
    /// nothing happens. The load's completion handler is called with a cancellation error.
    public func cancel() {
        let cancellation = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isFinished else { return nil }
            state.isCancelled = true
            return state.cancellation
        }
        cancellation?()  // outside the lock: the user's handlers run here
    }

    /// Whether the load was cancelled before it settled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the load has settled.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Sets how the load is stopped from now on; a load that was cancelled before is stopped at once.
    func onCancel(_ cancellation: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isFinished { state.cancellation = cancellation }
            return state.isCancelled && !state.isFinished
        }
        if isCancelled { cancellation() }
    }

    /// Sets the transfer the load waits for.
    func link(to sessionTask: SessionDataTask, token: SessionDataTask.CancelToken) {
        state.withLock {
            $0.sessionTask = sessionTask
            $0.cancelToken = token
        }
    }

    /// Notes that a provider serves the load.
    func linkToProvider() { state.withLock { $0.isProviderLoad = true } }

    /// Notes that the load has settled: cancelling does nothing from now on.
    func finish() {
        state.withLock {
            $0.isFinished = true
            $0.cancellation = nil
        }
    }

    /// Starts `operation` **now, on this thread**: it leaves the thread only when it first has to wait.
    static func start(_ operation: @escaping @Sendable (DownloadTask) async -> Void) -> DownloadTask {
        let handle = DownloadTask()
        let task = Task.immediate {
            await operation(handle)
            handle.finish()
        }
        handle.onCancel { task.cancel() }
        return handle
    }
}
