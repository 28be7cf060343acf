// Groups of caches: which of them an operation reaches, and loads through a group.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct ImageCacheGroupTests {
    /// Two caches in directories of their own, and a group in which the second has the higher priority.
    private struct Caches {
        let low: ImageCache
        let high: ImageCache
        let group: ImageCacheGroup
    }

    private let image = SampleImage.gradient(4, 4)
    private let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])

    private func withCaches(_ body: (Caches) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let low = try ImageCache(name: "low", cacheDirectoryURL: directory)
            let high = try ImageCache(name: "high", cacheDirectoryURL: directory)
            let group = ImageCacheGroup([low, high], name: "test-\(UUID().uuidString)")
            try await body(Caches(low: low, high: high, group: group))
            let own = group.diskStorage.directoryURL.path
            #expect(!FileManager.default.fileExists(atPath: own) && group.memoryStorage.totalCacheCost() == 0)
        }
    }

    @Test("A look-up finds what any of the caches has, the highest first, in memory and on disk") func query()
        async throws
    {
        try await withCaches { caches in
            let other = SampleImage.gradient(8, 8)
            try await caches.low.store(image, forKey: "a")
            #expect(try await caches.group.retrieveImage(forKey: "a").image === image)
            caches.low.clearMemoryCache()
            let found = try await caches.group.retrieveImage(forKey: "a")
            #expect(found.cacheType == .disk && found.image?.pixelWidth == 4)
            try await caches.high.store(other, forKey: "a")
            for policy in [ImageCacheGroup.Policy.serial, .concurrent, .highestOnly] {
                caches.group.queryPolicy = policy
                #expect(try await caches.group.retrieveImage(forKey: "a").image === other)
                #expect(try await caches.group.retrieveImageInDiskCache(forKey: "a")?.pixelWidth == 8)
                #expect(try await caches.group.retrieveImage(forKey: "b").cacheType == .none)
            }
            caches.group.queryPolicy = .lowestOnly
            #expect(try await caches.group.retrieveImageInDiskCache(forKey: "a")?.pixelWidth == 4)
            caches.group.queryPolicy = .highestOnly
            try await caches.high.removeImage(forKey: "a")
            #expect(try await caches.group.retrieveImage(forKey: "a").cacheType == .none)
        }
    }

    @Test(
        "Images and bytes are stored where the policy says",
        arguments: [
            (ImageCacheGroup.Policy.serial, true, true), (.concurrent, true, true), (.highestOnly, false, true),
            (.lowestOnly, true, false),
        ]
    )
    func store(policy: ImageCacheGroup.Policy, low: Bool, high: Bool) async throws {
        try await withCaches { caches in
            caches.group.storePolicy = policy
            try await caches.group.store(image, forKey: "a", options: options)
            try await caches.group.storeToDisk(try SampleImage.png(8, 8), forKey: "b")
            for (cache, isThere) in [(caches.low, low), (caches.high, high)] {
                #expect(cache.memoryStorage.isCached(forKey: "a") == isThere)
                for key in ["a", "b"] { #expect(cache.diskStorage.isCached(forKey: key) == isThere) }
            }
            #expect(caches.group.memoryStorageCacheCost == image.cacheCost * (low && high ? 2 : 1))
            let sizes = (try await caches.low.diskStorageSize, try await caches.high.diskStorageSize)
            #expect(try await caches.group.diskStorageSize == sizes.0 + sizes.1)
        }
    }

    @Test("Images are removed and caches cleared where the policy says") func removing() async throws {
        try await withCaches { caches in
            func fill() async throws {
                for cache in [caches.low, caches.high] { try await cache.store(image, forKey: "a") }
            }
            func types() -> [CacheType] { [caches.low, caches.high].map { $0.imageCachedType(forKey: "a") } }
            for (policy, left) in [
                (ImageCacheGroup.Policy.concurrent, [CacheType.none, .none]), (.serial, [.none, .none]),
                (.highestOnly, [.memory, .none]), (.lowestOnly, [.none, .memory]),
            ] {
                (caches.group.removePolicy, caches.group.clearPolicy) = (policy, policy)
                try await fill()
                try await caches.group.removeImage(forKey: "a")
                #expect(types() == left, "\(policy)")
                try await fill()
                await withCheckedContinuation { done in caches.group.removeImage(forKey: "a") { done.resume() } }
                #expect(types() == left, "\(policy)")
                try await fill()
                await caches.group.clearCache()
                #expect(types() == left, "\(policy)")
            }
            try await fill()
            caches.group.clearPolicy = .concurrent
            caches.group.clearMemoryCache()
            #expect(types() == [.disk, .disk])
        }
    }

    @Test("An image is cached where the policy says that it is looked") func contains() async throws {
        try await withCaches { caches in
            try await caches.low.store(image, forKey: "a")
            #expect(caches.group.imageCachedType(forKey: "a") == .memory && caches.group.isCached(forKey: "a"))
            #expect(await caches.group.imageCachedTypeAsync(forKey: "a") == .memory)
            #expect(caches.group.cacheFileURLIfOnDisk(forKey: "a") == caches.low.cacheFileURLIfOnDisk(forKey: "a"))
            caches.group.containsPolicy = .highestOnly
            #expect(!caches.group.isCached(forKey: "a") && caches.group.cacheFileURLIfOnDisk(forKey: "a") == nil)
            #expect(await caches.group.imageCachedTypeAsync(forKey: "a") == .none)
        }
    }

    @Test("Caches are added with the highest priority and taken out") func membership() async throws {
        try await withCaches { caches in
            let (group, low, high) = (caches.group, caches.low, caches.high)
            #expect(group.caches.map { $0 === low } == [true, false])
            group.add(low)
            #expect(group.caches.map { $0 === low } == [false, true])
            group.remove(high)
            #expect(group.caches.count == 1)
        }
    }

    @Test("A group without caches misses, and its operations succeed") func empty() async throws {
        let group = ImageCacheGroup([], name: "empty")
        for policy in [ImageCacheGroup.Policy.serial, .concurrent, .highestOnly, .lowestOnly] {
            (group.queryPolicy, group.storePolicy, group.removePolicy) = (policy, policy, policy)
            try await group.store(image, forKey: "a", options: options)
            #expect(try await group.retrieveImage(forKey: "a").cacheType == .none)
            #expect(try await group.retrieveImageInDiskCache(forKey: "a") == nil)
            try await group.removeImage(forKey: "a")
            await group.clearCache()
            #expect(!group.isCached(forKey: "a"))
            #expect(try await group.diskStorageSize == 0)
        }
    }

    @Test("A manager finds images of all caches, keeps originals and what servers say, and stores in the highest")
    func loads() async throws {
        try await Rig.run { rig in
            let high = try ImageCache(name: "high", cacheDirectoryURL: rig.directory), low = rig.cache
            let group = ImageCacheGroup([low, high], name: "test-\(UUID().uuidString)")
            let url = rig.server.url("/a"), etag = "\"1\""
            rig.server.route("/a", TestResponse.data(try SampleImage.png(8, 8)).with { $0.etag = etag })
            try await low.store(image, forKey: "kept")
            rig.manager.cache = group
            let kept = KF.ImageResource(downloadURL: url, cacheKey: "kept")
            #expect(try await rig.manager.retrieveImage(with: kept).image === image)
            let blurred: KingfisherOptionsInfo = [
                .processor(BlurImageProcessor(blurRadius: 1)), .cacheOriginalImage, .waitForCache,
            ]
            #expect(try await rig.manager.retrieveImage(with: url, options: blurred).cacheType == .none)
            #expect(high.isCached(forKey: url.cacheKey) && !low.isCached(forKey: url.cacheKey))
            #expect(try await high.cacheMetadata(forKey: url.cacheKey)?.eTag == etag)
            let rotated: KingfisherOptionsInfo = [.processor(RotationImageProcessor(angle: 1)), .waitForCache]
            _ = try await rig.manager.retrieveImage(with: url, options: rotated)
            #expect(rig.server.count("/a") == 1)
            let refreshed = try await rig.manager.retrieveImage(with: url, options: blurred + [.refreshCached])
            #expect(refreshed.revalidation?.isNotModified == true)
            #expect(rig.server.lastRequest("/a")?.header("If-None-Match") == etag)
        }
    }
}
