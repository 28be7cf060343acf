// A task that runs once for all who want the same at one time: the load of an image, the call of a provider, a
// transfer.

import KFSupport

/// A task and its subscribers.
///
/// The first subscriber starts it, the last one to leave stops it. It is over when its last subscriber has left, or has
/// finished with the value. A subscriber leaves when its own task is cancelled, or when the downloader cancels a URL;
/// from that moment it is not counted.
///
/// It has the highest priority of those who are left, and is escalated when a more urgent one joins.
///
/// A value that has arrived stays as long as one of its subscribers works with it. A load that began before it arrived
/// is given it, too; one that began later starts a task of its own, since the key may have been removed in between.
final class SharedTask<Key: Hashable & Sendable, Value: Sendable>: LoadObserver {
    typealias Operation = @Sendable (SharedTask) async throws(KingfisherError) -> Value

    private enum Phase: Sendable {
        /// Subscribers have joined; the operation has not begun.
        case waiting
        case running
        /// What the value is made of is there since that time: too late for loads that begin now.
        case arriving(at: ContinuousClock.Instant)
        /// The value is there, and the subscribers that are left work with it.
        case arrived(Value, at: ContinuousClock.Instant)
        case finished
    }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// In the order of joining, each with its number: 0 for the first, then 1, and so on.
        var subscribers: [(number: Int, Subscriber<Value>)] = []
        var joined = 0
        /// Below all priorities until there is a subscriber.
        var priority: Float = -1
        var task: Task<Void, Never>?
        /// Whether the operation begins, and `task` is not known yet.
        var isStarting = false
        /// What is called when the operation has been cancelled that was beginning.
        var whenStopped: (@Sendable () -> Void)?
        var origin: LoadOrigin?
        /// Its own place among those that share a transfer.
        var subscription: (any TaskSubscription)?
        var confirmation: CacheMetadata?
        /// The error it was stopped with.
        var failure: KingfisherError?

        var isWaitedFor: Bool {
            switch phase {
            case .waiting, .running, .arriving: true
            case .arrived, .finished: false
            }
        }

        /// Whether all who wait were cancelled, and have yet to leave.
        var isAbandoned: Bool {
            !subscribers.isEmpty && subscribers.allSatisfy { $0.1.observer?.isCancelled == true }
        }

        /// Ends the task, and returns those who waited.
        mutating func end() -> [(number: Int, Subscriber<Value>)] {
            defer { (phase, subscribers) = (.finished, []) }
            return subscribers
        }
    }

    let key: Key
    /// When it was made.
    let beginning = ContinuousClock.now
    private let kind: Kind
    private let tasks: SharedTasks<Key, Value>
    private let operation: Operation
    /// Where a load goes on when it has waited: where images are decoded, unless it begins on other threads.
    private let lane: WorkExecutor.Lane?
    private let beginsInLane: Bool
    private let state = Locked(State())

    /// What a task does, as far as its errors depend on it.
    enum Kind: Sendable {
        /// It loads a source. `unwanted` is the error when no subscriber wants it any more.
        indirect case load(of: Source, unwanted: KingfisherError)
        /// It is a transfer.
        case transfer(SessionDataTask)
    }

    /// A task that has yet to be started.
    ///
    /// - Parameters:
    ///   - key: What distinguishes it from other tasks.
    ///   - kind: What it does.
    ///   - tasks: The tasks it is one of.
    ///   - threads: Where all of a load runs; nil means that it begins on the thread that starts it, and goes on where
    ///     images are decoded.
    ///   - operation: Gives the value; cancelled when the last subscriber has left.
    init(
        _ key: Key,
        _ kind: Kind,
        in tasks: SharedTasks<Key, Value>,
        threads: WorkExecutor? = nil,
        operation: @escaping Operation
    ) {
        (self.key, self.kind, self.tasks, self.operation) = (key, kind, tasks, operation)
        lane = if case .load = kind { (threads ?? .cpu).lane() } else { nil }
        beginsInLane = threads != nil
    }

    // MARK: Subscribers

    /// Those who wait for the value.
    var subscribers: [Subscriber<Value>] { state.withLock { $0.subscribers.map(\.1) } }

    /// The numbers of those who wait for the value, with what they wait for.
    var numberedSubscribers: [(number: Int, Subscriber<Value>)] { state.withLock { $0.subscribers } }

    /// The highest priority of those who wait.
    var priority: Float { state.withLock { $0.priority } }

    /// Adds a subscriber, and returns its number and from where its value is loaded, if that is known; nil when the
    /// task is over or about to be stopped, or its value is older than the subscriber's load.
    func add(_ subscriber: Subscriber<Value>) -> (number: Int, origin: LoadOrigin?)? {
        state.withLock { state in
            guard !state.isAbandoned else { return nil }
            switch state.phase {
            case .waiting, .running: break
            case .arriving(let time):
                guard let since = subscriber.sharesValuesSince, time > since else { return nil }
            case .arrived(let value, let time):
                guard let since = subscriber.sharesValuesSince, time > since else { return nil }
                subscriber.result.fulfil(.success(value))
            case .finished: return nil
            }
            defer { state.joined += 1 }
            state.subscribers.append((state.joined, subscriber))
            if case .transfer(let transfer) = kind { return (state.joined, .transfer(transfer, state.joined)) }
            return (state.joined, state.origin)
        }
    }

    /// Removes a subscriber that waits; with the last one the task is over and stops.
    func remove(_ number: Int) {
        let removed = state.withLock { state -> (Subscriber<Value>, wasLast: Bool)? in
            guard state.isWaitedFor, let index = state.subscribers.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            let (_, subscriber) = state.subscribers.remove(at: index)
            if state.subscribers.isEmpty { state.phase = .finished }
            return (subscriber, state.subscribers.isEmpty)
        }
        guard let (subscriber, wasLast) = removed else { return }
        let error = cancellation(of: number)
        if wasLast {
            tasks.remove(self)
            // Before the subscriber goes on: its next load must not join what is about to be stopped.
            stop(error) { subscriber.result.fulfil(.failure(error)) }
        } else {
            updatePriority()
            subscriber.result.fulfil(.failure(error))
        }
    }

    /// A subscriber has finished with a value that it may have shared.
    func release(_ number: Int) {
        // The value leaves the lock with the result, as releasing it may run other code.
        let (value, isOver) = state.withLock { state -> (Value?, Bool) in
            guard case .arrived(let value, _) = state.phase else { return (nil, false) }
            state.subscribers.removeAll { $0.number == number }
            guard state.subscribers.isEmpty else { return (value, false) }
            state.phase = .finished
            return (value, true)
        }
        withExtendedLifetime(value) { if isOver { tasks.remove(self) } }
    }

    /// Changes how urgent a subscriber is.
    func setPriority(_ priority: Float, of number: Int) {
        let isNew = state.withLock { state in
            guard let index = state.subscribers.firstIndex(where: { $0.number == number }),
                state.subscribers[index].1.priority != priority
            else { return false }
            state.subscribers[index].1.priority = priority
            return true
        }
        guard isNew else { return }
        raisePriority(to: priority)
        updatePriority()
    }

    /// Takes the priority of a subscriber if it is higher than the present one.
    func raisePriority(to priority: Float) {
        changePriority { state in priority > state.priority ? priority : nil }
    }

    /// Takes the highest priority of the remaining subscribers.
    private func updatePriority() {
        changePriority { state in
            var highest: Float = -1
            for index in state.subscribers.indices {
                highest = max(highest, state.subscribers[index].1.priority)
                if highest == state.priority { return nil }  // most often the first one: none is above
            }
            return state.subscribers.isEmpty ? nil : highest
        }
    }

    private func changePriority(_ new: (State) -> Float?) {
        let changed = state.withLock { state -> (Float, Task<Void, Never>?, (any TaskSubscription)?)? in
            guard let priority = new(state) else { return nil }
            state.priority = priority
            return (priority, state.task, state.subscription)
        }
        guard let (priority, task, subscription) = changed else { return }
        task?.escalatePriority(to: TaskPriority(downloadPriority: priority))
        lane?.raise(to: TaskPriority(downloadPriority: priority))
        subscription?.setPriority(priority)
        if case .transfer(let transfer) = kind { transfer.task.priority = priority }
    }

    /// The error of a subscriber that is cancelled while it waits.
    func cancellation(of number: Int) -> KingfisherError {
        if case .transfer(let task, let token) = origin(of: number) {
            return .requestError(reason: .taskCancelled(task: task, token: token))
        }
        if case .load(.provider(let provider), _) = kind {
            return .requestError(reason: .dataProviderCancelled(provider: provider))
        }
        return .requestError(reason: .asyncTaskContextCancelled)
    }

    /// From where a subscriber's value is loaded, if that is known.
    func origin(of number: Int) -> LoadOrigin? {
        if case .transfer(let transfer) = kind { return .transfer(transfer, number) }
        return state.withLock { $0.origin }
    }

    /// Whether subscribers wait for the value.
    var isWaitedFor: Bool { state.withLock { $0.isWaitedFor } }

    /// Whether it is known from where the value is loaded.
    var hasStarted: Bool { state.withLock { $0.origin != nil } }

    // MARK: Running

    /// Whether the task may begin for a subscriber: a superseded one ends as the load does that it shares, but no
    /// transfer is begun for it.
    func mayBegin(for observer: any LoadObserver) -> Bool {
        if case .transfer = kind { observer.isWanted } else { !observer.isCancelled }
    }

    /// Starts the operation, most often on this thread, unless all subscribers have left; called once.
    func start() {
        let mayStart = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            (state.phase, state.isStarting) = (.running, true)
            return true
        }
        guard mayStart else { return }
        let urgency = TaskPriority(downloadPriority: priority)
        let run: @Sendable () async -> Void = { [self] in
            finish(await Result { () async throws(KingfisherError) in try await operation(self) })
        }
        // Going to another thread would take longer than what is done before the operation first has to wait.
        let task =
            beginsInLane
            ? Task(executorPreference: lane, priority: urgency) { await run() }
            : Task.immediate(priority: urgency, executorPreference: lane) { await run() }
        let (isStopped, whenStopped) = state.withLock { state in
            (state.task, state.isStarting) = (task, false)
            defer { state.whenStopped = nil }
            return (state.failure != nil, state.whenStopped)
        }
        if isStopped { task.cancel() }
        whenStopped?()
    }

    /// What the value is made of is there: loads that begin now do not share it.
    func willArrive() {
        state.withLock { state in
            if case .running = state.phase { state.phase = .arriving(at: .now) }
        }
    }

    /// The error with which it was stopped; nil if it was not.
    var failure: KingfisherError? { state.withLock { $0.failure } }

    /// Cancels the operation, and then calls `next`: the thread that starts the operation does so if it is about to.
    private func stop(_ error: KingfisherError, _ next: @escaping @Sendable () -> Void = {}) {
        let (task, isStarting) = state.withLock { state in
            state.failure = error
            if state.isStarting { state.whenStopped = state.whenStopped ?? next }
            return (state.task, state.isStarting)
        }
        guard !isStarting else { return }
        task?.cancel()
        next()
    }

    /// Gives the subscribers what the task has come to; only the first time counts.
    ///
    /// It goes on while subscribers work with a value that they may share with others.
    private func finish(_ result: Result<Value, KingfisherError>) {
        let (subscribers, isOver) = state.withLock { state -> ([(number: Int, Subscriber<Value>)], Bool) in
            guard state.isWaitedFor else { return ([], false) }
            let time = if case .arriving(let time) = state.phase { time } else { ContinuousClock.now }
            let subscribers = state.end()
            guard case .success(let value) = result, subscribers.contains(where: { $0.1.sharesValuesSince != nil })
            else { return (subscribers, true) }
            state.phase = .arrived(value, at: time)
            state.subscribers = subscribers.filter { $0.1.sharesValuesSince != nil }
            return (subscribers, false)
        }
        if isOver { tasks.remove(self) }
        for (_, subscriber) in subscribers { subscriber.result.fulfil(result) }
    }

    /// Stops the task, and gives its subscribers an error.
    func end(with error: KingfisherError) {
        finish(.failure(error))
        stop(error)
    }

    /// Lets smaller images of the same priority go first, and returns when it is this one's turn.
    func makeWay() async { await lane?.makeWay() }

    // MARK: The observer of what it does

    /// Whether a subscriber wants the value; ends the task if none does.
    ///
    /// A load that subscribes after that starts another task.
    var isWanted: Bool {
        guard case .load(_, let unwanted) = kind else { return true }
        let (subscribers, joined) = state.withLock { ($0.isWaitedFor ? $0.subscribers : [], $0.joined) }
        guard !subscribers.contains(where: { $0.1.isWanted }) else { return true }
        let isOver = state.withLock { state in
            guard state.joined == joined else { return false }
            if state.isWaitedFor { _ = state.end() }
            return true
        }
        guard isOver else { return self.isWanted }
        tasks.remove(self)
        for (number, subscriber) in subscribers {
            let isCancelled = subscriber.observer?.isCancelled == true
            subscriber.result.fulfil(.failure(isCancelled ? cancellation(of: number) : unwanted))
        }
        return false
    }

    /// Whether it was stopped; what it has begun may be yet to notice.
    var isCancelled: Bool { failure != nil }

    var hasHandle: Bool { true }

    func didSubscribe(_ subscription: any TaskSubscription) {
        // It may have become more urgent since its options were made.
        let priority = state.withLock { state in
            state.subscription = subscription
            return state.priority
        }
        subscription.setPriority(priority)
    }

    func didStart(from origin: LoadOrigin) {
        let subscribers = state.withLock { state in
            state.origin = origin
            return state.subscribers
        }
        for (_, subscriber) in subscribers { subscriber.observer?.didStart(from: origin) }
    }

    func didReceive(_ piece: ReceivedPiece) {
        for subscriber in subscribers { subscriber.observer?.didReceive(piece) }
    }

    func didProgress(_ received: Int64, of expected: Int64) {
        for subscriber in subscribers { subscriber.observer?.didProgress(received, of: expected) }
    }

    func didConfirm(_ metadata: CacheMetadata) {
        let subscribers = state.withLock { state in
            state.confirmation = metadata
            return state.subscribers
        }
        for (_, subscriber) in subscribers { subscriber.observer?.didConfirm(metadata) }
    }

    /// What the server said when it confirmed what is cached.
    var confirmation: CacheMetadata? { state.withLock { $0.confirmation } }
}
