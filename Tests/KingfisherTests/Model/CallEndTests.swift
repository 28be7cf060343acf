// Completion handlers of caches and loads: after the call has returned, but for what is done on the caller's thread.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(2))) struct CallEndTests {
    private static let image = SampleImage.gradient(8, 8)

    private typealias Call = @Sendable (_ cache: ImageCache, _ done: @escaping @Sendable () -> Void) -> Void

    /// Whether a handler was called inside its call; returns once it has been.
    private func isCalledInside(_ cache: ImageCache, _ call: Call) async -> Bool {
        let (thread, hasReturned, inside) = (pthread_self(), Box(false), Promise<Bool>())
        call(cache) { inside.fulfil(!hasReturned.value && pthread_equal(thread, pthread_self()) != 0) }
        hasReturned.value = true
        return await inside.value
    }

    @Test("What needs memory alone is reported inside the call") func doneAtOnce() async throws {
        let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        var inMemory = options
        inMemory.queryCacheLayers = .memory
        let calls: [Call] = [
            { cache, done in
                cache.store(Self.image, forKey: "a", options: options, toDisk: false) { _ in done() }
            },
            { cache, done in
                cache.store(Self.image, forKey: "a", toDisk: false) { (_: CacheStoreResult) in done() }
            },
            { $0.removeImage(forKey: "a", fromDisk: false, completionHandler: $1) },
            { [inMemory] cache, done in
                cache.retrieveImage(forKey: "a", options: inMemory, callbackQueue: .untouch) { _ in done() }
            },
        ]
        try await withCache { cache in
            for call in calls { #expect(await isCalledInside(cache, call)) }
        }
    }

    @Test("What is read on the caller's thread is reported inside the call, hit or miss")
    func readAtOnce() async throws {
        let calls: [Call] = [
            { cache, done in
                cache.retrieveImage(forKey: "a", options: [.loadDiskFileSynchronously], callbackQueue: .untouch) { _ in
                    done()
                }
            },
            { cache, done in
                cache.retrieveImageInDiskCache(forKey: "a", options: [.loadDiskFileSynchronously]) { _ in done() }
            },
        ]
        try await withCache { cache in
            for (number, call) in calls.enumerated() {
                #expect(await isCalledInside(cache, call), "a miss, \(number)")
                try await cache.store(Self.image, forKey: "a")
                cache.clearMemoryCache()
                #expect(await isCalledInside(cache, call), "a hit, \(number)")
                try await cache.removeImage(forKey: "a")
            }
        }
    }

    @Test("A hit in memory is reported inside the call if the queue allows it") func inMemory() async throws {
        try await withCache { cache in
            try await cache.store(Self.image, forKey: "a")
            let look: Call = { cache, done in
                cache.retrieveImage(forKey: "a", callbackQueue: .untouch) { _ in done() }
            }
            #expect(await isCalledInside(cache, look))
            let elsewhere: Call = { cache, done in
                cache.retrieveImage(forKey: "a", callbackQueue: .dispatch(.global())) { _ in done() }
            }
            #expect(await !isCalledInside(cache, elsewhere))
        }
    }

    @Test("A load that reads on the caller's thread delivers a hit inside the call, with the image modifier's change")
    func modifiedHit() async throws {
        try await Rig.run { rig in
            for (path, modifier) in [("/a", nil), ("/b", AnyImageModifier { _ in SampleImage.gradient(3, 3) })] {
                let url = try await rig.cached(path, width: 8, inMemory: false)
                var options: KingfisherOptionsInfo = [.loadDiskFileSynchronously]
                if let modifier { options.append(.imageModifier(modifier)) }
                let (hasReturned, inside) = (Box(false), Promise<Bool>())
                rig.manager.retrieveImage(with: url, options: options) { result in
                    #expect((try? result.get())?.image.pixelWidth == (modifier == nil ? 8 : 3))
                    inside.fulfil(!hasReturned.value)
                }
                hasReturned.value = true
                #expect(await inside.value)
            }
        }
    }

    @Test("A load that reads on the caller's thread and finds nothing ends after the call") func missedLoad()
        async throws
    {
        try await Rig.run { rig in
            let (thread, hasReturned, inside) = (pthread_self(), Box(false), Promise<Bool>())
            let options: KingfisherOptionsInfo = [.loadDiskFileSynchronously, .onlyFromCache]
            let task = rig.manager.retrieveImage(with: rig.server.url("/none"), options: options) { result in
                #expect(result.error != nil)
                inside.fulfil(!hasReturned.value && pthread_equal(thread, pthread_self()) != 0)
            }
            hasReturned.value = true
            #expect(task != nil)
            #expect(await !inside.value)
        }
    }

    @Test("What ends on another thread while the call is still under way is reported after the call")
    func endsElsewhere() async throws {
        try await withCache { cache in
            let (handled, called) = (Promise<Void>(), Box(false))
            let holding = HoldingExecutor { called.value }
            // Of a thread that no task needs, as it is held.
            Thread.detachNewThread {
                cache.report(
                    to: { (_: Int) in
                        called.value = true
                        handled.fulfil(())
                    },
                    on: .untouch
                ) {
                    await withTaskExecutorPreference(holding) { 1 }
                }
            }
            await handled.value
            #expect(!holding.sawCall)
        }
    }

    @Test("A load that ends on another thread while the call is still under way completes after the call")
    func loadEndsElsewhere() async throws {
        let (handled, called) = (Promise<Void>(), Box(false))
        let holding = HoldingExecutor { called.value }
        Thread.detachNewThread {
            DownloadTask().start(on: .untouch) { (_: Result<Int, KingfisherError>) in
                called.value = true
                handled.fulfil(())
            } _: {
                await withTaskExecutorPreference(holding) { 1 }
            } endsAtOnce: { _ in
                true
            }
        }
        await handled.value
        #expect(!holding.sawCall)
    }
}

/// Runs work on another thread, and holds the thread that hands it over until the work and other tasks are done.
private final class HoldingExecutor: TaskExecutor {
    private let isCalled: @Sendable () -> Bool
    private let seen = Box(false)

    init(isCalled: @escaping @Sendable () -> Bool) { self.isCalled = isCalled }

    /// Whether the handler was called while the thread was held.
    var sawCall: Bool { seen.value }

    func enqueue(_ job: consuming ExecutorJob) {
        let (job, done) = (UnownedJob(job), DispatchSemaphore(value: 0))
        Thread.detachNewThread { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            done.signal()
        }
        done.wait()
        // What continues the work on the cooperative pool has run before these.
        for _ in 0..<50 {
            Task { done.signal() }
            done.wait()
        }
        seen.value = isCalled()
    }
}
