// What ties one cache to the life of its process. Goes with the cache, and does not keep it alive.

import Foundation
import KFSupport

/// The part of a cache that is known to the process, and that has the disk swept.
///
/// A cache holds one and calls ``begin(_:)`` when it is complete; when the cache goes, this goes, and all is undone.
final class CacheLifeCycle: Sendable {
    let janitor: CacheJanitor
    private let registry: CacheRegistry

    /// Creates what a new cache needs; a sweep an hour is the default.
    init(registry: CacheRegistry = .shared, janitor: CacheJanitor = CacheJanitor(interval: 3600)) {
        self.registry = registry
        self.janitor = janitor
    }

    deinit { registry.remove(ObjectIdentifier(self)) }

    /// Makes the cache known to the process, and has its disk swept now and then.
    func begin(_ cache: ImageCache) {
        ExitFlush.prepare()
        registry.add(cache, as: ObjectIdentifier(self))
        janitor.start { [weak cache] in await cache?.cleanExpiredDiskCache() }
    }
}

/// Has the allocator hand freed memory back to the system, off the caller's thread.
///
/// The allocator keeps large blocks that are freed, for the next ones; so decoding is fast. What is freed until the
/// return begins is part of it; calls in the meantime do nothing.
enum MemoryReturn {
    private static let isScheduled = Locked(false)

    static func schedule() {
        let isFirst = isScheduled.withLock { isScheduled in
            defer { isScheduled = true }
            return !isScheduled
        }
        guard isFirst else { return }
        Task.detached(priority: .utility) {
            await WorkExecutor.io.run {
                isScheduled.withLock { $0 = false }
                returnFreedMemory()
            }
        }
    }
}
