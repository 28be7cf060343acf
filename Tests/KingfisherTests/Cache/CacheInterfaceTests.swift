// Every function of a cache, called in each of its forms. That this file compiles is the larger part of the test.

import Foundation
import KFSupport
import Kingfisher
import Testing

@Suite struct CacheInterfaceTests {
    private static let image = SampleImage.gradient(4, 4)
    private static let data = Data("bytes".utf8)
    private typealias Done = @Sendable () -> Void

    @Test("Names and values of the cache's types are as in Kingfisher") func namesAndValues() {
        #expect(
            Notification.Name.KingfisherDidCleanDiskCache.rawValue
                == "com.onevcat.Kingfisher.KingfisherDidCleanDiskCache"
        )
        #expect(KingfisherDiskCacheCleanedHashKey == "com.onevcat.Kingfisher.cleanedHash")
        #expect(!CacheType.none.cached && CacheType.memory.cached && CacheType.disk.cached)
        let results: [(ImageCacheResult, CacheType)] = [
            (.disk(Self.image), .disk), (.memory(Self.image), .memory), (.none, .none),
        ]
        for (result, type) in results {
            #expect(result.cacheType == type && (result.image === Self.image) == type.cached)
        }
        let closure: ImageCache.DiskCachePathClosure = { $0.appendingPathComponent($1) }
        #expect(closure(URL(fileURLWithPath: "/a"), "b").path == "/a/b")
        let identifiers = [ImageCache.default, ImageCache.default].map { ObjectIdentifier($0) }
        #expect(identifiers[0] == identifiers[1])
    }

    @Test("The initialisers compile and work") func creating() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let memory = MemoryStorage.Backend<KFCrossPlatformImage>(config: .init(totalCostLimit: 1, cleanInterval: 120))
        let disk = try DiskStorage.Backend<Data>(
            config: .init(name: "test", sizeLimit: 0, fileManager: .default, directory: directory)
        )
        let cache = ImageCache(memoryStorage: memory, diskStorage: disk)
        #expect(cache.memoryStorage === memory && cache.diskStorage === disk)
        _ = try ImageCache(name: "test", cacheDirectoryURL: directory)
        _ = try ImageCache(name: "test", cacheDirectoryURL: directory, diskCachePathClosure: nil)
    }

    @Test("Every form with a completion handler compiles and works") func formsWithHandlers() async throws {
        try await withCache { cache in
            let calls = Self.calls(cache)
            for (index, call) in calls.enumerated() {
                let done = Promise<Int>()
                call { done.fulfil(index) }
                #expect(await done.value == index)
            }
            Self.callWithoutHandlers(cache)
            await cache.clearCache()
        }
    }

    /// Every form with a handler, in short and in full.
    private static func calls(_ cache: ImageCache) -> [(@escaping Done) -> Void] {
        storing(cache) + retrieving(cache) + cleaning(cache)
    }

    private static func storing(_ cache: ImageCache) -> [(@escaping Done) -> Void] {
        let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        return [
            { done in cache.store(image, forKey: "a", options: options) { _ in done() } },
            { done in
                cache.store(image, original: data, forKey: "a", options: options, toDisk: true) {
                    (result: CacheStoreResult) in
                    if case .success = result.memoryCacheResult { done() }
                }
            },
            { done in
                cache.store(image, forKey: "a") { result in
                    if case .success = result.diskCacheResult { done() }
                }
            },
            { done in
                cache.store(
                    image,
                    original: nil,
                    forKey: "a",
                    processorIdentifier: "p",
                    forcedExtension: "png",
                    cacheSerializer: FormatIndicatedCacheSerializer.png,
                    toDisk: true,
                    callbackQueue: .untouch,
                    completionHandler: { _ in done() }
                )
            },
            // As in version 4: the handler gets no result.
            { done in
                cache.deprecatedForms.store(
                    image,
                    original: data,
                    forKey: "a",
                    processorIdentifier: "p",
                    cacheSerializer: DefaultCacheSerializer.default,
                    toDisk: false,
                    completionHandler: done
                )
            },
            { done in cache.storeToDisk(data, forKey: "a") { _ in done() } },
            { done in
                cache.storeToDisk(
                    data,
                    forKey: "a",
                    processorIdentifier: "p",
                    forcedExtension: "png",
                    expiration: .days(1),
                    callbackQueue: .untouch,
                    completionHandler: { (_: CacheStoreResult) in done() }
                )
            },
            { done in cache.removeImage(forKey: "a") { done() } },
            { done in
                cache.removeImage(
                    forKey: "a",
                    processorIdentifier: "p",
                    forcedExtension: "png",
                    fromMemory: true,
                    fromDisk: true,
                    callbackQueue: .untouch,
                    completionHandler: done
                )
            },
            { done in
                cache.removeImage(forKey: "a", processorIdentifier: "p", fromMemory: true, fromDisk: false) { done() }
            },
        ]
    }

    private static func retrieving(_ cache: ImageCache) -> [(@escaping Done) -> Void] {
        let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        return [
            { done in cache.retrieveImage(forKey: "a") { (_: Result<ImageCacheResult, KingfisherError>) in done() } },
            { done in cache.retrieveImage(forKey: "a", options: [.scaleFactor(2)]) { _ in done() } },
            { done in
                cache.retrieveImage(
                    forKey: "a",
                    options: nil,
                    callbackQueue: .untouch,
                    completionHandler: { _ in done() }
                )
            },
            { done in cache.retrieveImage(forKey: "a", options: options) { _ in done() } },
            { done in cache.retrieveImage(forKey: "a", options: options, callbackQueue: .mainAsync) { _ in done() } },
            // As in version 4: the handler gets an optional image and its cache type.
            { done in
                cache.deprecatedForms.retrieveImage(forKey: "a", options: nil) { image, type in
                    if image == nil, type == .none { done() }
                }
            },
            { done in
                cache.retrieveImageInDiskCache(forKey: "a") { (_: Result<KFCrossPlatformImage?, KingfisherError>) in
                    done()
                }
            },
            { done in
                cache.retrieveImageInDiskCache(forKey: "a", options: [.scaleFactor(2)], callbackQueue: .untouch) { _ in
                    done()
                }
            },
            { done in cache.imageCachedTypeAsync(forKey: "a") { (_: CacheType) in done() } },
            { done in
                cache.imageCachedTypeAsync(
                    forKey: "a",
                    processorIdentifier: "p",
                    forcedExtension: "png",
                    callbackQueue: .untouch,
                    completionHandler: { _ in done() }
                )
            },
        ]
    }

    private static func cleaning(_ cache: ImageCache) -> [(@escaping Done) -> Void] {
        [
            { done in cache.clearCache { done() } },
            { done in cache.clearCache(completion: done) },
            { done in cache.clearDiskCache { done() } },
            { done in cache.clearDiskCache(completion: done) },
            { done in cache.cleanExpiredCache { done() } },
            { done in cache.cleanExpiredCache(completion: done) },
            { done in cache.cleanExpiredDiskCache { done() } },
            { done in cache.cleanExpiredDiskCache(completion: done) },
            { done in cache.calculateDiskStorageSize { (_: Result<UInt, KingfisherError>) in done() } },
            { done in cache.calculateDiskStorageSize(completion: { _ in done() }) },
            { done in cache.deprecatedForms.calculateDiskCacheSize { (_: UInt) in done() } },
        ]
    }

    /// Every form whose handler is optional, without one, and every form that returns a value.
    private static func callWithoutHandlers(_ cache: ImageCache) {
        let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        cache.store(image, forKey: "a")
        cache.store(image, forKey: "a", toDisk: false)
        cache.store(image, original: data, forKey: "a", options: options)
        cache.store(image, forKey: "a", options: options, completionHandler: nil)
        cache.storeToDisk(data, forKey: "a")
        cache.removeImage(forKey: "a")
        cache.removeImage(forKey: "a", fromMemory: false)
        cache.removeImage(forKey: "a", completionHandler: nil)
        cache.retrieveImage(forKey: "a", completionHandler: nil)
        cache.retrieveImage(forKey: "a", options: options, completionHandler: nil)
        let found: [KFCrossPlatformImage?] = [
            cache.retrieveImageInMemoryCache(forKey: "a"),
            cache.retrieveImageInMemoryCache(forKey: "a", options: [.scaleFactor(2)]),
            cache.retrieveImageInMemoryCache(forKey: "a", options: options),
        ]
        #expect(found.count == 3)
        cache.clearCache()
        cache.clearMemoryCache()
        cache.clearDiskCache()
        cache.cleanExpiredCache()
        cache.cleanExpiredMemoryCache()
        cache.cleanExpiredDiskCache()
        let types: [CacheType] = [
            cache.imageCachedType(forKey: "b"), cache.imageCachedType(forKey: "b", processorIdentifier: "p"),
            cache.imageCachedType(forKey: "b", processorIdentifier: "p", forcedExtension: "png"),
        ]
        #expect(types == [.none, .none, .none])
        let areCached: [Bool] = [
            cache.isCached(forKey: "b"), cache.isCached(forKey: "b", processorIdentifier: "p", forcedExtension: "png"),
        ]
        #expect(areCached == [false, false])
        let hash: String = cache.hash(forKey: "b", processorIdentifier: "p", forcedExtension: "png")
        let path: String = cache.cachePath(forKey: "b", processorIdentifier: "p", forcedExtension: "png")
        let url: URL? = cache.cacheFileURLIfOnDisk(forKey: "b", processorIdentifier: "p", forcedExtension: "png")
        #expect(path.hasSuffix(hash) && hash.hasSuffix(".png") && url == nil)
        #expect(cache.hash(forKey: "b") != hash && cache.cachePath(forKey: "b") != path)
        #expect(cache.cacheFileURLIfOnDisk(forKey: "b") == nil)
        let cost: Int = cache.memoryStorageCacheCost
        #expect(cost == 0)
    }

    @Test("Every async form compiles and works") func asyncForms() async throws {
        let image = Self.image
        try await withCache { cache in
            let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
            try await cache.store(image, forKey: "a")
            try await cache.store(
                image,
                original: Self.data,
                forKey: "a",
                processorIdentifier: "p",
                forcedExtension: "png",
                cacheSerializer: DefaultCacheSerializer.default,
                toDisk: true
            )
            try await cache.store(image, original: nil, forKey: "a", options: options, toDisk: true)
            try await cache.store(image, forKey: "a", options: options)
            try await cache.storeToDisk(Self.data, forKey: "b")
            try await cache.storeToDisk(
                Self.data,
                forKey: "b",
                processorIdentifier: "p",
                forcedExtension: "png",
                expiration: .never
            )
            let results: [ImageCacheResult] = [
                try await cache.retrieveImage(forKey: "a"),
                try await cache.retrieveImage(forKey: "a", options: [.scaleFactor(2)]),
                try await cache.retrieveImage(forKey: "a", options: options),
            ]
            #expect(results.allSatisfy { $0.image === image })
            let onDisk: [KFCrossPlatformImage?] = [
                try await cache.retrieveImageInDiskCache(forKey: "a"),
                try await cache.retrieveImageInDiskCache(forKey: "a", options: [.scaleFactor(2)]),
            ]
            #expect(onDisk.compactMap(\.self).count == 2)
            #expect(await cache.imageCachedTypeAsync(forKey: "a") == .memory)
            let type = await cache.imageCachedTypeAsync(forKey: "b", processorIdentifier: "p", forcedExtension: "png")
            #expect(type == .disk)
            let size: UInt = try await cache.diskStorageSize
            #expect(size > 0)
            try await cache.removeImage(forKey: "a")
            try await cache.removeImage(
                forKey: "a",
                processorIdentifier: "p",
                forcedExtension: "png",
                fromMemory: true,
                fromDisk: true
            )
            await cache.cleanExpiredCache()
            await cache.cleanExpiredDiskCache()
            await cache.clearDiskCache()
            await cache.clearCache()
            #expect(try await cache.diskStorageSize == 0)
        }
    }

    @Test("Cleaning in the background can be started on the main actor") @MainActor func onTheMainActor() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try ImageCache(name: "test", cacheDirectoryURL: directory).backgroundCleanExpiredDiskCache()
    }

    @Test("The async forms of cleaning and of the size call the forms with a handler that a subclass overrides")
    func overridingCleaning() async throws {
        try await withTemporaryDirectory { directory in
            let cache = Cleaning(
                memoryStorage: .init(config: .init(totalCostLimit: 0)),
                diskStorage: try .init(config: .init(name: "test", sizeLimit: 0, directory: directory))
            )
            await cache.clearDiskCache()
            await cache.clearCache()
            await cache.cleanExpiredDiskCache()
            await cache.cleanExpiredCache()
            #expect(cache.calls.value == ["clear", "clear", "clean disk", "clean"])
            #expect(try await cache.diskStorageSize == 42)
        }
    }

    /// Records its calls.
    // SAFETY: its only property is a constant.
    private final class Cleaning: ImageCache, @unchecked Sendable {
        let calls = Box<[String]>([])

        override func clearDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
            calls.change { $0.append("clear") }
            super.clearDiskCache(completion: handler)
        }

        override func cleanExpiredCache(completion handler: (@Sendable () -> Void)? = nil) {
            calls.change { $0.append("clean") }
            handler?()
        }

        override func cleanExpiredDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
            calls.change { $0.append("clean disk") }
            super.cleanExpiredDiskCache(completion: handler)
        }

        override func calculateDiskStorageSize(
            completion handler: @escaping @Sendable (Result<UInt, KingfisherError>) -> Void
        ) { handler(.success(42)) }
    }

    @Test("The async forms of retrieving call the forms with a handler that a subclass overrides")
    func overriding() async throws {
        try await withTemporaryDirectory { directory in
            let cache = Overriding(
                memoryStorage: .init(config: .init(totalCostLimit: 0)),
                diskStorage: try .init(config: .init(name: "test", sizeLimit: 0, directory: directory))
            )
            #expect(try await cache.retrieveImage(forKey: "a").image === Self.image)
            #expect(
                try await cache.retrieveImage(forKey: "a", options: KingfisherParsedOptionsInfo()).cacheType == .memory
            )
            #expect(try await cache.retrieveImageInDiskCache(forKey: "a") === Self.image)
            #expect(cache.retrieveImageInMemoryCache(forKey: "a", options: nil) === Self.image)
            let done = Promise<Bool>()
            cache.retrieveImage(forKey: "a", callbackQueue: .untouch) {
                done.fulfil((try? $0.get())?.image === Self.image)
            }
            #expect(await done.value)
        }
    }

    /// Has one image for every key.
    private final class Overriding: ImageCache, @unchecked Sendable {
        override func retrieveImage(
            forKey key: String,
            options: KingfisherParsedOptionsInfo,
            callbackQueue: CallbackQueue = .mainCurrentOrAsync,
            completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
        ) {
            callbackQueue.execute { completionHandler?(.success(.memory(CacheInterfaceTests.image))) }
        }

        override func retrieveImageInMemoryCache(
            forKey key: String,
            options: KingfisherParsedOptionsInfo
        ) -> KFCrossPlatformImage? { CacheInterfaceTests.image }

        override func retrieveImageInDiskCache(
            forKey key: String,
            options: KingfisherOptionsInfo? = nil,
            callbackQueue: CallbackQueue = .untouch,
            completionHandler: @escaping @Sendable (Result<KFCrossPlatformImage?, KingfisherError>) -> Void
        ) { callbackQueue.execute { completionHandler(.success(CacheInterfaceTests.image)) } }

        override var memoryStorageCacheCost: Int { 0 }
        override func clearCache() async {}
        override func clearDiskCache() async {}
        override func clearDiskCache(completion handler: (@Sendable () -> Void)? = nil) { handler?() }
        override func cleanExpiredMemoryCache() {}
        override func cachePath(
            forKey key: String,
            processorIdentifier identifier: String = "",
            forcedExtension: String? = nil
        ) -> String { "" }
    }
}
