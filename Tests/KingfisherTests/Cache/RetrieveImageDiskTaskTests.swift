// Cancellable look-ups in the form they had before version 5.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct RetrieveImageDiskTaskTests {
    private let image = SampleImage.gradient()
    private let options: KingfisherOptionsInfo = [.callbackQueue(.untouch)]

    @Test("A look-up cancelled before its position in the queue is reached reads nothing and finds nothing")
    func cancelledBeforeReading() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            cache.resetStatistics()
            let (ticket, mayEnd) = (cache.operations.ticket(forKey: "a"), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let (calls, result) = (Counter(), Promise<CacheType>())
            let task = cache.deprecatedForms.retrieveImage(forKey: "a", options: options) {
                (found: KFCrossPlatformImage?, type) in
                calls.add()
                #expect(found == nil)
                result.fulfil(type)
            }
            let started: RetrieveImageDiskTask = try #require(task)
            #expect(!started.isCancelled)
            started.cancel()
            started.cancel()
            mayEnd.fulfil(())
            await slow.value
            #expect(await result.value == .none)
            #expect(started.isCancelled && calls.value == 1)
            #expect(cache.statistics.disk.lookups == 0, "It was not read.")
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
            #expect(cache.diskStorage.isCached(forKey: "a"))
        }
    }

    @Test("A look-up cancelled while it decodes adds nothing to memory")
    func cancelledWhileDecoding() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            let (serializer, result) = (GatedSerializer(), Promise<CacheType>())
            let options = options + [.cacheSerializer(serializer)]
            let task = cache.deprecatedForms.retrieveImage(forKey: "a", options: options) {
                (_: KFCrossPlatformImage?, type) in
                result.fulfil(type)
            }
            await serializer.isDecoding.value
            task?.cancel()
            serializer.mayGoOn.signal()
            #expect(await result.value == .none)
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
        }
    }

    @Test("The result comes on the queue of the options, from memory and from disk", arguments: [true, false])
    func callbackQueue(isInMemory: Bool) async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            if !isInMemory { cache.clearMemoryCache() }
            let (queue, key) = (DispatchQueue(label: "named"), DispatchSpecificKey<Bool>())
            queue.setSpecific(key: key, value: true)
            let isThere = Promise<Bool>()
            let options: KingfisherOptionsInfo = [.callbackQueue(.dispatch(queue))]
            cache.deprecatedForms.retrieveImage(forKey: "a", options: options) {
                (_: KFCrossPlatformImage?, _: CacheType) in
                isThere.fulfil(DispatchQueue.getSpecific(key: key) == true)
            }
            #expect(await isThere.value)
        }
    }

    @Test("A look-up that is not cancelled finds its image, and one without a handler returns no task")
    func notCancelled() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            for type in [CacheType.memory, .disk] {
                if type == .disk { cache.clearMemoryCache() }
                let result = Promise<CacheType>()
                let task = cache.deprecatedForms.retrieveImage(forKey: "a", options: options) {
                    (_: KFCrossPlatformImage?, type) in
                    result.fulfil(type)
                }
                #expect(await result.value == type)
                task?.cancel()
            }
            let none: (@Sendable (KFCrossPlatformImage?, CacheType) -> Void)? = nil
            let task: RetrieveImageDiskTask? = cache.deprecatedForms.retrieveImage(
                forKey: "a",
                options: options,
                completionHandler: none
            )
            #expect(task == nil)
        }
    }
}
