// Looking images up in a load: where, in which order, and what a hit delivers.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LookupTests {
    @Test("A downloaded image is found in memory, then on disk") func memoryThenDisk() async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.png()
            let url = rig.server.route("/a.png", .data(bytes, type: "image/png"))
            let loaded = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(loaded.cacheType == .none)
            #expect(loaded.data() == bytes)
            #expect(loaded.source == loaded.originalSource)
            #expect(throws: Never.self) { try #require(loaded.cacheStoreResult).diskCacheResult.get() }

            let again = try await rig.manager.retrieveImage(with: url)
            #expect(again.cacheType == .memory)
            #expect(again.image === loaded.image)

            rig.cache.clearMemoryCache()
            let fromDisk = try await rig.manager.retrieveImage(with: url)
            #expect(fromDisk.cacheType == .disk)
            #expect(try await rig.manager.retrieveImage(with: url).cacheType == .memory)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("`forceRefresh` looks up no image, and still stores the one it loads")
    func forceRefreshLoadsAgain() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let again = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh, .waitForCache])
            #expect(again.cacheType == .none)
            #expect(rig.server.count("/a.png") == 2)
            #expect(rig.cache.isCached(forKey: url.cacheKey))
        }
    }

    @Test("`fromMemoryCacheOrRefresh` does not look on disk")
    func fromMemoryCacheOrRefresh() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let hit = try await rig.manager.retrieveImage(with: url, options: [.fromMemoryCacheOrRefresh])
            #expect(hit.cacheType == .memory)
            rig.cache.clearMemoryCache()
            let miss = try await rig.manager.retrieveImage(with: url, options: [.fromMemoryCacheOrRefresh])
            #expect(miss.cacheType == .none)
            #expect(rig.server.count("/a.png") == 2)
        }
    }

    @Test("`onlyFromCache` never loads")
    func onlyFromCacheFailsOnAMiss() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let error = await failure { try await rig.manager.retrieveImage(with: url, options: [.onlyFromCache]) }
            guard case .cacheError(.imageNotExisting(let key)) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(key == url.cacheKey)
            #expect(rig.server.requests.isEmpty)
        }
    }

    @Test("On the main actor a memory hit completes before the call returns") @MainActor
    func synchronousMemoryHit() async throws {
        try await Rig.run { rig in
            rig.manager.defaultOptions = []
            let source = Source.provider(RawImageDataProvider(data: try SampleImage.png(), cacheKey: "raw"))
            rig.cache.store(SampleImage.gradient(), forKey: "raw", toDisk: false)
            let called = Counter()
            let task = rig.manager.retrieveImage(with: source) { result in
                if (try? result.get())?.cacheType == .memory { called.add() }
            }
            #expect(called.value == 1)
            #expect(task == nil)
        }
    }

    @Test("A memory hit is synchronous off the main thread as well") func memoryHitOffMainThread() async throws {
        try await Rig.run { rig in
            rig.cache.store(SampleImage.gradient(), forKey: "raw", toDisk: false)
            let source = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "raw"))
            let called = Counter()
            let task = rig.manager.retrieveImage(with: source, options: [.callbackQueue(.untouch)]) { _ in called.add()
            }
            #expect(called.value == 1 && task == nil)
        }
    }

    /// Stores originals, and records the threads on which it decodes.
    private struct ThreadRecordingSerializer: CacheSerializer {
        let threads = Box<[String]>([])
        let originalDataUsed = true
        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { original }
        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
            threads.change { $0.append(name) }
            return DefaultCacheSerializer.default.image(with: data, options: options)
        }
    }

    @Test("With `loadDiskFileSynchronously` shared work still runs on threads of the library")
    func sharedWorkReads() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a", .data(try SampleImage.png()))
            let serializer = ThreadRecordingSerializer()
            let options: KingfisherOptionsInfo = [
                .cacheSerializer(serializer), .loadDiskFileSynchronously, .waitForCache,
            ]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            rig.cache.clearMemoryCache()
            let result = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(result.cacheType == .disk)
            // It does not run on a thread of the cooperative pool, which must not be blocked.
            #expect(serializer.threads.value.count == 1)
            #expect(serializer.threads.value.allSatisfy { $0.hasPrefix("kf.cpu") }, "\(serializer.threads.value)")
        }
    }

    @Test("With `loadDiskFileSynchronously` a disk hit completes before the call returns")
    func synchronousDiskHit() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            rig.cache.clearMemoryCache()
            let found = Box<CacheType?>(nil)
            let task = rig.manager.retrieveImage(
                with: url,
                options: [.loadDiskFileSynchronously, .callbackQueue(.untouch)]
            ) { found.value = (try? $0.get())?.cacheType }
            #expect(found.value == .disk)
            #expect(task == nil)
        }
    }

    @Test("A processed image is found in the cache, and its processor does not run again")
    func processedImages() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let url = rig.server.url("/a.png"), processor = CountingProcessor()
            let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .disk)
            #expect(processor.runs.value == 1)
            #expect(!rig.cache.isCached(forKey: url.cacheKey))
            #expect(rig.cache.isCached(forKey: url.cacheKey, processorIdentifier: processor.identifier))
        }
    }

    @Test("An original is stored on request, and later processed without a download")
    func cachedOriginals() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            let first: KingfisherOptionsInfo = [
                .processor(DownsamplingImageProcessor(size: CGSize(width: 10, height: 10))), .cacheOriginalImage,
                .waitForCache,
            ]
            _ = try await rig.manager.retrieveImage(with: url, options: first)
            #expect(rig.cache.imageCachedType(forKey: url.cacheKey) == .disk)

            let second = try await rig.manager.retrieveImage(
                with: url,
                options: [.processor(RoundCornerImageProcessor(cornerRadius: 5)), .waitForCache]
            )
            #expect(second.cacheType == .none)
            #expect(second.image.pixelWidth == 64)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("Without `cacheOriginalImage` no original is stored")
    func optionalOriginals() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await rig.manager.retrieveImage(
                with: url,
                options: [.processor(RoundCornerImageProcessor(cornerRadius: 5)), .waitForCache]
            )
            #expect(!rig.cache.isCached(forKey: url.cacheKey))
            #expect(rig.files.count == 1)
        }
    }

    @Test("A forced extension applies to stores and look-ups, also of originals")
    func forcedExtensions() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            let options: KingfisherOptionsInfo = [
                .processor(CountingProcessor("x")), .cacheOriginalImage, .forcedCacheFileExtension("pic"),
                .waitForCache,
            ]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(rig.files.count == 2 && rig.files.allSatisfy { $0.hasSuffix(".pic") })
            let other: KingfisherOptionsInfo = [
                .processor(CountingProcessor("y")), .forcedCacheFileExtension("pic"),
            ]
            _ = try await rig.manager.retrieveImage(with: url, options: other)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("A serializer that keeps originals has its processor run once per load")
    func originalDataSerializers() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let url = rig.server.url("/a.png"), processor = CountingProcessor()
            var serializer = DefaultCacheSerializer.default
            serializer.preferCacheOriginalData = true
            let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(serializer), .waitForCache]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .memory)
            #expect(processor.runs.value == 1)
            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .disk)
            #expect(processor.runs.value == 2)
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .memory)
            #expect(processor.runs.value == 2)
        }
    }

    @Test("An original found in the cache is stored with its bytes unchanged and processed once per load")
    func storedOriginals() async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.jpeg()
            rig.server.route("/a.jpg", .data(bytes))
            let url = rig.server.url("/a.jpg"), processor = CountingProcessor()
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            rig.cache.clearMemoryCache()

            var serializer = DefaultCacheSerializer.default
            serializer.preferCacheOriginalData = true
            let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(serializer), .waitForCache]
            let first = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(first.cacheType == .none && first.data() == bytes)
            #expect(processor.runs.value == 1)
            let path = rig.cache.cachePath(forKey: url.cacheKey, processorIdentifier: processor.identifier)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)

            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .disk)
            #expect(processor.runs.value == 2)
            #expect(rig.server.count("/a.jpg") == 1)
        }
    }

    @Test(
        "An entry whose file was damaged is a miss, is removed and is loaded again",
        arguments: ["truncated", "garbage", "empty", "html"]
    )
    func damagedEntries(_ damage: String) async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.jpeg(200, 200)
            let url = rig.server.route("/a.jpg", .data(bytes))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            rig.cache.clearMemoryCache()
            let file = URL(fileURLWithPath: rig.cache.cachePath(forKey: url.cacheKey))
            let damaged: Data =
                switch damage {
                case "truncated": bytes.prefix(bytes.count / 2)
                case "garbage": Data((0..<bytes.count).map { UInt8(truncatingIfNeeded: $0 &* 97) })
                case "html": Data("<html></html>".utf8)
                default: Data()
                }
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: damaged)
            try handle.close()

            let healed = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(healed.cacheType == .none)
            #expect(rig.server.count("/a.jpg") == 2)
            #expect(try Data(contentsOf: file) == bytes)
        }
    }

    @Test("An image modifier changes the delivered image, never the cached one")
    func uncachedModifiers() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let url = rig.server.url("/a.png"), calls = Counter()
            let modifier = AnyImageModifier { image in
                calls.add()
                return image.kf.resize(to: CGSize(width: 7, height: 7))
            }
            let options: KingfisherOptionsInfo = [.imageModifier(modifier), .waitForCache]
            for type in [CacheType.none, .memory] {
                let result = try await rig.manager.retrieveImage(with: url, options: options)
                #expect(result.cacheType == type && result.image.pixelWidth == 7)
            }
            rig.cache.clearMemoryCache()
            let fromDisk = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(fromDisk.cacheType == .disk && fromDisk.image.pixelWidth == 7)
            #expect(try await rig.manager.retrieveImage(with: url).image.pixelWidth == 64)
            #expect(calls.value == 3)
        }
    }
}
