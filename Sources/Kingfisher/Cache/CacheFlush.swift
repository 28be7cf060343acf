// Waiting for the disk before the process ends. Used by `ImageCache`'s functions for termination, and at `exit`.

import Dispatch
import Foundation
import KFStorage
import KFSupport

/// Waiting for the disk operations of caches, for a limited time.
struct CacheFlush: Sendable {
    private let caches: [ImageCache]
    private let work: @Sendable () async -> Void

    /// The disk operations of these caches until now.
    init(_ caches: [ImageCache]) {
        self.caches = caches
        // Each ticket is behind all operations of the cache so far; running nothing with it waits for all of them.
        let tickets = caches.map { $0.core.operations.ticketForAll(isBarrier: false) }
        work = {
            for ticket in tickets { await ticket.run {} }
            // A thread that stored an entry may have left the eviction of others to another thread.
            for files in caches.map(\.diskStorage.files) where files.isMakingRoom {
                await WorkExecutor.io.run { files.waitForRoom() }
            }
        }
    }

    /// Waits on this thread, and returns whether all is done.
    ///
    /// If there is time left, `thenCleaning` uses it to remove expired files.
    func wait(atMost seconds: TimeInterval, thenCleaning: Bool) -> Bool {
        let deadline = DispatchTime.now() + max(0, seconds)
        guard Self.wait(for: work, until: deadline) else { return false }
        if thenCleaning { _ = Self.wait(for: cleaning, until: deadline) }
        return true
    }

    /// Waits without blocking a thread, and returns whether all is done.
    func wait(
        atMost seconds: TimeInterval,
        thenCleaning: Bool,
        clock: any Clock<Duration> = ContinuousClock()
    ) async -> Bool {
        let isFlushed = Locked(false)
        let isOver = Promise<Void>()
        Task.immediate { [work] in
            await work()
            isFlushed.withLock { $0 = true }
            if thenCleaning, isOver.valueIfFulfilled == nil { await cleaning() }
            isOver.fulfil(())
        }
        let alarm = Task {
            try? await clock.sleep(for: Duration(clampingSeconds: seconds))
            isOver.fulfil(())
        }
        await isOver.value
        alarm.cancel()
        return isFlushed.withLock { $0 }
    }

    private var cleaning: @Sendable () async -> Void {
        { [caches] in
            await withTaskGroup { group in
                for cache in caches { group.addTask { await cache.cleanExpiredDiskCache() } }
            }
        }
    }

    /// Work that has nothing to wait for is done at once on this thread; only the rest needs another.
    private static func wait(for work: @escaping @Sendable () async -> Void, until deadline: DispatchTime) -> Bool {
        let isOver = DispatchSemaphore(value: 0)
        Task.immediate(priority: .userInitiated) {
            await work()
            isOver.signal()
        }
        return isOver.wait(timeout: deadline) == .success
    }
}

/// The flush of all caches when the process ends by itself: by `exit`, or by returning from its main function.
enum ExitFlush {
    /// Registers with the C library's `atexit`; only the first call does.
    static func prepare() { _ = isPrepared }

    private static let isPrepared: Bool = {
        ExitFlush.process.withLock { $0 = getpid() }
        // libcrypto is loaded before this is registered, so that it is cleaned up later: the flush hashes file names.
        _ = FileNaming.hash("")
        return atexit { ExitFlush.run(CacheRegistry.shared) } == 0
    }()

    /// The process that registered the flush.
    ///
    /// A forked child has its memory but not its threads: no thread there would do the work.
    private static let process = Locked(pid_t(0))

    static func run(_ registry: CacheRegistry) {
        guard registry.flushesOnExit, process.withLock({ $0 }) == getpid() else { return }
        _ = CacheFlush(registry.caches).wait(atMost: registry.timeLimit, thenCleaning: false)
    }
}
