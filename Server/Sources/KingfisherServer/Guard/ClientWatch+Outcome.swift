// Waits for a result no longer than it is of use. For the routes.

import NIOCore
import Synchronization

extension ClientWatch {
    /// What the work comes to; it is cancelled, and not waited for, when the time is over or the client leaves.
    ///
    /// Cancelled work ends at its next step; until then it holds its place in the queue.
    func outcome<Value: Sendable>(
        until deadline: NIODeadline,
        on connection: any Channel,
        of work: @escaping @Sendable () async -> Result<Value, RenderingError>
    ) async -> Result<Value, RenderingError> {
        let first = FirstValue<Result<Value, RenderingError>>()
        let task = Task { first.offer(await work()) }
        let giveUp: @Sendable (RenderingError) -> Void = { error in
            first.offer(.failure(error))
            task.cancel()
        }
        let timer = connection.eventLoop.scheduleTask(deadline: deadline) { giveUp(.timedOut) }
        let number = onLeaving(connection) { giveUp(.clientLeft) }
        defer {
            timer.cancel()
            forget(number, on: connection)
        }
        return await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            giveUp(.clientLeft)
        }
    }
}

/// The first of several values that are offered, for one who waits for it.
private final class FirstValue<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Value, Never>)
        case full(Value)
        case delivered
    }

    private let state = Mutex(State.empty)

    /// Later values than the first are ignored.
    func offer(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .full(value)
                return nil
            case .awaited(let continuation):
                state = .delivered
                return continuation
            case .full, .delivered:
                return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// To be awaited once.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value: Value? = state.withLock { state in
                    guard case .full(let value) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .delivered
                    return value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}
