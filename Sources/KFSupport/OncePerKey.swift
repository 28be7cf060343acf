// Values that are made once for each key. For the bytes of a load, of which images are made.

/// Values that are made once for each key, by the first caller that needs one, for all callers.
///
/// Public and inlinable for the reason that ``Locked`` is.
public final class OncePerKey<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let made: Locked<[Key: Promise<Value>]>

    /// No value is made yet.
    @inlinable
    public init() { made = Locked([:]) }

    /// The promise of the value of `key`, and whether this caller is the first, which has to fulfil it.
    @inlinable
    public func claim(_ key: Key) -> (value: Promise<Value>, isFirst: Bool) {
        made.withLock { made in
            if let promise = made[key] { return (promise, false) }
            let promise = Promise<Value>()
            made[key] = promise
            return (promise, true)
        }
    }

    /// The value of `key`: made by `work` if this caller is the first, else as soon as it is there.
    ///
    /// A value that is not to be kept is made anew by the next caller.
    @inlinable
    public func value(
        for key: Key,
        keeps: (Value) -> Bool = { _ in true },
        _ work: () async -> Value
    ) async -> Value {
        let (promise, isFirst) = claim(key)
        guard isFirst else { return await promise.value }
        let value = await work()
        if !keeps(value) { made.withLock { $0[key] = nil } }
        promise.fulfil(value)
        return value
    }
}
