// How work gets off the caller's thread and its result to who waits for it. Knows nothing of images.

import Foundation
import KFSupport

extension ImageCache {
    /// Does something with the disk where waiting for it is allowed.
    func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable (DiskStorage.Backend<Data>) throws(KingfisherError) -> Value
    ) async -> Result<Value, KingfisherError> {
        await WorkExecutor.io.run { [diskStorage] in
            await Result { () async throws(KingfisherError) in try body(diskStorage) }
        }
    }

    /// Starts `work` now, on this thread, and hands its result to `handler` through `queue`.
    ///
    /// Neither of them finds what is being handed past subclasses: who is to have it has taken it by now.
    func report<Value: Sendable>(
        to handler: (@Sendable (Value) -> Void)?,
        on queue: CallbackQueue,
        _ work: @escaping @Sendable () async -> Value
    ) {
        let start = {
            _ = Task.immediate {
                let value = await work()
                if let handler { queue.execute { handler(value) } }
            }
        }
        if Self.factsToKeep == nil { start() } else { Self.$factsToKeep.withValue(nil) { start() } }
    }

    /// Starts `work` now, on this thread, and calls `handler` through `queue` when it is done.
    func finish(
        with handler: (@Sendable () -> Void)?,
        on queue: CallbackQueue,
        _ work: @escaping @Sendable () async -> Void
    ) {
        report(to: handler.map { handler in { @Sendable (_: Void) in handler() } }, on: queue, work)
    }

    /// What a call with a handler tells it; the first time counts.
    func answer<Value: Sendable>(of call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
        let answer = Promise<Value>()
        call { answer.keep($0) }
        return await answer.value
    }
}
