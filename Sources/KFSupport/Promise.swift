// A value that arrives once, for any number of callers; and the outcome of an async function.

/// A value that arrives once.
///
/// Any number of callers may wait for it, before or after. Public and inlinable for the reason that ``Locked`` is.
public final class Promise<Value: Sendable>: Sendable {
    /// One who waits; resumed once, by the code below: checking that would take as long as the rest.
    @usableFromInline typealias Continuation = UnsafeContinuation<Value, Never>

    @usableFromInline enum State: Sendable {
        /// Most promises have one who waits.
        case pending(Continuation?, others: [Continuation])
        case fulfilled(Value)
    }
    @usableFromInline let state: Locked<State>

    /// A value that has yet to arrive.
    @inlinable
    public init() { state = Locked(.pending(nil, others: [])) }

    /// Fulfils the promise.
    ///
    /// Only the first call counts; returns whether it was this one.
    @inlinable
    @discardableResult
    public func fulfil(_ value: Value) -> Bool {
        let waiting = state.withLock { state -> (first: Continuation?, others: [Continuation])? in
            guard case .pending(let first, let others) = state else { return nil }
            state = .fulfilled(value)
            return (first, others)
        }
        waiting?.first?.resume(returning: value)
        for continuation in waiting?.others ?? [] { continuation.resume(returning: value) }
        return waiting != nil
    }

    /// The value if it has arrived, without waiting.
    @inlinable
    public var valueIfFulfilled: Value? {
        state.withLock { state in
            if case .fulfilled(let value) = state { value } else { nil }
        }
    }

    /// The value, as soon as it arrives.
    @inlinable
    public var value: Value {
        get async {
            if let value = valueIfFulfilled { return value }
            return await withUnsafeContinuation { continuation in
                let fulfilled = state.withLock { state -> Value? in
                    switch state {
                    case .fulfilled(let value): return value
                    case .pending(nil, _): state = .pending(continuation, others: [])
                    case .pending(let first?, let others): state = .pending(first, others: others + [continuation])
                    }
                    return nil
                }
                if let fulfilled { continuation.resume(returning: fulfilled) }
            }
        }
    }

    /// The value, as soon as it arrives.
    ///
    /// `cancel` is called when the calling task is cancelled while it waits, or was before.
    @inlinable
    public func value(onCancel cancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await value
        } onCancel: {
            cancel()
        }
    }
}

extension Result {
    /// The outcome of an async function.
    package init(catching body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
