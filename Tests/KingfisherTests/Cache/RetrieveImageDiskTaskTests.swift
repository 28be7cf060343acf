// Look-ups as before version 5, which may be called off.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct RetrieveImageDiskTaskTests {
    private func withCache(_ body: (ImageCache) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await body(try ImageCache(name: "test", cacheDirectoryURL: directory))
        }
    }

    private let image = Picture.gradient()
    private let options: KingfisherOptionsInfo = [.callbackQueue(.untouch)]

    @Test("a look-up that is called off before its turn has come reads nothing, and ends with nothing")
    func calledOffBeforeReading() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            cache.resetStatistics()
            let (place, mayEnd) = (cache.order.place(forKey: "a"), Promise<Void>())
            let slow = Task { await place.run { await mayEnd.value } }
            let (calls, answer) = (Counter(), Promise<CacheType>())
            let task = cache.retrieveImage(forKey: "a", options: options) { (found: KFCrossPlatformImage?, type) in
                calls.add()
                #expect(found == nil)
                answer.keep(type)
            }
            let started: RetrieveImageDiskTask = try #require(task)
            #expect(!started.isCancelled)
            started.cancel()
            started.cancel()
            mayEnd.keep(())
            await slow.value
            #expect(await answer.value == .none)
            #expect(started.isCancelled && calls.value == 1)
            #expect(cache.statistics.disk.lookups == 0, "It was not read.")
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
            #expect(cache.diskStorage.isCached(forKey: "a"))
        }
    }

    @Test("a look-up that is called off while it decodes gives nothing to memory")
    func calledOffWhileDecoding() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            let (serializer, answer) = (GatedSerializer(), Promise<CacheType>())
            let options = options + [.cacheSerializer(serializer)]
            let task = cache.retrieveImage(forKey: "a", options: options) { (_: KFCrossPlatformImage?, type) in
                answer.keep(type)
            }
            await serializer.isDecoding.value
            task?.cancel()
            serializer.mayGoOn.signal()
            #expect(await answer.value == .none)
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
        }
    }

    @Test("the answer comes through the queue of the options, from memory and from disk", arguments: [true, false])
    func theQueueOfTheOptions(isInMemory: Bool) async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            if !isInMemory { cache.clearMemoryCache() }
            let (queue, key) = (DispatchQueue(label: "named"), DispatchSpecificKey<Bool>())
            queue.setSpecific(key: key, value: true)
            let isThere = Promise<Bool>()
            let options: KingfisherOptionsInfo = [.callbackQueue(.dispatch(queue))]
            cache.retrieveImage(forKey: "a", options: options) { (_: KFCrossPlatformImage?, _: CacheType) in
                isThere.keep(DispatchQueue.getSpecific(key: key) == true)
            }
            #expect(await isThere.value)
        }
    }

    @Test("what is not called off is found, and who does not want to hear of it gets no task")
    func notCalledOff() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            for type in [CacheType.memory, .disk] {
                if type == .disk { cache.clearMemoryCache() }
                let answer = Promise<CacheType>()
                let task = cache.retrieveImage(forKey: "a", options: options) { (_: KFCrossPlatformImage?, type) in
                    answer.keep(type)
                }
                #expect(await answer.value == type)
                task?.cancel()
            }
            let none: (@Sendable (KFCrossPlatformImage?, CacheType) -> Void)? = nil
            let task: RetrieveImageDiskTask? = cache.retrieveImage(
                forKey: "a",
                options: options,
                completionHandler: none
            )
            #expect(task == nil)
        }
    }
}
