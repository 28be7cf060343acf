// Everyday uses of caches, downloaders, prefetchers and options, each written as a program writes it.

import Foundation
import KFSupport
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite struct CacheUsageTests {
    @Test("A key says whether an image is cached and where; with a processor its identifier counts as well")
    func cachedType() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let (cache, url, processor) = (
                rig.cache, rig.server.url("/a.png"), RoundCornerImageProcessor(cornerRadius: 2)
            )
            let cacheKey = url.absoluteString
            #expect(!cache.isCached(forKey: cacheKey) && cache.imageCachedType(forKey: cacheKey) == .none)
            _ = try await rig.manager.retrieveImage(with: url, options: [.processor(processor), .waitForCache])
            #expect(!cache.isCached(forKey: cacheKey))
            #expect(cache.isCached(forKey: cacheKey, processorIdentifier: processor.identifier))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(cache.imageCachedType(forKey: cacheKey) == .memory)
            cache.clearMemoryCache()
            #expect(
                cache.imageCachedType(forKey: cacheKey) == .disk && DefaultImageProcessor.default.identifier.isEmpty
            )
        }
    }

    @Test("A cache gives the image of a key and says where it was; none is no error") func retrieving() async throws {
        try await Rig.run { rig in
            let cache = rig.cache
            @Sendable func retrieve(_ key: String) async throws -> (type: CacheType, width: Int?) {
                try await withCheckedThrowingContinuation { done in
                    cache.retrieveImage(forKey: key) { result in
                        switch result {
                        case .success(let value):
                            done.resume(returning: (value.cacheType, value.image?.pixelWidth))
                        case .failure(let error):
                            done.resume(throwing: error)
                        }
                    }
                }
            }
            try await cache.store(SampleImage.gradient(9, 9), forKey: "cacheKey")
            #expect(try await retrieve("cacheKey") == (.memory, 9))
            cache.clearMemoryCache()
            #expect(try await retrieve("cacheKey") == (.disk, 9))
            #expect(try await retrieve("other") == (.none, nil))
        }
    }

    @Test("Limits and lifetimes are set for memory and disk, and hold") func configuration() async throws {
        try await Rig.run { rig in
            let cache = rig.cache
            #expect(cache.memoryStorage.config.countLimit == .max)
            cache.memoryStorage.config.totalCostLimit = 100 * 1024 * 1024
            cache.memoryStorage.config.countLimit = 2
            cache.memoryStorage.config.expiration = .seconds(300)
            cache.memoryStorage.config.cleanInterval = 120
            cache.diskStorage.config.sizeLimit = 500 * 1024 * 1024
            cache.diskStorage.config.expiration = .days(7)
            for number in 0..<3 {
                try await cache.store(SampleImage.gradient(4, 4), forKey: "\(number)", toDisk: false)
            }
            #expect((0..<3).filter { cache.isCached(forKey: "\($0)") }.count == 2)

            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            for (options, isInMemory) in [
                ([.memoryCacheExpiration(.never)], true), ([.memoryCacheExpiration(.expired)], false),
                ([.memoryCacheAccessExtendingExpiration(.cacheTime)], true),
                ([.diskCacheExpiration(.days(1)), .diskCacheAccessExtendingExpiration(.none)], true),
            ] as [(KingfisherOptionsInfo, Bool)] {
                await cache.clearCache()
                let url = rig.server.url("/a.png")
                _ = try await rig.manager.retrieveImage(with: url, options: options + [.waitForCache])
                #expect(cache.imageCachedType(forKey: url.cacheKey) == (isInMemory ? .memory : .disk))
            }
        }
    }

    @Test("Images are stored by hand, with their data or without, and removed from one layer or both")
    func storing() async throws {
        try await Rig.run { rig in
            let (cache, data) = (rig.cache, try SampleImage.jpeg(9, 9))
            let image = try #require(Image(data: data))
            // In code that is not async these are the forms that do not wait.
            let store = {
                cache.store(image, forKey: "plain")
                cache.store(image, original: data, forKey: "with data")
            }
            store()
            #expect(cache.isCached(forKey: "plain") && cache.isCached(forKey: "with data"))
            #expect(await cache.imageCachedTypeAsync(forKey: "with data") == .memory)
            cache.clearMemoryCache()
            #expect(await cache.imageCachedTypeAsync(forKey: "with data") == .disk)
            #expect(try cache.diskStorage.value(forKey: "with data")?.prefix(2) == Data([0xFF, 0xD8]))

            try await cache.removeImage(forKey: "plain", processorIdentifier: "", fromMemory: false, fromDisk: true)
            #expect(await cache.imageCachedTypeAsync(forKey: "plain") == .none)
            let removed = Promise<Void>()
            let remove = {
                cache.removeImage(forKey: "with data", fromMemory: true, fromDisk: true) { removed.fulfil(()) }
            }
            remove()
            await removed.value
            #expect(!cache.isCached(forKey: "with data") && rig.files.isEmpty)
        }
    }

    @Test("A cache is cleared and cleaned, and tells its size on disk") func clearing() async throws {
        try await Rig.run { rig in
            let cache = rig.cache
            @Sendable func size() async throws -> UInt {
                try await withCheckedThrowingContinuation { done in
                    cache.calculateDiskStorageSize { done.resume(with: $0) }
                }
            }
            #expect(try await size() == 0)
            try await cache.store(SampleImage.gradient(9, 9), forKey: "a")
            #expect(try await size() > 0)
            let clean = {
                cache.cleanExpiredMemoryCache()
                cache.cleanExpiredDiskCache()
            }
            clean()
            #expect(cache.imageCachedType(forKey: "a") == .memory)
            cache.clearMemoryCache()
            #expect(cache.imageCachedType(forKey: "a") == .disk)
            let clear = { cache.clearDiskCache() }
            clear()
            #expect(try await size() == 0)
        }
    }

    @Test("A downloader gives the image, or the error") func downloading() async throws {
        try await withDownloader { server, downloader in
            server.route("/a.png", .data(try SampleImage.png(9, 9)))
            downloader.downloadTimeout = 60
            @Sendable func download(_ path: String) async throws -> Int {
                try await withCheckedThrowingContinuation { done in
                    downloader.downloadImage(with: server.url(path)) { result in
                        switch result {
                        case .success(let value):
                            done.resume(returning: value.image.pixelWidth)
                        case .failure(let error):
                            done.resume(throwing: error)
                        }
                    }
                }
            }
            #expect(try await download("/a.png") == 9)
            #expect(await failure { try await download("/missing") }?.errorCode == 2002)
        }
    }

    @Test("Requests are changed before they are sent, and redirects by a handler, of downloaders and of image views")
    @MainActor func requests() async throws {
        try await Rig.run { rig in
            rig.server.route("/from", .redirect(to: "/to"))
            rig.server.route("/to", .data(try SampleImage.png(9, 9)))
            let (url, imageView, redirects) = (rig.server.url("/from"), KFCrossPlatformImageView(), Counter())
            let modifier = AnyModifier { request in
                var r = request
                r.setValue("abc", forHTTPHeaderField: "Access-Token")
                return r
            }
            let anyRedirectHandler = AnyRedirectHandler { _, _, req, completionHandler in
                redirects.add()
                completionHandler(req)
            }
            let options: KingfisherOptionsInfo = [.requestModifier(modifier), .redirectHandler(anyRedirectHandler)]
            _ = try await rig.manager.downloader.downloadImage(with: url, options: options)
            #expect(rig.server.lastRequest("/from")?.header("Access-Token") == "abc" && redirects.value == 1)
            let result = await withCheckedContinuation { done in
                imageView.kf.setImage(with: url, options: rig.viewOptions + options) { done.resume(returning: $0) }
            }
            #expect(try result.get().image.pixelWidth == 9 && redirects.value == 2)
            #expect(rig.server.lastRequest("/from")?.header("Access-Token") == "abc")
        }
    }

    @Test("A download is cancelled, of a downloader and of an image view") @MainActor func cancelling() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png(9, 9)).with { $0.gate = gate })
            let (url, ended) = (rig.server.url("/a.png"), Promise<Bool>())
            let task = rig.manager.downloader.downloadImage(with: url) { result in
                if case .failure(let error) = result {
                    ended.fulfil(error.isTaskCancelled)
                } else {
                    ended.fulfil(false)
                }
            }
            task.cancel()
            #expect(await ended.value)
            let imageView = KFCrossPlatformImageView()
            let result = await withCheckedContinuation { done in
                let task = imageView.kf.setImage(with: url, options: rig.viewOptions) { done.resume(returning: $0) }
                task?.cancel()
            }
            guard case .failure(let error) = result else { return #expect(Bool(false), "it was cancelled") }
            #expect(error.isCancelled && imageView.image == nil)
            gate.open()
        }
    }

    @Test("Images are prefetched, and what is cached is skipped; a stopped prefetcher completes") func prefetching()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/image1.jpg", .data(try SampleImage.jpeg(9, 9)))
            rig.server.route("/image2.jpg", .data(try SampleImage.jpeg(9, 9)))
            let urls = ["/image1.jpg", "/image2.jpg"].map { rig.server.url($0) }
            for expected in [[0, 0, 2], [2, 0, 0]] {
                let ended = Promise<[Int]>(), progress = Counter()
                let prefetcher = ImagePrefetcher(
                    urls: urls,
                    options: rig.viewOptions,
                    progressBlock: { _, _, _ in progress.add() },
                    completionHandler: { skipped, failed, completed in
                        ended.fulfil([skipped.count, failed.count, completed.count])
                    }
                )
                prefetcher.maxConcurrentDownloads = 1
                prefetcher.start()
                #expect(await ended.value == expected && progress.value == 2)
                prefetcher.stop()
            }
            let sources = Promise<Int>()
            let provider = RawImageDataProvider(data: try SampleImage.png(9, 9), cacheKey: "raw")
            let ofSources = ImagePrefetcher(
                sources: [.provider(provider), .network(urls[0])],
                options: rig.viewOptions,
                completionHandler: { skipped, _, completed in sources.fulfil(skipped.count * 10 + completed.count) }
            )
            ofSources.start()
            #expect(await sources.value == 11)
        }
    }
}
