// Cache metadata in entries: they live exactly as long as their entry.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct CacheMetadataEntryTests {
    private let fields = CacheMetadataTests.fields
    private func metadata(_ fields: [String: String], url: String = "https://example.com/a.png") -> CacheMetadata {
        CacheMetadataTests.metadata(fields, url: url)
    }

    @Test("Cache metadata are stored with their entry and survive a restart") func persisted() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            #expect(try await cache.cacheMetadata(forKey: "a") == nil)
            #expect(try await !cache.updateCacheMetadata(metadata(fields), forKey: "a"))

            let stored = Promise<CacheStoreResult>()
            cache.store(
                SampleImage.gradient(),
                forKey: "a",
                options: .init([.callbackQueue(.untouch)]),
                cacheMetadata: metadata(fields)
            ) { stored.fulfil($0) }
            try await stored.value.diskCacheResult.get()
            #expect(try await cache.cacheMetadata(forKey: "a") == metadata(fields))
            #expect(try await cache.cacheMetadata(forKey: "a", processorIdentifier: "p") == nil)

            // They survive a restart, and the file holds nothing but its image.
            let again = try ImageCache(name: "test", cacheDirectoryURL: directory)
            #expect(try await again.cacheMetadata(forKey: "a") == metadata(fields))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: "a")))
            #expect(SampleImage.gradient().pngData() == bytes)

            #expect(try await cache.updateCacheMetadata(metadata([:]), forKey: "a"))
            #expect(try await again.cacheMetadata(forKey: "a") == metadata([:]))
            #expect(try await cache.updateCacheMetadata(nil, forKey: "a"))
            #expect(try await cache.cacheMetadata(forKey: "a") == nil)
        }
    }

    @Test("Metadata of a replaced entry are not mistaken for those of the new one") func replacedEntry() async throws {
        try await withCache { cache in
            let long = metadata(fields, url: "https://example.com/\(String(repeating: "x", count: 1_450))")
            let (old, new) = (metadata(fields), metadata(["ETag": "\"2\""]))
            #expect(try await !cache.updateCacheMetadata(new, replacing: old, forKey: "a"), "There is no entry.")
            try await cache.storeToDisk(Data("x".utf8), forKey: "a")
            #expect(try await !cache.updateCacheMetadata(new, replacing: old, forKey: "a"), "There are no metadata.")
            #expect(try await cache.updateCacheMetadata(old, forKey: "a"))
            #expect(try await cache.updateCacheMetadata(new, replacing: old, forKey: "a"))
            #expect(try await !cache.updateCacheMetadata(old, replacing: old, forKey: "a"))
            #expect(try await cache.cacheMetadata(forKey: "a") == new)
            // Metadata that are too long to be stored whole are still recognised.
            #expect(try await cache.updateCacheMetadata(long, forKey: "a"))
            #expect(try await cache.updateCacheMetadata(new, replacing: long, forKey: "a"))
        }
    }

    @Test("An image made of a cached original keeps the cache metadata of that original")
    func factsFromOriginal() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            let originals = try ImageCache(name: "originals", cacheDirectoryURL: directory)
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            let stored = Promise<CacheStoreResult>()
            let (png, key) = (try SampleImage.png(), "raw")
            originals.storeToDisk(png, forKey: key, forcedExtension: "bin", cacheMetadata: metadata(fields)) {
                stored.fulfil($0)
            }
            try await stored.value.diskCacheResult.get()
            let source = Source.provider(RawImageDataProvider(data: png, cacheKey: key))
            _ = try await manager.retrieveImage(
                with: source,
                options: [
                    .processor(CountingProcessor("half")), .originalCache(originals), .onlyFromCache, .waitForCache,
                    .forcedCacheFileExtension("bin"),
                ]
            )
            let kept = try await cache.cacheMetadata(forKey: key, processorIdentifier: "half", forcedExtension: "bin")
            #expect(kept == metadata(fields))
        }
    }

    @Test("Metadata are removed with their entry") func removed() async throws {
        try await withCache { cache in
            func store(_ metadata: CacheMetadata?) async throws {
                let stored = Promise<CacheStoreResult>()
                cache.storeToDisk(Data("x".utf8), forKey: "a", cacheMetadata: metadata) { stored.fulfil($0) }
                try await stored.value.diskCacheResult.get()
            }
            try await store(metadata(fields))
            #expect(try await cache.cacheMetadata(forKey: "a") != nil)
            try await store(nil)
            #expect(try await cache.cacheMetadata(forKey: "a") == nil)
            try await store(metadata(fields))
            try await cache.removeImage(forKey: "a")
            #expect(try await cache.cacheMetadata(forKey: "a") == nil)
            try await cache.storeToDisk(Data("x".utf8), forKey: "a")
            #expect(try await cache.cacheMetadata(forKey: "a") == nil)
        }
    }

    @Test("Metadata reach the disk through a subclass that overrides storing")
    func factsWithSubclass() async throws {
        final class Counting: ImageCache, @unchecked Sendable {
            let stores = Counter()
            override func store(
                _ image: KFCrossPlatformImage,
                original: Data? = nil,
                forKey key: String,
                options: KingfisherParsedOptionsInfo,
                toDisk: Bool = true,
                completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
            ) {
                stores.add()
                super.store(
                    image,
                    original: original,
                    forKey: key,
                    options: options,
                    toDisk: toDisk,
                    completionHandler: completionHandler
                )
            }
        }
        try await withTemporaryDirectory { directory in
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: directory)
            let cache = Counting(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: try DiskStorage.Backend(config: config)
            )
            let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
            let stored = Promise<CacheStoreResult>()
            cache.store(SampleImage.gradient(), forKey: "a", options: options, cacheMetadata: metadata(fields)) {
                stored.fulfil($0)
            }
            _ = await stored.value
            try await cache.store(SampleImage.gradient(), forKey: "b", options: options)
            #expect(cache.stores.value == 2)
            #expect(try await cache.cacheMetadata(forKey: "a") == metadata(fields))
            #expect(try await cache.cacheMetadata(forKey: "b") == nil)
        }
    }
}
