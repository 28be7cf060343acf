// The reactions of a cache to memory pressure, to the passing of time, and to a program that goes to the background or
// ends. Linux sends no notifications of the latter two: programs call these functions.

public import Foundation
public import KFSupport

// None of this is in Kingfisher.
extension ImageCache {
    // MARK: Memory

    /// Whether the process watches its memory while there is a cache; true at first.
    ///
    /// The kernel reports stalls for memory, which count where less than a quarter of it is left. Where that is not
    /// available, or a control group sets a limit, the memory is checked every ten seconds. Pressure is passed to all
    /// caches as by ``handleMemoryPressure(_:)``, at most once in thirty seconds unless it gets worse. It takes one
    /// thread, which sleeps. May be changed at any time, from any thread.
    public static var watchesMemoryPressure: Bool {
        get { CacheRegistry.shared.isWatching }
        set { CacheRegistry.shared.isWatching = newValue }
    }

    /// Frees memory: a warning removes images, the least valuable first, until they take half as much as before; at the
    /// critical level all images are removed.
    ///
    /// The limits do not change, so that the cache may grow again. Images that are in use elsewhere take memory
    /// until they are released. The allocator returns freed memory to the system a moment after this returns.
    public func handleMemoryPressure(_ level: MemoryPressureLevel) {
        guard level != .none else { return }
        reduceMemory(level)
        MemoryReturn.schedule()
    }

    /// Does for all caches of the process what ``handleMemoryPressure(_:)`` does for one.
    public static func handleMemoryPressureInAllCaches(_ level: MemoryPressureLevel) {
        CacheRegistry.shared.handle(level)
    }

    func reduceMemory(_ level: MemoryPressureLevel) {
        switch level {
        case .none: break
        case .warning: memoryStorage.store.shrink(toCost: memoryStorage.totalCacheCost() / 2)
        case .critical: memoryStorage.store.purgeAll()
        }
    }

    // MARK: Disk

    /// The seconds between two sweeps that remove expired files and those above the size limit; an hour at first.
    ///
    /// 0 and less, and values that are not finite, disable the sweeps. A new value holds at once. The first sweep comes
    /// after a random time, a twentieth to a quarter of the interval, so that processes started together do not sweep
    /// together. A sweep is a ``cleanExpiredDiskCache()`` in the background.
    public var diskCleanInterval: TimeInterval {
        get { lifeCycle.janitor.interval }
        set { lifeCycle.janitor.interval = newValue }
    }

    // MARK: Background

    /// To be called when the program goes to the background: its windows are hidden, or its users are gone.
    ///
    /// Removes images from memory, except those stored with ``MemoryStorage/Config/keepWhenEnteringBackground``, and
    /// files from disk, in the background, that have expired or are above the size limit. May be called from any
    /// thread.
    public func enteredBackground() {
        memoryStorage.store.purge()
        cleanExpiredDiskCache(completion: nil)
        MemoryReturn.schedule()
    }

    /// Does for all caches of the process what ``enteredBackground()`` does for one.
    public static func allCachesEnteredBackground() { CacheRegistry.shared.enteredBackground() }

    // MARK: Ending

    /// The seconds that the end of the process may wait for its caches; five at first.
    ///
    /// Holds for ``flushesOnExit`` and, by default, for `willTerminate(within:)`.
    public static var terminationTimeLimit: TimeInterval {
        get { CacheRegistry.shared.timeLimit }
        set { CacheRegistry.shared.timeLimit = newValue }
    }

    /// To be called when the program is about to end: waits on this thread until all stored images are on disk; then,
    /// if there is time left, removes expired files.
    ///
    /// May be called from any thread except those that run Swift's tasks: there, await the asynchronous form. The cache
    /// can be used afterwards. Images that are still being loaded are not waited for.
    ///
    /// - Parameter seconds: How long it may take at most.
    /// - Returns: Whether all disk operations that were begun before are done.
    @discardableResult
    public func willTerminate(within seconds: TimeInterval = ImageCache.terminationTimeLimit) -> Bool {
        CacheFlush([self]).wait(atMost: seconds, thenCleaning: true)
    }

    /// The same without blocking a thread.
    @discardableResult
    public func willTerminate(within seconds: TimeInterval = ImageCache.terminationTimeLimit) async -> Bool {
        await CacheFlush([self]).wait(atMost: seconds, thenCleaning: true)
    }

    /// Does for all caches of the process what `willTerminate(within:)` does for one, at the same time.
    @discardableResult
    public static func allCachesWillTerminate(
        within seconds: TimeInterval = ImageCache.terminationTimeLimit
    ) async -> Bool {
        await CacheFlush(CacheRegistry.shared.caches).wait(atMost: seconds, thenCleaning: true)
    }

    /// Whether a process that ends by `exit` or by returning from its main function waits for its caches to finish
    /// writing; true at first.
    ///
    /// It waits ``terminationTimeLimit`` at most, and not at all when nothing is being written. `_exit`, `abort` and
    /// signals end a process without waiting; a file that is incomplete then is not an entry, and is removed later.
    public static var flushesOnExit: Bool {
        get { CacheRegistry.shared.flushesOnExit }
        set { CacheRegistry.shared.flushesOnExit = newValue }
    }
}
