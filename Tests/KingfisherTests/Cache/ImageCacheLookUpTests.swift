// Looking images up in a cache: threads, decoding, superseded look-ups, unreadable entries, expirations.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct ImageCacheLookUpTests {
    private let image = SampleImage.gradient()

    @Test("Without a handler nothing happens")
    func noHandler() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            cache.resetStatistics()
            cache.retrieveImage(forKey: "a", options: [.loadDiskFileSynchronously], completionHandler: nil)
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
            #expect(cache.statistics.seconds == CacheStatistics.Seconds())
        }
    }

    @Test("The cache does not apply image modifiers")
    func modifiers() async throws {
        try await withCache { cache in
            let calls = Counter()
            let modifier = AnyImageModifier { image in
                calls.add()
                return image
            }
            let options: KingfisherOptionsInfo = [.imageModifier(modifier)]
            try await cache.store(image, forKey: "a", options: KingfisherParsedOptionsInfo(options))
            #expect(try await cache.retrieveImage(forKey: "a", options: options).image === image)
            cache.clearMemoryCache()
            #expect(try await cache.retrieveImage(forKey: "a", options: options).cacheType == .disk)
            #expect(try await cache.retrieveImageInDiskCache(forKey: "a", options: options) != nil)
            #expect(calls.value == 0)
        }
    }

    @Test("An image from disk is decoded before it is delivered, at the requested scale")
    func backgroundDecoding() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            let options: KingfisherOptionsInfo = [.backgroundDecode, .scaleFactor(2)]
            #expect(try await cache.retrieveImage(forKey: "a", options: options).image === image)
            cache.clearMemoryCache()
            let found = try await cache.retrieveImage(forKey: "a", options: options).image
            #expect(found?.scale == 2 && found?.kf.cgImage?.width == 64)
            // The scale of an image is corrected if its serializer ignores the options.
            let unscaled: KingfisherOptionsInfo = options + [.cacheSerializer(WatchedSerializer())]
            #expect(try await cache.retrieveImageInDiskCache(forKey: "a", options: unscaled)?.scale == 2)
        }
    }

    @Test("The disk is read before the call returns only if an option asks for it")
    func synchronousReading() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            let (order, done) = (Box<[String]>([]), Promise<Void>())
            for (options, name) in [([.loadDiskFileSynchronously], "now"), ([], "later")]
                as [(KingfisherOptionsInfo, String)]
            {
                cache.retrieveImageInDiskCache(forKey: "a", options: options) { _ in
                    order.change { $0.append(name) }
                    if name == "later" { done.fulfil(()) }
                }
                if name == "now" { order.change { $0.append("returned") } }
            }
            await done.value
            #expect(order.value == ["now", "returned", "later"])
        }
    }

    @Test(
        "A look-up checks three times whether it is superseded, and ends at once when it is",
        arguments: 1...4
    )
    func staleLookUp(refusedAt checkpoint: Int) async throws {
        try await withCache { cache in
            for synchronously in [false, true] {
                try await cache.storeToDisk(try SampleImage.png(), forKey: "a")
                let (serializer, checks) = (WatchedSerializer(), Counter())
                var options = KingfisherParsedOptionsInfo([.cacheSerializer(serializer)])
                options.loadDiskFileSynchronously = synchronously
                options.load.observer = TestObserver(isWanted: { checks.add() < checkpoint })
                cache.resetStatistics()

                let (key, lookup) = (EntryKey("a", options), CacheCore.Lookup(layers: .disk, promotes: false))
                switch try await cache.core.find(key, options, lookup) {
                case .superseded: #expect(checkpoint < 4)
                case .found(let cached): #expect(checkpoint == 4 && cached.cacheType == .disk)
                case .nothing: Issue.record("there is one on disk")
                }
                #expect(checks.value == min(checkpoint, 3))
                #expect((cache.statistics.seconds.reading > 0) == (checkpoint > 1))
                #expect(serializer.threads.value.count == (checkpoint > 2 ? 1 : 0))

                let seenChecks = Counter()
                options.load.observer = TestObserver(isWanted: { seenChecks.add() < checkpoint })
                let result = try await cache.retrieveImage(forKey: "a", options: options)
                #expect(result.cacheType == (checkpoint == 4 ? .disk : .none))
                #expect(cache.memoryStorage.isCached(forKey: "a") == (checkpoint == 4))
                cache.clearMemoryCache()
            }
        }
    }

    @Test("A superseded look-up neither extends nor removes the entry")
    func staleEntriesStay() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(try SampleImage.png(), forKey: "a", expiration: .seconds(1_000))
            let before = try await cache.diskEntries()
            for checkpoint in 1...3 {
                let checks = Counter()
                var options = KingfisherParsedOptionsInfo([
                    .diskCacheAccessExtendingExpiration(.expirationTime(.days(50)))
                ])
                options.load.observer = TestObserver(isWanted: { checks.add() < checkpoint })
                #expect(try await cache.retrieveImage(forKey: "a", options: options).image == nil)
                #expect(try await cache.diskEntries() == before)
            }
        }
    }

    @Test("An unreadable entry does not hide the original, not even with `onlyFromCache`")
    func originalBehindBadEntry() async throws {
        try await withCache { cache in
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            let (png, processor) = (try SampleImage.png(), CountingProcessor("p"))
            let source = Source.provider(RawImageDataProvider(data: png, cacheKey: "a"))
            let options: KingfisherOptionsInfo = [.processor(processor), .onlyFromCache, .waitForCache]
            let url = cache.diskStorage.cacheFileURL(forKey: "a@p")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let error = await failure { try await manager.retrieveImage(with: source, options: options) }
            #expect(error?.errorCode == 3004, "The error of the disk, when there is no original.")
            try await cache.storeToDisk(png, forKey: "a")
            #expect(try await manager.retrieveImage(with: source, options: options).cacheType == .none)
            #expect(processor.runs.value == 1)
        }
    }

    @Test("Each layer extends expirations as its own option says")
    func extending() async throws {
        try await withCache { cache in
            let shorten: KingfisherOptionsInfo = [
                .memoryCacheAccessExtendingExpiration(.expirationTime(.expired)),
                .diskCacheAccessExtendingExpiration(.expirationTime(.days(50))),
            ]
            try await cache.store(image, forKey: "a")
            #expect(try await cache.retrieveImage(forKey: "a", options: shorten).cacheType == .memory)
            #expect(try await cache.retrieveImage(forKey: "a", options: shorten).cacheType == .disk)
            let expiration = try #require(try await cache.diskEntries().first?.expiration)
            #expect(expiration > Date() + 49 * 86_400)

            let keep: KingfisherOptionsInfo = [.diskCacheAccessExtendingExpiration(.none)]
            cache.clearMemoryCache()
            #expect(try await cache.retrieveImage(forKey: "a", options: keep).cacheType == .disk)
            #expect(try await cache.diskEntries().first?.expiration == expiration)
        }
    }
}

/// Records the threads on which it is called; reads and writes any image as a few bytes.
struct WatchedSerializer: CacheSerializer {
    static let bytes = Data("bytes".utf8)
    let threads = Box<[pthread_t]>([])

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        threads.change { $0.append(pthread_self()) }
        return Self.bytes
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        threads.change { $0.append(pthread_self()) }
        return Image(data: data)
    }
}
