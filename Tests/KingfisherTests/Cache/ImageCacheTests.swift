// The image cache: storing and retrieving in memory and on disk, the order of operations, errors of the disk.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct ImageCacheTests {
    private let image = SampleImage.gradient()

    // MARK: Storing

    @Test("The defaults are a quarter of the usable memory, no disk limit and seven days")
    func defaults() async throws {
        try await withCache { cache in
            #expect(cache.memoryStorage.config.totalCostLimit == Int(UsableMemory.bytes / 4))
            #expect(cache.diskStorage.config.sizeLimit == 0)
            #expect(cache.diskStorage.config.expiration == .days(7))
        }
    }

    @Test("Memory is written before the call returns, the disk before the handler is called")
    func storing() async throws {
        try await withCache { cache in
            let done = Promise<CacheStoreResult>()
            cache.store(image, forKey: "a") { done.fulfil($0) }
            #expect(cache.retrieveImageInMemoryCache(forKey: "a") === image)
            let result = await done.value
            #expect(throws: Never.self) { try result.diskCacheResult.get() }
            #expect(files(cache) == [cache.hash(forKey: "a")])
            #expect(cache.diskStorage.isCached(forKey: "a"))
        }
    }

    @Test("A store in memory alone calls the handler before it returns, and serialises nothing")
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

    @Test("An image that cannot be serialised is a disk error, and stays in memory")
    func serializingFails() async throws {
        try await withCache { cache in
            let error = await failure {
                try await cache.store(image, forKey: "a", cacheSerializer: FailingSerializer())
            }
            #expect(error?.errorCode == 3008)
            #expect(cache.imageCachedType(forKey: "a") == .memory)
        }
    }

    @Test("Memory and disk each have their own expiration")
    func expirations() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a", options: .init([.diskCacheExpiration(.expired)]))
            #expect(cache.imageCachedType(forKey: "a") == .memory && files(cache).isEmpty)
            try await cache.store(image, forKey: "b", options: .init([.memoryCacheExpiration(.expired)]))
            #expect(cache.imageCachedType(forKey: "b") == .disk)
        }
    }

    @Test("Storing with an expiration that is over leaves what is there, in memory and on disk, in all forms")
    func expiredStores() async throws {
        try await withCache { cache in
            let (old, bytes) = (SampleImage.gradient(8, 8), try SampleImage.png(9, 9))
            let expired = KingfisherParsedOptionsInfo([
                .memoryCacheExpiration(.expired), .diskCacheExpiration(.expired),
            ])
            var onDisk = expired
            onDisk.storeCacheLayers = .disk
            try await cache.store(old, forKey: "a")
            func check(_ form: String) async throws {
                #expect(cache.retrieveImageInMemoryCache(forKey: "a") === old, "\(form)")
                #expect(try await cache.retrieveImageInDiskCache(forKey: "a")?.pixelWidth == 8, "\(form)")
            }
            try await cache.store(image, forKey: "a", options: expired)
            try await check("async")
            try await cache.store(image, forKey: "a", options: onDisk)
            try await check("on disk alone")
            let stored = Promise<CacheStoreResult>()
            cache.store(image, forKey: "a", options: expired) { stored.fulfil($0) }
            try await stored.value.diskCacheResult.get()
            try await check("with a handler")
            try await cache.storeToDisk(bytes, forKey: "a", expiration: .expired)
            try await check("bytes")
            cache.memoryStorage.config.expiration = .expired
            cache.diskStorage.config.expiration = .expired
            try await cache.store(image, forKey: "a")
            try await cache.storeToDisk(bytes, forKey: "a")
            try await check("configured")
        }
    }

    @Test("After its expiration in memory an image is only on disk")
    func shortMemoryExpiration() async throws {
        try await withTemporaryDirectory { directory in
            let now = Box(Date(timeIntervalSince1970: 1_700_000_000))
            let cache = ImageCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0), clock: { now.value }),
                diskStorage: try DiskStorage.Backend(config: .init(name: "test", sizeLimit: 0, directory: directory))
            )
            try await cache.store(image, forKey: "a", options: .init([.memoryCacheExpiration(.seconds(2))]))
            now.change { $0 += 1 }
            #expect(cache.imageCachedType(forKey: "a") == .memory)
            now.change { $0 += 1 }
            #expect(cache.imageCachedType(forKey: "a") == .disk)
        }
    }

    @Test("A forced extension names another file, and memory ignores it")
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

    @Test("Operations on one key take effect in the order of the calls")
    func operationOrder() async throws {
        try await withCache { cache in
            for round in 0..<20 {
                let done = Promise<Void>()
                for _ in 0..<3 { cache.store(image, forKey: "a") { _ in } }
                cache.storeToDisk(Data("x".utf8), forKey: "a") { _ in }
                cache.removeImage(forKey: "a") { done.fulfil(()) }
                if round % 2 == 0 { cache.store(image, forKey: "a") { _ in } }
                await done.value
                let type = try await cache.retrieveImage(forKey: "a").cacheType
                #expect(type == (round % 2 == 0 ? .memory : .none))
                _ = try await cache.diskStorageSize  // waits for all stores
                #expect(cache.diskStorage.isCached(forKey: "a") == (round % 2 == 0))
            }
        }
    }

    @Test("Bytes are stored unchanged") func unchangedBytes() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(Data("bytes".utf8), forKey: "a", processorIdentifier: "p")
            let path = cache.cachePath(forKey: "a", processorIdentifier: "p")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("bytes".utf8))
            #expect(cache.memoryStorageCacheCost == 0)
        }
    }

    // MARK: Retrieving

    @Test("An image is read from disk once, then found in memory")
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

    @Test("`fromMemoryCacheOrRefresh` does not look on disk")
    func memoryOnlyLookUp() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            #expect(try await cache.retrieveImage(forKey: "a", options: [.fromMemoryCacheOrRefresh]).cacheType == .none)
        }
    }

    @Test("A memory hit is reported before the call returns", arguments: [CallbackQueue.untouch])
    func synchronousHit(queue: CallbackQueue) async throws {
        try await withCache { cache in
            cache.memoryStorage.store(value: image, forKey: "a")
            let found = Box<Image?>(nil)
            cache.retrieveImage(forKey: "a", callbackQueue: queue) { found.value = (try? $0.get())?.image }
            #expect(found.value === image)
        }
    }

    @Test("A memory hit is synchronous also on the main actor with the default queue") @MainActor
    func synchronousHitOnMain() async throws {
        try await withCache { cache in
            cache.memoryStorage.store(value: image, forKey: "a")
            let calls = Counter()
            cache.retrieveImage(forKey: "a") { _ in calls.add() }
            #expect(calls.value == 1)
        }
    }

    @Test("The processor is part of the key")
    func processors() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a", processorIdentifier: "p")
            #expect(cache.isCached(forKey: "a", processorIdentifier: "p"))
            #expect(!cache.isCached(forKey: "a"))
            let (processor, other) = (CountingProcessor("p"), CountingProcessor("q"))
            for type in [CacheType.memory, .disk] {
                if type == .disk { cache.clearMemoryCache() }
                let found = try await cache.retrieveImage(forKey: "a", options: [.processor(processor)])
                #expect(found.cacheType == type)
                #expect(try await cache.retrieveImage(forKey: "a", options: [.processor(other)]).cacheType == .none)
                #expect(try await cache.retrieveImage(forKey: "a").cacheType == .none)
            }
            #expect(processor.runs.value == 0 && other.runs.value == 0, "The cache processes nothing.")
        }
    }

    @Test("If an option asks for it, the disk is read on the caller's thread")
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

    @Test("An entry that cannot be decoded is a miss and is removed")
    func undecodableEntries() async throws {
        try await withCache { cache in
            for options in [KingfisherOptionsInfo(), [.loadDiskFileSynchronously]] {
                try await cache.storeToDisk(Data("no image".utf8), forKey: "a")
                #expect(try await cache.retrieveImage(forKey: "a", options: options).cacheType == .none)
                #expect(files(cache).isEmpty)
            }
        }
    }

    @Test("An entry that is removed while it is read is not promoted to memory")
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

    @Test("An entry that cannot be read is an error")
    func unreadableEntries() async throws {
        try await withCache { cache in
            let url = cache.diskStorage.cacheFileURL(forKey: "a")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let error = await failure { try await cache.retrieveImage(forKey: "a") }
            #expect(error?.errorCode == 3004)
        }
    }

    @Test("The location of an image is reported asynchronously")
    func cachedTypeAsync() async throws {
        try await withCache { cache in
            #expect(await cache.imageCachedTypeAsync(forKey: "a") == .none)
            try await cache.store(image, forKey: "a")
            let type = Box<CacheType?>(nil)
            cache.imageCachedTypeAsync(forKey: "a", callbackQueue: .untouch) { type.value = $0 }
            #expect(type.value == .memory)
            cache.clearMemoryCache()
            #expect(await cache.imageCachedTypeAsync(forKey: "a") == .disk)
            let cachedType = Promise<CacheType>()
            cache.imageCachedTypeAsync(forKey: "a", callbackQueue: .untouch) { cachedType.fulfil($0) }
            #expect(await cachedType.value == .disk)
        }
    }
}

/// Returns no bytes for any image.
private struct FailingSerializer: CacheSerializer {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { nil }
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
}

/// Signals when it is called for an image, and returns it when the test lets it.
struct GatedSerializer: CacheSerializer {
    let isDecoding = Promise<Void>()
    let mayGoOn = DispatchSemaphore(value: 0)

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { nil }
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isDecoding.fulfil(())
        mayGoOn.wait()
        return DefaultCacheSerializer.default.image(with: data, options: options)
    }
}
