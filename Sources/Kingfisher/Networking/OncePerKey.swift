// Runs work once for each key and keeps its result. For work that several loads share.

import KFSupport

/// Values that are made once for each key, by the first caller that needs one, for all callers.
final class OncePerKey<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let made = Locked<[Key: Promise<Value>]>([:])

    init() {}

    /// The promise of the value of `key`, and whether this caller is the first, which has to fulfil it.
    func claim(_ key: Key) -> (value: Promise<Value>, isFirst: Bool) {
        made.withLock { made in
            if let promise = made[key] { return (promise, false) }
            let promise = Promise<Value>()
            made[key] = promise
            return (promise, true)
        }
    }

    /// The value of `key`: made by `work` if this caller is the first, else as soon as it is there.
    func value(for key: Key, _ work: () async -> Value) async -> Value {
        let (promise, isFirst) = claim(key)
        guard isFirst else { return await promise.value }
        let value = await work()
        promise.fulfil(value)
        return value
    }
}
