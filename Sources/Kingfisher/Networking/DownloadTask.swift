// The handle on one load, and how a load with a completion handler runs. For all methods that return a handle.

import KFSupport

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
        var service: LoadService?
    }

    private let state = Locked(State())

    init() {}

    private var transfer: (task: SessionDataTask, token: SessionDataTask.CancelToken)? {
        if case .transfer(let task, let token) = state.withLock({ $0.service }) { (task, token) } else { nil }
    }

    /// The transfer this load waits for, which other loads may share; nil until there is one, and for providers.
    public var sessionTask: SessionDataTask? { transfer?.task }

    /// Distinguishes this load from the others that share its transfer.
    public var cancelToken: SessionDataTask.CancelToken? { transfer?.token }

    /// Whether a transfer has been created for this load, or it is being served by a provider.
    public var isInitialized: Bool { state.withLock { $0.service != nil } }

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

    /// The service of the load is known.
    func serve(_ service: LoadService) { state.withLock { $0.service = service } }

    /// Runs a load in a task that this handle cancels: **now, on this thread**, until it first has to wait.
    ///
    /// The completion handler is not called before this returns, unless the value says so.
    /// - Parameters:
    ///   - priority: How urgent the load is, from 0 to 1; nil means as urgent as the calling code.
    ///   - load: Loads something.
    ///   - endsAtOnce: Whether a value that is there before this returns is handed over before, too.
    ///   - completion: Called with the value, outside all locks.
    /// - Returns: Whether it goes on: false when the completion handler has been called.
    @discardableResult
    func start<Value: Sendable>(
        priority: Float? = nil,
        _ load: @escaping @Sendable () async -> Value,
        endsAtOnce: @escaping @Sendable (Value) -> Bool = { _ in false },
        completion: @escaping @Sendable (Value) -> Void
    ) -> Bool {
        let returned = Promise<Void>()
        let task = Task.immediate(priority: priority.map { TaskPriority(downloadPriority: $0) }) { [self] in
            let value = await load()
            if !endsAtOnce(value) { await returned.value }
            finish()
            completion(value)
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
        returned.fulfil(())
        return !isOver
    }

    /// The value of a load that this handle cancels, too, and not only the calling task.
    func value<Value: Sendable>(of load: @escaping @Sendable () async -> Value) async -> Value {
        let value = Promise<Value>()
        start(load) { value.fulfil($0) }
        return await withTaskCancellationHandler {
            await value.value
        } onCancel: {
            cancel()
        }
    }

    private func finish() {
        state.withLock { state in
            if case .cancelled = state.phase { return }
            state.phase = .finished
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// Whether the request modifier is to be given a handle, so that an async load needs one, too.
    var needsHandle: Bool { requestModifier?.onDownloadTaskStarted != nil }

    /// The options of a download with a handle, which its request modifier is given.
    ///
    /// A load of the manager has a handle of its own: then that is the one to be given.
    func handled(by handle: DownloadTask) -> Self {
        var options = self
        options.hooks.handle = handle
        if hooks.served == nil, let started = requestModifier?.onDownloadTaskStarted {
            options.hooks.served = { _ in started(handle) }
        }
        return options
    }
}
