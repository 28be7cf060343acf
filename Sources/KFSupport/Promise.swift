// A value that arrives once, for any number of callers.

/// A value that arrives once.
///
/// Any number of callers may wait for it, before or after.
package final class Promise<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case pending([CheckedContinuation<Value, Never>])
        case fulfilled(Value)
    }
    private let state = Locked(State.pending([]))

    package init() {}

    /// Fulfils the promise.
    ///
    /// Only the first call counts; returns whether it was this one.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>]? in
            guard case .pending(let waiting) = state else { return nil }
            state = .fulfilled(value)
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume(returning: value) }
        return waiting != nil
    }

    /// The value if it has arrived, without waiting.
    package var valueIfFulfilled: Value? {
        state.withLock { state in
            if case .fulfilled(let value) = state { value } else { nil }
        }
    }

    /// The value, as soon as it arrives.
    package var value: Value {
        get async {
            if let value = valueIfFulfilled { return value }
            return await withCheckedContinuation { continuation in
                let fulfilled = state.withLock { state -> Value? in
                    switch state {
                    case .fulfilled(let value): return value
                    case .pending(let waiting):
                        state = .pending(waiting + [continuation])
                        return nil
                    }
                }
                if let fulfilled { continuation.resume(returning: fulfilled) }
            }
        }
    }

    /// The value, as soon as it arrives.
    ///
    /// `cancel` is called when the calling task is cancelled while it waits, or was before.
    package func value(onCancel cancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await value
        } onCancel: {
            cancel()
        }
    }
}
