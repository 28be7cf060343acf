// The handle on one load, how a load with a completion handler runs, and with which task priority. For all methods that
// return a handle; all loads take their priority from here.

import KFSupport

/// Called with the task of a download that replaced another one within one load; nil when no download is involved.
public typealias DownloadTaskUpdatedBlock = @Sendable (_ newTask: DownloadTask?) -> Void

/// A handle on a load that was started by a method with a completion handler.
///
/// It stays the same through retries, alternative sources and waiting: ``cancel()`` ends whatever is going on.
public final class DownloadTask: Sendable {
    private enum Phase: Sendable {
        /// Nothing runs yet that could be cancelled.
        case starting
        case running(Task<Void, Never>)
        case cancelled
        case finished
    }

    private struct State: Sendable {
        var phase = Phase.starting
        var origin: LoadOrigin?
        var subscription: (any TaskSubscription)?
        /// The priority it was given since it began.
        var priority: Float?
    }

    private let state = Locked(State())

    init() {}

    private var transfer: (task: SessionDataTask, token: SessionDataTask.CancelToken)? {
        if case .transfer(let task, let token) = state.withLock({ $0.origin }) { (task, token) } else { nil }
    }

    /// The transfer this load waits for, which other loads may share; nil until there is one, and for providers.
    public var sessionTask: SessionDataTask? { transfer?.task }

    /// Distinguishes this load from the others that share its transfer.
    public var cancelToken: SessionDataTask.CancelToken? { transfer?.token }

    /// Whether a transfer has been created for this load, or it is being served by a provider.
    public var isInitialized: Bool { state.withLock { $0.origin != nil } }

    /// Cancels this load; others that share its transfer go on.
    ///
    /// Safe at any time, from any thread. Before the transfer began it never will; after the load has finished
    /// nothing happens. The load's completion handler is called with a cancellation error.
    public func cancel() {
        let running = state.withLock { state -> Task<Void, Never>? in
            switch state.phase {
            case .starting:
                state.phase = .cancelled
                return nil
            case .running(let task):
                state.phase = .cancelled
                return task
            case .cancelled, .finished: return nil
            }
        }
        running?.cancel()  // outside the lock: the user's handlers run here
    }

    /// Whether the load was cancelled before it finished.
    var isCancelled: Bool { if case .cancelled = state.withLock({ $0.phase }) { true } else { false } }

    /// Changes how urgent this load is, from 0 to 1; others that share its work keep their priorities.
    ///
    /// It holds for further attempts, too.
    func setPriority(_ priority: Float) {
        let subscription = state.withLock { state in
            state.priority = priority
            return state.subscription
        }
        subscription?.setPriority(priority)
    }

    /// Runs a load in a task that this handle cancels: **now, on this thread**, until it first has to wait.
    ///
    /// The completion handler is not called before this returns, unless the value says so and was found without leaving
    /// this thread.
    /// - Parameters:
    ///   - priority: How urgent the load is, from 0 to 1; nil means as urgent as the calling code.
    ///   - queue: Where the completion handler is called, outside all locks.
    ///   - completionHandler: Called with the result.
    ///   - load: Loads something.
    ///   - endsAtOnce: Whether a value that was found on this thread is handed over before this returns.
    /// - Returns: Whether it goes on: false when the load has ended.
    @discardableResult
    func start<Value: Sendable>(
        priority: Float? = nil,
        on queue: CallbackQueue,
        _ completionHandler: (@Sendable (Result<Value, KingfisherError>) -> Void)?,
        _ load: @escaping @Sendable () async throws(KingfisherError) -> Value,
        endsAtOnce: @escaping @Sendable (Value) -> Bool = { _ in false }
    ) -> Bool {
        let call = CallEnd()
        let task = Task.immediate(priority: priority.map { TaskPriority(downloadPriority: $0) }) { [self] in
            let result = await Result(catching: load)
            let isAtOnce = if case .success(let value) = result { endsAtOnce(value) } else { false }
            if !isAtOnce || !call.isOnThread { await call.wait() }
            finish()
            if let completionHandler { queue.execute { completionHandler(result) } }
        }
        let isOver = state.withLock { state in
            switch state.phase {
            case .starting: state.phase = .running(task)
            case .cancelled: task.cancel()
            case .running: break
            case .finished: return true
            }
            return false
        }
        call.arrive()
        return !isOver
    }

    /// The value of a load that this handle cancels, too, and not only the calling task.
    func value<Value: Sendable>(
        of load: @escaping @Sendable () async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        let result = Promise<Result<Value, KingfisherError>>()
        start(on: .untouch, { result.fulfil($0) }, load)
        return try await result.value { cancel() }.get()
    }

    private func finish() {
        state.withLock { state in
            if case .cancelled = state.phase { return }
            state.phase = .finished
        }
    }
}

extension DownloadTask: LoadObserver {
    func didSubscribe(_ subscription: any TaskSubscription) {
        let priority = state.withLock { state in
            state.subscription = subscription
            return state.priority
        }
        if let priority { subscription.setPriority(priority) }
    }
    func didStart(from origin: LoadOrigin) { state.withLock { $0.origin = origin } }
}

extension TaskPriority {
    /// The priority of the tasks of a load: background below 0.25, utility below 0.5, medium below 0.75, and high.
    ///
    /// - Parameter downloadPriority: From 0 to 1; NaN counts as medium.
    init(downloadPriority: Float) {
        self =
            switch downloadPriority {
            case ..<0.25: .background
            case ..<0.5: .utility
            case 0.75...: .high
            default: .medium
            }
    }
}
