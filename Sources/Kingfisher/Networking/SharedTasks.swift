// The shared tasks of one kind: one for each key. For loads of images, calls of providers and loaders, and transfers.

import Foundation
import KFSupport

/// All shared tasks of one kind that are under way.
///
/// Keys are compared with a lock held, so they hold no code of users, see ``CodeKey``.
final class SharedTasks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State: Sendable {
        var byKey: [Key: SharedTask<Key, Value>] = [:]
        /// Those that accept no further subscribers, so that another one has taken their place, and that are waited
        /// for.
        var displaced: [SharedTask<Key, Value>] = []
        /// The error of those who subscribe once no more are accepted; nil before.
        var refusal: KingfisherError?
    }

    /// A subscriber's place in a task, which the subscriber's handle may outlive.
    private struct Subscription: TaskSubscription {
        weak let task: SharedTask<Key, Value>?
        let number: Int

        func setPriority(_ priority: Float) { task?.setPriority(priority, of: number) }
    }

    private let state = Locked(State())

    /// The tasks that are under way.
    var all: [SharedTask<Key, Value>] { state.withLock { $0.byKey.values + $0.displaced } }

    /// Joins the task with a key, or starts it.
    ///
    /// Cancelling the calling task removes the subscriber, which returns at once; the last one to leave stops the task.
    /// - Parameters:
    ///   - key: What is wanted.
    ///   - subscriber: Who wants it.
    ///   - make: Makes the task if there is none; called with a lock held.
    /// - Returns: The value of the task.
    /// - Throws: ``KingfisherError``: the task's error, or a cancellation error if this subscriber was cancelled.
    func value(
        for key: Key,
        _ subscriber: Subscriber<Value>,
        make: () -> SharedTask<Key, Value>
    ) async throws(KingfisherError) -> Value {
        let (task, number) = try subscribe(key, subscriber, make: make)
        return try await subscriber.result.value { task.remove(number) }.get()
    }

    /// The same, and does something with the value, which others may share as long.
    ///
    /// `use` is also given the error to end with if the calling task is cancelled while it runs.
    @inline(__always)
    func withValue<Output>(
        for key: Key,
        _ subscriber: Subscriber<Value>,
        make: () -> SharedTask<Key, Value>,
        use: (Value, KingfisherError) async throws(KingfisherError) -> Output
    ) async throws(KingfisherError) -> Output {
        let (task, number) = try subscribe(key, subscriber, make: make)
        defer { if subscriber.sharesValuesSince != nil { task.release(number) } }
        let value = try await subscriber.result.value { task.remove(number) }.get()
        return try await use(value, task.cancellation(of: number))
    }

    /// Joins the task with a key, or starts it; the subscriber is given the value, and can be removed by its number.
    private func subscribe(
        _ key: Key,
        _ subscriber: Subscriber<Value>,
        make: () -> SharedTask<Key, Value>
    ) throws(KingfisherError) -> (task: SharedTask<Key, Value>, number: Int) {
        let (task, number, origin) = try join(key, subscriber, make: make)
        if let observer = subscriber.observer {
            observer.didSubscribe(Subscription(task: task, number: number))
            if let origin { observer.didStart(from: origin) }
            // The code that was notified may have cancelled the load: then nothing is begun.
            if !task.mayBegin(for: observer) { task.remove(number) }
        }
        task.raisePriority(to: subscriber.priority)
        if number == 0 { task.start() }
        return (task, number)
    }

    private func join(
        _ key: Key,
        _ subscriber: Subscriber<Value>,
        make: () -> SharedTask<Key, Value>
    ) throws(KingfisherError) -> (SharedTask<Key, Value>, number: Int, origin: LoadOrigin?) {
        try state.withLock { state throws(KingfisherError) in
            if let refusal = state.refusal { throw refusal }
            if let task = state.byKey[key] {
                if let (number, origin) = task.add(subscriber) { return (task, number, origin) }
                if task.isWaitedFor { state.displaced.append(task) }
            }
            let task = make()
            state.byKey[key] = task
            let (number, origin) = task.add(subscriber) ?? (0, nil)
            return (task, number, origin)
        }
    }

    /// Removes all subscribers.
    func cancelAll() {
        for task in all {
            for (number, _) in task.numberedSubscribers { task.remove(number) }
        }
    }

    /// Removes all subscribers, and refuses those to come with an error.
    func close(_ error: KingfisherError) {
        state.withLock { $0.refusal = error }
        cancelAll()
    }

    /// A task is over: the next subscriber starts another one.
    func remove(_ task: SharedTask<Key, Value>) {
        state.withLock { state in
            if state.byKey[task.key] === task { state.byKey[task.key] = nil }
            state.displaced.removeAll { $0 === task }
        }
    }
}

/// One load that waits for the value of a shared task.
struct Subscriber<Value: Sendable>: Sendable {
    /// The load that is notified; nil if none is.
    let observer: (any LoadObserver)?
    /// How urgent it is, from 0 to 1.
    var priority: Float
    /// The URL it requested, before a modifier changed that; nil where it does not matter.
    var url: URL?
    /// The longer side, in pixels, to which it will downsample the bytes; nil if it will not.
    var downsamplingLimit: Int?
    /// A value that arrived after this will do, while others use it; nil when only one that is to come will.
    var sharesValuesSince: ContinuousClock.Instant?
    /// Called with a value that may be out of date, while the task finds out.
    var showStale: (@Sendable (Value) async -> Void)?
    /// The outcome it waits for; the first one counts.
    let result = Promise<Result<Value, KingfisherError>>()

    /// Whether it still wants the value.
    var isWanted: Bool { observer?.isWanted ?? true }
}
