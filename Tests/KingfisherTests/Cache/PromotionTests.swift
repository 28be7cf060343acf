// Promotion from disk to memory while the disk changes: never of an entry that is removed or about to be.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct PromotionTests {
    private let image = SampleImage.gradient()

    /// Looks an image up synchronously.
    private func lookUpNow(_ cache: ImageCache) -> CacheType {
        let found = Box(CacheType.memory)
        cache.retrieveImage(forKey: "a", options: [.loadDiskFileSynchronously], callbackQueue: .untouch) {
            if case .success(let result) = $0 { found.value = result.cacheType }
        }
        return found.value
    }

    private static let changes: [(String, @Sendable (ImageCache, @escaping @Sendable () -> Void) -> Void)] = [
        ("removing", { cache, done in cache.removeImage(forKey: "a", completionHandler: done) }),
        ("storing", { cache, done in cache.storeToDisk(Data("x".utf8), forKey: "a") { _ in done() } }),
        ("clearing", { cache, done in cache.clearDiskCache(completion: done) }),
    ]

    @Test(
        "A synchronous look-up does not promote an entry that a waiting operation will change",
        arguments: 0..<3
    )
    func lookUpBesideRemoval(number: Int) async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            #expect(lookUpNow(cache) == .disk && cache.memoryStorage.isCached(forKey: "a"), "No operation is pending.")
            cache.clearMemoryCache()

            // The change waits behind a slow operation.
            let (ticket, mayEnd, changed) = (cache.operations.ticket(forKey: "a"), Promise<Void>(), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            Self.changes[number].1(cache) { changed.fulfil(()) }
            #expect(lookUpNow(cache) == .disk, "The entry still exists.")
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
            mayEnd.fulfil(())
            await slow.value
            await changed.value
            #expect(!cache.memoryStorage.isCached(forKey: "a"))

            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            #expect(lookUpNow(cache) == .disk && cache.memoryStorage.isCached(forKey: "a"), "The operation has ended.")
        }
    }

    @Test("An image that was read is not promoted when another store to disk is pending")
    func storingWhileDecoding() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            let stored = Promise<Void>()
            let serializer = InterruptedSerializer {
                cache.storeToDisk(Data("x".utf8), forKey: "a") { _ in stored.fulfil(()) }
            }
            #expect(
                try await cache.retrieveImage(forKey: "a", options: [.cacheSerializer(serializer)]).cacheType == .disk
            )
            await stored.value
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
        }
    }

    @Test("An image that a load makes from an entry is not promoted after the entry was removed", arguments: 0..<3)
    func removingWhileProcessing(change: Int) async throws {
        try await withCache { cache in
            let (png, processor) = (try SampleImage.png(), GatedProcessor())
            try await cache.storeToDisk(png, forKey: "a", processorIdentifier: processor.identifier)
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            var serializer = DefaultCacheSerializer()
            serializer.preferCacheOriginalData = true
            let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(serializer), .onlyFromCache]
            let source = Source.provider(RawImageDataProvider(data: png, cacheKey: "a"))
            let loading = Task.immediate { try await manager.retrieveImage(with: source, options: options) }
            await processor.isWorking.value
            switch change {
            case 0: try await cache.removeImage(forKey: "a", processorIdentifier: processor.identifier)
            case 1: await cache.clearCache()
            default: break
            }
            processor.mayGoOn.signal()
            #expect(try await loading.value.cacheType == .disk)
            let type = cache.imageCachedType(forKey: "a", processorIdentifier: processor.identifier)
            #expect(type == (change == 2 ? .memory : .none))
        }
    }

    @Test("An image that is read while the cache is cleared does not stay in memory", arguments: [false, true])
    func clearing(isAwaited: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let cache = BusyCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: try DiskStorage.Backend(config: .init(name: "test", sizeLimit: 0, directory: directory))
            )
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            if isAwaited {
                await cache.clearCache()
            } else {
                let cleared = Promise<Bool>()
                cache.clearCache { cleared.fulfil(CallbackQueue.isMain) }
                #expect(await cleared.value)
            }
            #expect(cache.found.value == [.disk])
            #expect(!cache.isCached(forKey: "a"))
        }
    }
}

/// Signals when it is called, and works when the test lets it.
private struct GatedProcessor: ImageProcessor {
    let identifier = "gated"
    let isWorking = Promise<Void>()
    let mayGoOn = DispatchSemaphore(value: 0)

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isWorking.fulfil(())
        mayGoOn.wait()
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}

/// Runs a closure before it decodes.
private struct InterruptedSerializer: CacheSerializer {
    let interruption: @Sendable () -> Void

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { original }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        interruption()
        return DefaultCacheSerializer.default.image(with: data, options: options)
    }
}

/// A cache that looks an image up just before its files are cleared.
private final class BusyCache: ImageCache, @unchecked Sendable {
    let found = Box<[CacheType]>([])

    private func lookUp() {
        retrieveImage(forKey: "a", options: [.loadDiskFileSynchronously], callbackQueue: .untouch) { [found] result in
            if case .success(let result) = result { found.change { $0.append(result.cacheType) } }
        }
    }

    override func clearDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        lookUp()
        super.clearDiskCache(completion: handler)
    }
}
