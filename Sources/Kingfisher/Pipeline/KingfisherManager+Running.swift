// The loads that are under way, and how all of them are cancelled at once. For users.

import KFSupport

extension KingfisherManager {
    /// Whether loads are under way, those of live photos and prefetched images among them. (Not in Kingfisher.)
    ///
    /// Prefetching to disk alone, which makes no images, is not counted: its prefetcher or token ends it.
    ///
    /// A load has ended when its completion handler is called.
    public var isRunning: Bool { !running.withLock { $0.isEmpty } }

    /// Cancels all loads of the manager that are under way. (Not in Kingfisher.)
    ///
    /// Each ends with the same error as if it had been cancelled alone (see ``KingfisherError/isCancelled``). Loads
    /// that begin afterwards are not affected.
    public func cancelAll() {
        for handle in running.withLock({ Array($0.values) }) { handle.cancel() }
        // Async loads run in the caller's task, which is not ours to cancel.
        loads.cancelAll()
    }

    /// Counts a load as running while it is.
    func whileRunning<Value>(
        _ handle: DownloadTask,
        _ load: () async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        running.withLock { $0[ObjectIdentifier(handle)] = handle }
        defer { running.withLock { $0[ObjectIdentifier(handle)] = nil } }
        return try await load()
    }
}
