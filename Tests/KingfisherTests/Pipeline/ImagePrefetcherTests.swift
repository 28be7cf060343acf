// Prefetchers: what is loaded, what is skipped, and what their handlers are given.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ImagePrefetcherTests {
    private typealias Recorder = PrefetchRecorder<any Resource>

    @Test("New images are loaded and cached; each is reported once, on the main queue, before the one completion")
    func newImages() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(4)
            let recorder = Recorder()
            recorder.prefetcher(urls, rig.prefetching + [.callbackQueue(.untouch)]).start()
            #expect(await recorder.completion.counts == [0, 0, 4])
            #expect(recorder.progress.map { $0.completed.count } == [1, 2, 3, 4])
            #expect(recorder.progressBefore.value == 4 && recorder.completions.count == 1)
            #expect((recorder.progress + recorder.completions).allSatisfy { $0.isOnMain })
            for url in urls {
                #expect(rig.cache.memoryStorage.isCached(forKey: url.cacheKey))
                #expect(rig.cache.diskStorage.isCached(forKey: url.cacheKey))
            }
        }
    }

    @Test("What is cached under the key and the processor is skipped without a request")
    func cachedImages() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(3)
            let blurred = rig.prefetching + [.processor(BlurImageProcessor(blurRadius: 1))]
            #expect(await ImagePrefetcher(urls: urls, options: blurred).prefetch().completed.count == 3)
            #expect(await ImagePrefetcher(urls: urls, options: blurred).prefetch().skipped.count == 3)
            #expect(rig.server.requests.count == 3)
            #expect(await ImagePrefetcher(urls: urls, options: rig.prefetching).prefetch().completed.count == 3)
            #expect(rig.server.requests.count == 6)
        }
    }

    @Test("With a forced refresh nothing is skipped") func forcedRefresh() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(2)
            for _ in 0..<2 {
                let prefetcher = ImagePrefetcher(urls: urls, options: rig.prefetching + [.forceRefresh])
                #expect(await prefetcher.prefetch().completed.count == 2)
            }
            #expect(rig.server.requests.count == 4)
        }
    }

    @Test("An image that is on disk alone stays there, unless it is to be in memory as well")
    func diskToMemory() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(2)
            _ = await ImagePrefetcher(urls: urls, options: rig.prefetching).prefetch()
            rig.cache.clearMemoryCache()
            #expect(await ImagePrefetcher(urls: urls, options: rig.prefetching).prefetch().skipped.count == 2)
            #expect(!rig.cache.memoryStorage.isCached(forKey: urls[0].cacheKey))
            let options = rig.prefetching + [.alsoPrefetchToMemory]
            #expect(await ImagePrefetcher(urls: urls, options: options).prefetch().skipped.count == 2)
            for url in urls { #expect(rig.cache.memoryStorage.isCached(forKey: url.cacheKey)) }
            #expect(rig.server.requests.count == 2)
        }
    }

    @Test("An image on disk that cannot be read into memory has failed, and is not requested")
    func failedPromotion() async throws {
        try await Rig.run { rig in
            let url = try rig.images(1)[0]
            try await rig.cache.storeToDisk(Data("no image".utf8), forKey: url.cacheKey)
            let options = rig.prefetching + [.alsoPrefetchToMemory]
            let result = await ImagePrefetcher(urls: [url], options: options).prefetch()
            #expect(result.failed.map(\.error.errorCode) == [3006])
            #expect(rig.server.requests.isEmpty)
        }
    }

    @Test("An image that cannot be stored has failed") func failedStore() async throws {
        struct Refusing: CacheSerializer {
            func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { nil }
            func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
        }
        try await Rig.run { rig in
            let options = rig.prefetching + [.cacheSerializer(Refusing())]
            let result = await ImagePrefetcher(urls: try rig.images(1), options: options).prefetch()
            #expect(result.failed.first?.error.errorCode == 3008)
        }
    }

    @Test("An empty list completes once with nothing") func emptyList() async throws {
        try await Rig.run { rig in
            let recorder = Recorder()
            recorder.prefetcher([], rig.prefetching).start()
            #expect(await recorder.completion.counts == [0, 0, 0])
            #expect(recorder.progress.isEmpty)
        }
    }

    @Test("An image whose original is cached is made of that, without a request") func cachedOriginal() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(1)
            _ = await ImagePrefetcher(urls: urls, options: rig.prefetching).prefetch()
            let blurred = rig.prefetching + [.processor(BlurImageProcessor(blurRadius: 1))]
            #expect(await ImagePrefetcher(urls: urls, options: blurred).prefetch().completed.count == 1)
            #expect(rig.server.requests.count == 1)
        }
    }

    @Test("An entry with a forced extension is found again") func forcedExtension() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(1)
            let options = rig.prefetching + [.forcedCacheFileExtension("bin")]
            _ = await ImagePrefetcher(urls: urls, options: options).prefetch()
            rig.cache.clearMemoryCache()
            #expect(await ImagePrefetcher(urls: urls, options: options).prefetch().skipped.count == 1)
            #expect(rig.server.requests.count == 1)
        }
    }

    @Test("A list with one key twice loads it once and reports each occurrence, also a failure")
    func repeatedSources() async throws {
        try await Rig.run { rig in
            let url = try rig.images(1)[0], missing = rig.server.url("/missing")
            let recorder = Recorder()
            let prefetcher = recorder.prefetcher([missing, url, missing, url, missing], rig.prefetching)
            prefetcher.maxConcurrentDownloads = 1
            prefetcher.start()
            #expect(await recorder.completion.counts == [0, 3, 2])
            #expect(recorder.progress.count == 5)
            #expect(rig.server.requests.map(\.path) == ["/missing", "/0.png"])
        }
    }

    @Test("Resources are handed over as they were given, those with file URLs too")
    func resourcesAsGiven() async throws {
        try await Rig.run { rig in
            let file = rig.directory.appendingPathComponent("a.png")
            try SampleImage.png(8, 8).write(to: file)
            let named = KF.ImageResource(downloadURL: try rig.images(1)[0], cacheKey: "named")
            let recorder = Recorder()
            recorder.prefetcher([file, named], rig.prefetching).start()
            let completed = await recorder.completion.completed
            #expect(completed.contains { $0 as? URL == file })
            #expect(completed.contains { ($0 as? KF.ImageResource)?.cacheKey == "named" })
            #expect(rig.cache.isCached(forKey: "named") && rig.cache.isCached(forKey: file.cacheKey))
        }
    }

    @Test("Providers are prefetched, and the lists hold the sources") func providers() async throws {
        try await Rig.run { rig in
            let provider = RawImageDataProvider(data: try SampleImage.png(8, 8), cacheKey: "raw")
            let bad = RawImageDataProvider(data: Data("no image".utf8), cacheKey: "bad")
            let sources = [Source.provider(provider), .provider(bad)]
            let recorder = PrefetchRecorder<Source>()
            ImagePrefetcher(
                sources: sources,
                options: rig.prefetching,
                progressBlock: { recorder.report($0, $1, $2) },
                completionHandler: { recorder.complete($0, $1, $2) }
            ).start()
            let completion = await recorder.completion
            #expect(completion.completed == [sources[0]] && completion.failed == [sources[1]])
            #expect(rig.cache.isCached(forKey: "raw"))
        }
    }

    @Test("A file that must not be read has failed, although it is cached") func forbiddenFile() async throws {
        try await Rig.run { rig in
            let file = rig.directory.appendingPathComponent("a.png")
            rig.cache.memoryStorage.store(value: SampleImage.gradient(2, 2), forKey: file.cacheKey)
            rig.manager.allowsFileURLs = false
            let prefetcher = ImagePrefetcher(
                sources: [file.convertToSource()],
                options: rig.prefetching,
                manager: rig.manager
            )
            #expect(await prefetcher.prefetch().failed.first?.error.errorCode == 1105)
        }
    }

    @Test("A retry strategy is consulted, and the source is reported once")
    func retries() async throws {
        struct Strategy: RetryStrategy {
            let limit: Int
            let consultations = Counter()
            func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                retryHandler(consultations.add() < limit ? .retry(userInfo: nil) : .stop)
            }
        }
        try await Rig.run { rig in
            for limit in [3, 1] {
                let (recorder, strategy) = (Recorder(), Strategy(limit: limit))
                let broken = rig.server.url("/broken\(limit)")
                recorder.prefetcher([broken], rig.prefetching + [.retryStrategy(strategy)]).start()
                #expect(await recorder.completion.counts == [0, 1, 0])
                #expect(strategy.consultations.value == limit && rig.server.count("/broken\(limit)") == limit)
                #expect(recorder.progress.count == 1)
            }
        }
    }

    @Test("A manager's default options are used, but neither alternative sources nor a low data mode source")
    func otherOptions() async throws {
        try await Rig.run { rig in
            let other = Source.network(try rig.images(1)[0])
            let (modified, processor) = (Counter(), CountingProcessor())
            rig.manager.downloader.isConstrained = true
            rig.manager.defaultOptions = [.processor(processor)]
            let modifier = AnyImageModifier { image in
                modified.add()
                return image
            }
            let options =
                rig.prefetching + [
                    .alternativeSources([other]), .lowDataMode(other), .imageModifier(modifier),
                ]
            rig.server.route("/a.png", .data(try SampleImage.png(8, 8)))
            let prefetcher = ImagePrefetcher(
                sources: [.network(rig.server.url("/a.png")), .network(rig.server.url("/missing"))],
                options: options,
                manager: rig.manager
            )
            let result = await prefetcher.prefetch()
            #expect(result.completed.count == 1 && result.failed.map(\.error.errorCode) == [2002])
            #expect(rig.server.count("/0.png") == 0 && processor.runs.value == 1 && modified.value == 0)
        }
    }

    @Test("Prefetchers and loads with the same options share one download")
    func sharing() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png"), gate = Gate()
            rig.server.route("/a.png", .data(try SampleImage.png(8, 8)).with { $0.gate = gate })
            let options = rig.prefetching
            let first = Task { await ImagePrefetcher(urls: [url], options: options).prefetch() }
            await rig.server.waitForRequests(to: "/a.png")
            let second = Task.immediate { await ImagePrefetcher(urls: [url], options: options).prefetch() }
            let load = Task.immediate {
                try await KingfisherManager.shared.retrieveImage(with: url, options: options)
            }
            gate.open()
            #expect(try await load.value.cacheType == .none)
            #expect(await first.value.completed.count == 1)
            let others = await second.value
            #expect(others.completed.count + others.skipped.count == 1)
            #expect(rig.server.requests.count == 1)
        }
    }

    @Test("Downloads have a low priority, unless the options name one, and a load that joins raises it")
    func priority() async throws {
        try await Rig.run { rig in
            let transfers = AwaitedTransfers()
            let options: KingfisherOptionsInfo = [.targetCache(rig.cache), .downloader(transfers.downloader)]
            let urls = ["/a", "/b"].map { rig.server.url($0) }
            let prefetcher = ImagePrefetcher(urls: [urls[0]], options: options)
            prefetcher.start()
            let low = await transfers.wait(for: 1)[0]
            await low.prioritySet.wait()
            #expect(low.priority == 0.1)
            let load = Task.immediate {
                try await KingfisherManager.shared.retrieveImage(with: urls[0], options: options)
            }
            #expect(low.priority == 0.5)
            let named = ImagePrefetcher(urls: [urls[1]], options: options + [.downloadPriority(0.7)])
            named.start()
            let other = await transfers.wait(for: 2)[1]
            await other.prioritySet.wait()
            #expect(other.priority == 0.7)
            for transfer in await transfers.wait(for: 2) { transfer.play(.data(try SampleImage.png(8, 8))) }
            #expect(try await load.value.cacheType == .none)
            #expect(await prefetcher.prefetch().completed.count == 1)
            #expect(await named.prefetch().completed.count == 1)
        }
    }
}
