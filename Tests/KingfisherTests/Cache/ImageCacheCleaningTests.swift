// The image cache: removing, clearing, cleaning, listing, and deinitialisation.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct ImageCacheCleaningTests {
    private let image = SampleImage.gradient()

    @Test("Removing a missing image is no error")
    func removeMissing() async throws {
        try await withCache { cache in
            try await cache.removeImage(forKey: "a")
            try await cache.store(image, forKey: "a")
            try await cache.removeImage(forKey: "a", fromDisk: false)
            #expect(cache.imageCachedType(forKey: "a") == .disk)
            try await cache.removeImage(forKey: "a")
            #expect(cache.imageCachedType(forKey: "a") == .none)
        }
    }

    @Test("Sizes are reported, clearing empties the cache, and the cache works afterwards")
    func sizesAndClearing() async throws {
        try await withCache { cache in
            #expect(try await cache.diskStorageSize == 0)
            let png = try SampleImage.png()
            for key in ["a", "b", "c"] { try await cache.store(image, forKey: key) }
            #expect(try await cache.diskStorageSize == UInt(3 * png.count))
            #expect(cache.memoryStorageCacheCost == 3 * 64 * 64 * 4)
            func sizeOnMain() async -> UInt? {
                let size = Promise<UInt?>()
                cache.calculateDiskStorageSize { size.fulfil(CallbackQueue.isMain ? try? $0.get() : nil) }
                return await size.value
            }
            #expect(await sizeOnMain() == UInt(3 * png.count))

            await cache.clearCache()
            #expect(files(cache).isEmpty && cache.memoryStorageCacheCost == 0)
            try await cache.store(image, forKey: "a")
            try FileManager.default.removeItem(at: cache.diskStorage.directoryURL)
            #expect(try await cache.diskStorageSize == 0)
            #expect(await sizeOnMain() == 0)
            await cache.clearDiskCache()
            try await cache.store(image, forKey: "a")
            #expect(files(cache).count == 1)
        }
    }

    @Test("Cleaning reports the entries it removed")
    func cleaning() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(Data("x".utf8), forKey: "old", expiration: .seconds(0.001))
            try await cache.storeToDisk(Data("x".utf8), forKey: "new")
            let removed = Promise<[String]>()
            let observer = NotificationCenter.default.addObserver(
                forName: .KingfisherDidCleanDiskCache,
                object: cache,
                queue: nil
            ) { removed.fulfil($0.userInfo?[KingfisherDiskCacheCleanedHashKey] as? [String] ?? []) }
            defer { NotificationCenter.default.removeObserver(observer) }
            while cache.diskStorage.isCached(forKey: "old") { await Task.yield() }
            await cache.cleanExpiredCache()
            #expect(await removed.value == [cache.hash(forKey: "old")])
            #expect(files(cache) == [cache.hash(forKey: "new")])
        }
    }

    @Test("Handlers are called and async forms return even when everything fails")
    func handlerCalls() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 1, directory: file)
            let cache = ImageCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: true)
            )
            let calls = (0..<4).map { _ in Promise<Void>() }
            cache.clearDiskCache { calls[0].fulfil(()) }
            cache.cleanExpiredDiskCache { calls[1].fulfil(()) }
            cache.removeImage(forKey: "a") { calls[2].fulfil(()) }
            cache.store(image, forKey: "a") { result in
                if case .failure(.cacheError(.diskStorageIsNotReady)) = result.diskCacheResult { calls[3].fulfil(()) }
            }
            for call in calls { await call.value }
            await cache.cleanExpiredCache()
            await cache.clearDiskCache()
            let error = await failure { try await cache.diskStorageSize }
            #expect(error?.errorCode == 3011)
            #expect(cache.imageCachedType(forKey: "a") == .memory)
        }
    }

    @Test("Entries are listed with their keys") func listing() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(
                Data("12345".utf8),
                forKey: "https://example.com/a.png",
                processorIdentifier: "p"
            )
            let entries = try await cache.diskEntries()
            let entry = try #require(entries.first)
            #expect(entries.count == 1)
            #expect(entry.size == 5)
            #expect(entry.key == "https://example.com/a.png@p" || entry.key == nil)
            #expect(entry.fileName == cache.hash(forKey: "https://example.com/a.png", processorIdentifier: "p"))
            #expect(entry.expiration > Date() + 6 * 86_400)
        }
    }

    @Test("An unused cache is released at once")
    func unusedCacheRelease() async throws {
        try await withTemporaryDirectory { directory in
            weak var cache: ImageCache?
            do {
                let kept = try ImageCache(name: "test", cacheDirectoryURL: directory)
                cache = kept
                #expect(cache != nil)
            }
            #expect(cache == nil)
        }
    }
}
