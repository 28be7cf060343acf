// Shares work between all loads that want the same at one time: transfers, loads of images, providers.

import KFSupport

/// Work that may have several subscribers.
protocol FlightWork: AnyObject, Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    /// Distinguishes it from other work.
    var key: Key { get }
    /// The subscribers that wait for it.
    var flight: Flight<Value> { get }

    /// Starts; called once.
    func start()
    /// Stops the work, whose last subscriber has left; may be called while it starts.
    func stop(_ error: KingfisherError)
    /// Becomes as urgent as its flight is now.
    func updatePriority()
    /// The error of a subscriber that is cancelled while it waits.
    func cancellation(of subscriber: Int) -> KingfisherError
}

/// All flights of one kind: one for each key.
final class Flights<Work: FlightWork>: Sendable {
    private struct State: Sendable {
        var works: [Work.Key: Work] = [:]
        /// The error of those who subscribe once the flights are closed; nil before.
        var refusal: KingfisherError?
    }

    private let state = Locked(State())

    /// The work that is under way.
    var all: [Work] { state.withLock { Array($0.works.values) } }

    /// Joins the work with a key, or starts it, and does something with its value.
    ///
    /// Joins before it first suspends. Cancelling the calling task removes the subscriber, which returns at once; the
    /// last one to leave stops the work.
    /// - Parameters:
    ///   - key: What is wanted.
    ///   - subscriber: Who wants it.
    ///   - make: Makes the work if there is none; called with a lock held.
    ///   - joined: Called with the work and the subscriber's number in it, before the work starts.
    ///   - use: Does something with the value, which others may share as long; also given the error to end with if the
    ///     calling task is cancelled while it does.
    /// - Returns: What `use` returns.
    /// - Throws: ``KingfisherError``: the work's, or that of a cancelled subscriber.
    func value<Output>(
        for key: Work.Key,
        _ subscriber: Subscriber<Work.Value>,
        make: () -> Work,
        joined: (Work, Int) -> Void = { _, _ in },
        use: (Work.Value, KingfisherError) async throws(KingfisherError) -> Output
    ) async throws(KingfisherError) -> Output {
        let (work, ticket) = try join(key, subscriber, make: make)
        defer { if subscriber.sharesValuesSince != nil, work.flight.release(ticket.number) { remove(work) } }
        if let service = ticket.service { subscriber.served(by: service) }
        joined(work, ticket.number)
        if ticket.isFirst {
            if work.flight.begin() { work.start() }
        } else if ticket.raisesPriority {
            work.updatePriority()
        }
        let result = await subscriber.result.value { leave(work, ticket.number) }
        return try await use(try result.get(), work.cancellation(of: ticket.number))
    }

    private func join(
        _ key: Work.Key,
        _ subscriber: Subscriber<Work.Value>,
        make: () -> Work
    ) throws(KingfisherError) -> (Work, Flight<Work.Value>.Ticket) {
        try state.withLock { state throws(KingfisherError) in
            if let refusal = state.refusal { throw refusal }
            if let work = state.works[key], let ticket = work.flight.join(subscriber) { return (work, ticket) }
            let work = make()
            guard let ticket = work.flight.join(subscriber) else {
                throw .requestError(reason: .asyncTaskContextCancelled)
            }
            state.works[key] = work
            return (work, ticket)
        }
    }

    /// Removes a subscriber that waits.
    func leave(_ work: Work, _ number: Int) {
        guard let (subscriber, wasLast) = work.flight.leave(number) else { return }
        let error = work.cancellation(of: number)
        if wasLast { remove(work) }
        subscriber.result.fulfil(.failure(error))
        if wasLast { work.stop(error) } else { work.updatePriority() }
    }

    /// Gives the subscribers what the work has come to; only the first time counts.
    func finish(_ work: Work, _ result: Result<Work.Value, KingfisherError>) {
        let (subscribers, isOver) = work.flight.finish(result)
        if isOver { remove(work) }
        for subscriber in subscribers { subscriber.result.fulfil(result) }
    }

    /// Whether a subscriber wants what the work is for; ends it with an error otherwise.
    ///
    /// A load that subscribes after that starts new work.
    func goOn(_ work: Work, orEndWith error: KingfisherError) -> Bool {
        guard let subscribers = work.flight.endIfUnwanted() else { return true }
        remove(work)
        for subscriber in subscribers {
            let error = subscriber.isCancelled ? work.cancellation(of: subscriber.number) : error
            subscriber.result.fulfil(.failure(error))
        }
        return false
    }

    /// Stops work that is under way, and gives its subscribers an error.
    func end(_ work: Work, with error: KingfisherError) {
        finish(work, .failure(error))
        work.stop(error)
    }

    /// Removes all subscribers.
    func cancelAll() {
        for work in all {
            for subscriber in work.flight.subscribers { leave(work, subscriber.number) }
        }
    }

    /// Removes all subscribers, and refuses those to come with an error.
    func close(_ error: KingfisherError) {
        state.withLock { $0.refusal = error }
        cancelAll()
    }

    private func remove(_ work: Work) {
        state.withLock { state in
            if state.works[work.key] === work { state.works[work.key] = nil }
        }
    }
}
