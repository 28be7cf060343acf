// The subscribers of one piece of shared work, and its state. For Flights.

import Foundation
import KFSupport

/// One load that waits for the value of a flight.
struct Subscriber<Value: Sendable>: Sendable {
    /// The hooks through which the load is notified.
    let hooks: LoadHooks
    /// How urgent it is, from 0 to 1.
    let priority: Float
    /// The URL it requested, before a modifier changed that; nil where it does not matter.
    var url: URL?
    /// The longer side, in pixels, to which it will downsample the bytes; nil if it will not.
    var downsamplingLimit: Int?
    /// A value that arrived after this will do, while others use it; nil when only one that is to come will.
    var sharesValuesSince: ContinuousClock.Instant?
    /// Called with a value that may be out of date, while the work finds out.
    var showStale: (@Sendable (Value) async -> Void)?
    /// The outcome it waits for; the first one counts.
    let result = Promise<Result<Value, KingfisherError>>()
    /// Its number in the flight that it has joined: 0 for the first, then 1, and so on.
    fileprivate(set) var number = 0

    /// Whether its handle was cancelled.
    var isCancelled: Bool { hooks.handle?.isCancelled == true }

    /// Whether it still wants the value.
    var isWanted: Bool { !isCancelled && hooks.isWanted?() ?? true }

    /// The service of the work is known.
    func served(by service: LoadService) {
        hooks.handle?.serve(service)
        hooks.served?(service)
    }
}

/// The subscribers of one piece of work, and its state.
///
/// It is over when its last subscriber has left, or has finished with the value.
final class Flight<Value: Sendable>: Sendable {
    /// A subscriber's place in a flight.
    struct Ticket: Sendable {
        /// The subscriber's number.
        let number: Int
        /// Whether the subscriber has to start the work.
        var isFirst: Bool { number == 0 }
        /// The service of the flight, if that is known.
        let service: LoadService?
        /// Whether the flight is more urgent than before.
        let raisesPriority: Bool
    }

    private enum Phase: Sendable {
        /// Subscribers have joined; the work has not begun.
        case waiting
        case running
        /// The value is there, and the subscribers that are left work with it.
        case arrived(Value, at: ContinuousClock.Instant)
        case finished
    }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// In the order of joining.
        var subscribers: [Subscriber<Value>] = []
        var joined = 0
        var priority: Float = 0
        var service: LoadService?

        var isWaitedFor: Bool {
            switch phase {
            case .waiting, .running: true
            case .arrived, .finished: false
            }
        }

        /// Ends the flight, and returns those who waited.
        mutating func end() -> [Subscriber<Value>] {
            defer { (phase, subscribers) = (.finished, []) }
            return subscribers
        }
    }

    private let state = Locked(State())

    /// Those who wait for the value.
    var subscribers: [Subscriber<Value>] { state.withLock { $0.subscribers } }

    /// The highest priority of those who wait.
    var priority: Float { state.withLock { $0.priority } }

    /// The service of the flight, if that is known.
    var service: LoadService? { state.withLock { $0.service } }

    /// Adds a subscriber; nil when the flight is over, or its value is older than the subscriber's load.
    func join(_ subscriber: Subscriber<Value>) -> Ticket? {
        state.withLock { state in
            switch state.phase {
            case .waiting, .running: break
            case .arrived(let value, let time):
                guard let since = subscriber.sharesValuesSince, time > since else { return nil }
                subscriber.result.fulfil(.success(value))
            case .finished: return nil
            }
            var subscriber = subscriber
            subscriber.number = state.joined
            state.joined += 1
            state.subscribers.append(subscriber)
            let raises = subscriber.priority > state.priority
            if raises { state.priority = subscriber.priority }
            return Ticket(number: subscriber.number, service: state.service, raisesPriority: raises)
        }
    }

    /// The work begins; false when all subscribers have left before.
    func begin() -> Bool {
        state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .running
            return true
        }
    }

    /// The service of the flight is known; returns the subscribers of that moment.
    func serve(_ service: LoadService) -> [Subscriber<Value>] {
        state.withLock { state in
            state.service = service
            return state.subscribers
        }
    }

    /// Removes a subscriber that waits; nil when it does not.
    ///
    /// With the last one the flight is over.
    func leave(_ number: Int) -> (subscriber: Subscriber<Value>, wasLast: Bool)? {
        state.withLock { state in
            guard state.isWaitedFor, let index = state.subscribers.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            let subscriber = state.subscribers.remove(at: index)
            state.priority = state.subscribers.reduce(0) { max($0, $1.priority) }
            if state.subscribers.isEmpty { state.phase = .finished }
            return (subscriber, state.subscribers.isEmpty)
        }
    }

    /// Ends a flight that none of its subscribers wants any more, and returns them; nil while one does.
    func endIfUnwanted() -> [Subscriber<Value>]? {
        state.withLock { state in
            guard state.isWaitedFor else { return [] }
            return state.subscribers.contains(where: \.isWanted) ? nil : state.end()
        }
    }

    /// The work is done; returns the subscribers to notify, and whether the flight is over.
    ///
    /// It goes on while subscribers work with the value that may share it with others.
    func finish(_ result: Result<Value, KingfisherError>) -> (subscribers: [Subscriber<Value>], isOver: Bool) {
        state.withLock { state in
            guard state.isWaitedFor else { return ([], false) }
            let users = state.subscribers.filter { $0.sharesValuesSince != nil }
            let subscribers = state.end()
            guard case .success(let value) = result, !users.isEmpty else { return (subscribers, true) }
            (state.phase, state.subscribers) = (.arrived(value, at: .now), users)
            return (subscribers, false)
        }
    }

    /// A subscriber has finished with the value; true when it was the last.
    func release(_ number: Int) -> Bool {
        state.withLock { state in
            guard case .arrived = state.phase else { return false }
            state.subscribers.removeAll { $0.number == number }
            guard state.subscribers.isEmpty else { return false }
            state.phase = .finished
            return true
        }
    }
}
