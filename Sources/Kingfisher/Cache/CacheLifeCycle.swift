// The registration of one cache with its process, and the return of freed memory. Held by the cache, and does not keep
// it alive.

import Foundation
import KFSupport

/// Registers a cache with the process, and has its disk swept.
///
/// A cache holds one and calls ``begin(_:)`` when it is complete; both are released together, which undoes all this.
final class CacheLifeCycle: Sendable {
    let janitor: CacheJanitor
    private let registry: CacheRegistry

    /// Creates the life cycle of a new cache; by default the disk is swept once an hour.
    init(registry: CacheRegistry = .shared, janitor: CacheJanitor = CacheJanitor(interval: 3600)) {
        self.registry = registry
        self.janitor = janitor
    }

    deinit { registry.remove(ObjectIdentifier(self)) }

    /// Registers the cache with the process, and has its disk swept periodically.
    func begin(_ cache: ImageCache) {
        ExitFlush.prepare()
        registry.add(cache, as: ObjectIdentifier(self))
        janitor.start { [weak cache] in await cache?.cleanExpiredDiskCache() }
    }
}

/// Has the allocator return freed memory to the system, off the caller's thread.
///
/// The allocator keeps large freed blocks for reuse, which makes decoding fast. Memory freed before the return begins
/// is part of it; calls in the meantime do nothing.
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
