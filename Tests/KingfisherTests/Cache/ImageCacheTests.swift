// The image cache: what is found where, in which order things happen, and what a bad disk does.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct ImageCacheTests {
    private func withCache(_ body: (ImageCache) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await body(try ImageCache(name: "test", cacheDirectoryURL: directory))
        }
    }

    private func files(_ cache: ImageCache) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: cache.diskStorage.directoryURL.path)) ?? []
    }

    private let image = Picture.gradient()

    // MARK: Storing

    @Test("CAC-2: a quarter of the usable memory, no disk limit, seven days")
    func defaults() async throws {
        try await withCache { cache in
            #expect(cache.memoryStorage.config.totalCostLimit == Int(UsableMemory.bytes / 4))
            #expect(cache.diskStorage.config.sizeLimit == 0)
            #expect(cache.diskStorage.config.expiration == .days(7))
        }
    }

    @Test("CAC-6: memory is written before the call returns, the disk before the handler")
    func storing() async throws {
        try await withCache { cache in
            let done = Promise<CacheStoreResult>()
            cache.store(image, forKey: "a") { done.keep($0) }
            #expect(cache.retrieveImageInMemoryCache(forKey: "a") === image)
            let result = await done.value
            #expect(throws: Never.self) { try result.diskCacheResult.get() }
            #expect(files(cache) == [cache.hash(forKey: "a")])
            #expect(cache.diskStorage.isCached(forKey: "a"))
        }
    }

    @Test("CAC-7: without the disk the handler has been called when the call returns, and nothing is serialised")
    func storingInMemoryOnly() async throws {
        try await withCache { cache in
            let calls = Counter()
            cache.store(image, forKey: "a", cacheSerializer: FailingSerializer(), toDisk: false) { result in
                if case .success = result.diskCacheResult { calls.add() }
            }
            #expect(calls.value == 1)
            #expect(files(cache).isEmpty)
        }
    }

    @Test("CAC-9, CAC-10: what cannot be serialised is an error of the disk, and stays in memory")
    func serializingFails() async throws {
        try await withCache { cache in
            let error = await failure {
                try await cache.store(image, forKey: "a", cacheSerializer: FailingSerializer())
            }
            #expect(error?.errorCode == 3008)
            #expect(cache.imageCachedType(forKey: "a") == .memory)
        }
    }

    @Test("CAC-11: each part has its own expiration")
    func expirations() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a", options: .init([.diskCacheExpiration(.expired)]))
            #expect(cache.imageCachedType(forKey: "a") == .memory && files(cache).isEmpty)
            try await cache.store(image, forKey: "b", options: .init([.memoryCacheExpiration(.expired)]))
            #expect(cache.imageCachedType(forKey: "b") == .disk)
        }
    }

    @Test("CAC-12: a forced extension names another file, and memory ignores it")
    func forcedExtensions() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a", forcedExtension: "jpg")
            #expect(cache.imageCachedType(forKey: "a") == .memory)
            cache.clearMemoryCache()
            #expect(cache.imageCachedType(forKey: "a") == .none)
            #expect(cache.imageCachedType(forKey: "a", forcedExtension: "jpg") == .disk)
            #expect(cache.hash(forKey: "a", forcedExtension: "jpg").hasSuffix(".jpg"))
            #expect(cache.cacheFileURLIfOnDisk(forKey: "a") == nil)
            let path = cache.cachePath(forKey: "a", forcedExtension: "jpg")
            #expect(cache.cacheFileURLIfOnDisk(forKey: "a", forcedExtension: "jpg")?.path == path)
        }
    }

    @Test("CAC-13: operations on one key take effect in the order of the calls")
    func operationsHappenInOrder() async throws {
        try await withCache { cache in
            for round in 0..<20 {
                let done = Promise<Void>()
                for _ in 0..<3 { cache.store(image, forKey: "a") { _ in } }
                cache.storeToDisk(Data("x".utf8), forKey: "a") { _ in }
                cache.removeImage(forKey: "a") { done.keep(()) }
                if round % 2 == 0 { cache.store(image, forKey: "a") { _ in } }
                await done.value
                let type = try await cache.retrieveImage(forKey: "a").cacheType
                #expect(type == (round % 2 == 0 ? .memory : .none))
                _ = try await cache.diskStorageSize  // waits for all stores
                #expect(cache.diskStorage.isCached(forKey: "a") == (round % 2 == 0))
            }
        }
    }

    @Test func bytesAreStoredAsTheyAre() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(Data("bytes".utf8), forKey: "a", processorIdentifier: "p")
            let path = cache.cachePath(forKey: "a", processorIdentifier: "p")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("bytes".utf8))
            #expect(cache.memoryStorageCacheCost == 0)
        }
    }

    // MARK: Retrieving

    @Test("CAC-15, CAC-17: from disk once, then from memory")
    func promotion() async throws {
        try await withCache { cache in
            #expect(try await cache.retrieveImage(forKey: "a").cacheType == .none)
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            #expect(try await cache.retrieveImageInDiskCache(forKey: "a")?.pixelWidth == 64)
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
            #expect(try await cache.retrieveImage(forKey: "a").cacheType == .disk)
            #expect(try await cache.retrieveImage(forKey: "a").cacheType == .memory)
        }
    }

    @Test("CAC-15: fromMemoryCacheOrRefresh does not look on disk")
    func memoryOnlyLookUp() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            #expect(try await cache.retrieveImage(forKey: "a", options: [.fromMemoryCacheOrRefresh]).cacheType == .none)
        }
    }

    @Test("CAC-16: what is in memory is reported before the call returns", arguments: [CallbackQueue.untouch])
    func synchronousHit(queue: CallbackQueue) async throws {
        try await withCache { cache in
            cache.memoryStorage.store(value: image, forKey: "a")
            let found = Box<Image?>(nil)
            cache.retrieveImage(forKey: "a", callbackQueue: queue) { found.value = (try? $0.get())?.image }
            #expect(found.value === image)
        }
    }

    @Test("CAC-16: on the main actor with the default queue too") @MainActor
    func synchronousHitOnMain() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            cache.memoryStorage.store(value: image, forKey: "a")
            let calls = Counter()
            cache.retrieveImage(forKey: "a") { _ in calls.add() }
            #expect(calls.value == 1)
        }
    }

    @Test("CAC-18: the processor is part of the key")
    func processors() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a", processorIdentifier: "p")
            #expect(cache.isCached(forKey: "a", processorIdentifier: "p"))
            #expect(!cache.isCached(forKey: "a"))
            let options: KingfisherOptionsInfo = [.processor(CountingProcessor("p"))]
            #expect(try await cache.retrieveImage(forKey: "a", options: options).cacheType == .memory)
            #expect(try await cache.retrieveImage(forKey: "a").cacheType == .none)
        }
    }

    @Test("CAC-21: on the caller's thread if asked")
    func synchronousDiskHit() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            let found = Box<CacheType?>(nil)
            cache.retrieveImage(forKey: "a", options: [.loadDiskFileSynchronously], callbackQueue: .untouch) {
                found.value = (try? $0.get())?.cacheType
            }
            #expect(found.value == .disk)
        }
    }

    @Test("F-1, CAC-22: what cannot be decoded is a miss, and is removed")
    func undecodableEntriesGo() async throws {
        try await withCache { cache in
            for options in [KingfisherOptionsInfo(), [.loadDiskFileSynchronously]] {
                try await cache.storeToDisk(Data("no image".utf8), forKey: "a")
                #expect(try await cache.retrieveImage(forKey: "a", options: options).cacheType == .none)
                #expect(files(cache).isEmpty)
            }
        }
    }

    @Test("F-19, CAC-32: what is removed while it is being read does not come back to memory")
    func removedWhileReading() async throws {
        try await withCache { cache in
            for clear in [{ cache.clearMemoryCache() }, { cache.removeImage(forKey: "a", completionHandler: nil) }] {
                try await cache.store(image, forKey: "a")
                cache.clearMemoryCache()
                let serializer = GatedSerializer()
                let reading = Task.immediate {
                    try await cache.retrieveImage(forKey: "a", options: [.cacheSerializer(serializer)])
                }
                await serializer.isDecoding.value
                clear()
                serializer.mayGoOn.signal()
                #expect(try await reading.value.cacheType == .disk)
                #expect(!cache.memoryStorage.isCached(forKey: "a"))
            }
        }
    }

    @Test("CAC-23: what cannot be read is an error")
    func unreadableEntries() async throws {
        try await withCache { cache in
            cache.diskStorage.maybeCached = nil  // every name may be there
            let url = cache.diskStorage.cacheFileURL(forKey: "a")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let error = await failure { try await cache.retrieveImage(forKey: "a") }
            #expect(error?.errorCode == 3004)
        }
    }

    @Test("CAC-26, CAC-27: asking where an image is")
    func askingAsynchronously() async throws {
        try await withCache { cache in
            #expect(await cache.imageCachedTypeAsync(forKey: "a") == .none)
            try await cache.store(image, forKey: "a")
            let type = Box<CacheType?>(nil)
            cache.imageCachedTypeAsync(forKey: "a", callbackQueue: .untouch) { type.value = $0 }
            #expect(type.value == .memory)
            cache.clearMemoryCache()
            #expect(await cache.imageCachedTypeAsync(forKey: "a") == .disk)
            let answer = Promise<CacheType>()
            cache.imageCachedTypeAsync(forKey: "a", callbackQueue: .untouch) { answer.keep($0) }
            #expect(await answer.value == .disk)
        }
    }

    // MARK: Removing, cleaning, listing

    @Test("CAC-31, F-18: removing what is not there is no error")
    func removingWhatIsAbsent() async throws {
        try await withCache { cache in
            try await cache.removeImage(forKey: "a")
            try await cache.store(image, forKey: "a")
            try await cache.removeImage(forKey: "a", fromDisk: false)
            #expect(cache.imageCachedType(forKey: "a") == .disk)
            try await cache.removeImage(forKey: "a")
            #expect(cache.imageCachedType(forKey: "a") == .none)
        }
    }

    @Test("CAC-29, CAC-33: sizes, clearing, and the cache after that")
    func sizesAndClearing() async throws {
        try await withCache { cache in
            #expect(try await cache.diskStorageSize == 0)
            let png = try Picture.png()
            for key in ["a", "b", "c"] { try await cache.store(image, forKey: key) }
            #expect(try await cache.diskStorageSize == UInt(3 * png.count))
            #expect(cache.memoryStorageCacheCost == 3 * 64 * 64 * 4)
            let size = Promise<UInt?>()
            cache.calculateDiskStorageSize { size.keep(try? $0.get()) }
            #expect(await size.value == UInt(3 * png.count))

            await cache.clearCache()
            #expect(files(cache).isEmpty && cache.memoryStorageCacheCost == 0)
            try await cache.store(image, forKey: "a")
            try FileManager.default.removeItem(at: cache.diskStorage.directoryURL)
            #expect(try await cache.diskStorageSize == 0)
            await cache.clearDiskCache()
            try await cache.store(image, forKey: "a")
            #expect(files(cache).count == 1)
        }
    }

    @Test("CAC-34, CAC-35: cleaning tells what it removed")
    func cleaning() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(Data("x".utf8), forKey: "old", expiration: .seconds(0.001))
            try await cache.storeToDisk(Data("x".utf8), forKey: "new")
            let removed = Promise<[String]>()
            let observer = NotificationCenter.default.addObserver(
                forName: .KingfisherDidCleanDiskCache,
                object: cache,
                queue: nil
            ) { removed.keep($0.userInfo?[KingfisherDiskCacheCleanedHashKey] as? [String] ?? []) }
            defer { NotificationCenter.default.removeObserver(observer) }
            while cache.diskStorage.isCached(forKey: "old") { await Task.yield() }
            await cache.cleanExpiredCache()
            #expect(await removed.value == [cache.hash(forKey: "old")])
            #expect(files(cache) == [cache.hash(forKey: "new")])
        }
    }

    @Test("CAC-36, F-10: handlers are called and async forms return whatever fails")
    func handlersAreAlwaysCalled() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 1, directory: file)
            let cache = ImageCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: true)
            )
            let calls = (0..<4).map { _ in Promise<Void>() }
            cache.clearDiskCache { calls[0].keep(()) }
            cache.cleanExpiredDiskCache { calls[1].keep(()) }
            cache.removeImage(forKey: "a") { calls[2].keep(()) }
            cache.store(image, forKey: "a") { result in
                if case .failure(.cacheError(.diskStorageIsNotReady)) = result.diskCacheResult { calls[3].keep(()) }
            }
            for call in calls { await call.value }
            await cache.cleanExpiredCache()
            await cache.clearDiskCache()
            let error = await failure { try await cache.diskStorageSize }
            #expect(error?.errorCode == 3011)
            #expect(cache.imageCachedType(forKey: "a") == .memory)
        }
    }

    @Test func entriesAreListedWithTheirKeys() async throws {
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

    @Test("CAC-5: an unused cache goes at once")
    func anUnusedCacheGoes() async throws {
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

/// Makes no bytes of any image.
private struct FailingSerializer: CacheSerializer {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { nil }
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
}

/// Tells when it is asked for an image, and makes it when it may.
private struct GatedSerializer: CacheSerializer {
    let isDecoding = Promise<Void>()
    let mayGoOn = DispatchSemaphore(value: 0)

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { nil }
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isDecoding.keep(())
        mayGoOn.wait()
        return DefaultCacheSerializer.default.image(with: data, options: options)
    }
}
