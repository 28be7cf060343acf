// A load that runs as a task for all its subscribers: of an image, or of the bytes of a provider or a loader. For the
// manager.

import KFSupport

/// An async function that runs once for all its subscribers.
final class SharedLoad<Key: Hashable & Sendable, Value: Sendable>: FlightWork {
    private enum State: Sendable {
        case waiting
        case running(Task<Void, Never>)
        case stopped
    }

    let key: Key
    let flight = Flight<Value>()
    /// When it began.
    let beginning = ContinuousClock.now
    private let source: Source
    private let flights: Flights<SharedLoad>
    private let operation: @Sendable (SharedLoad) async throws(KingfisherError) -> Value
    private let state = Locked(State.waiting)

    /// A load that has yet to be started.
    ///
    /// - Parameters:
    ///   - key: What distinguishes it from other loads.
    ///   - source: What is loaded.
    ///   - flights: The flights it is one of, which are given the outcome.
    ///   - operation: Loads it.
    init(
        _ key: Key,
        of source: Source,
        in flights: Flights<SharedLoad>,
        operation: @escaping @Sendable (SharedLoad) async throws(KingfisherError) -> Value
    ) {
        (self.key, self.source, self.flights, self.operation) = (key, source, flights, operation)
    }

    func start() {
        let task = Task(priority: TaskPriority(downloadPriority: flight.priority)) { @concurrent in
            let outcome = await Result { () async throws(KingfisherError) in try await operation(self) }
            flights.finish(self, outcome)
        }
        let isStopped = state.withLock { state in
            if case .stopped = state { return true }
            state = .running(task)
            return false
        }
        if isStopped { task.cancel() }
    }

    func stop(_ error: KingfisherError) {
        let task = state.withLock { state in
            defer { state = .stopped }
            return if case .running(let task) = state { task } else { nil as Task<Void, Never>? }
        }
        task?.cancel()
    }

    func updatePriority() {
        let priority = flight.priority
        if case .running(let task) = state.withLock({ $0 }) {
            task.escalatePriority(to: TaskPriority(downloadPriority: priority))
        }
        if case .transfer(let transfer, _) = flight.service { transfer.raisePriority(to: priority) }
    }

    func cancellation(of subscriber: Int) -> KingfisherError {
        if case .provider(let provider) = source {
            return .requestError(reason: .dataProviderCancelled(provider: provider))
        }
        guard case .transfer(let task, let token) = flight.service else {
            return .requestError(reason: .asyncTaskContextCancelled)
        }
        return .requestError(reason: .taskCancelled(task: task, token: token))
    }

    // MARK: Notifying the subscribers

    /// The service of the load is known.
    func serve(_ service: LoadService) {
        for subscriber in flight.serve(service) { subscriber.served(by: service) }
    }

    /// More bytes have arrived.
    func report(_ piece: ReceivedPiece) {
        for subscriber in flight.subscribers where subscriber.isWanted { subscriber.hooks.received?(piece) }
    }

    /// A loader of the user's has more bytes.
    func report(received: Int64, expected: Int64) {
        for subscriber in flight.subscribers where subscriber.isWanted {
            subscriber.hooks.progressed?(received, expected)
        }
    }
}
