// Everyday uses of a manager: its cache and loader, rules for all loads, failed URLs, its delegate.

import Foundation
import KFSupport
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite struct ManagerUsageTests {
    /// Refuses downloads of one path.
    private final class Guard: KingfisherManagerDelegate {
        func manager(
            _ manager: KingfisherManager,
            shouldDownload source: Source,
            options: KingfisherParsedOptionsInfo
        ) -> Bool { source.url?.path != "/refused" }
    }

    /// A transformer with its key.
    private struct Squares: ImageProcessor {
        let identifier = "squares"
        let runs = Counter()

        func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            runs.add()
            let crop = CroppingImageProcessor(size: CGSize(width: 8, height: 8))
            return crop.process(item: item, options: options)
        }
    }

    /// Marks what it writes.
    private struct Marking: CacheSerializer {
        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
            image.pngData().map { Data("mark".utf8) + $0 }
        }
        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            KFCrossPlatformImage(data: data.dropFirst(4))
        }
    }

    @Test("A manager has a cache and a loader of its own; the shared one has the default ones") func managers()
        async throws
    {
        #expect(KingfisherManager.shared === KingfisherManager.shared)
        #expect(KingfisherManager.shared.cache === ImageCache.default)
        #expect(KingfisherManager.shared.downloader === ImageDownloader.default)
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "own", cacheDirectoryURL: directory)
            let downloader = ImageDownloader(name: "own")
            let manager = KingfisherManager(downloader: downloader, cache: cache)
            #expect(manager.cache === cache && manager.downloader === downloader)
        }
    }

    @Test("The manager's transformer, serializer and key filter hold for every load, through its options processor")
    func optionsProcessor() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(20, 20)))
            let squares = Squares()
            rig.manager.cacheKeyFilter = AnyCacheKeyFilter { url in url.path }
            rig.manager.optionsProcessor = AnyOptionsProcessor { options, _ in
                var options = options
                options.processor = squares
                options.cacheSerializer = Marking()
                return options
            }
            for (token, place) in [("1", CacheType.none), ("2", .memory), ("3", .disk)] {
                if place == .disk { rig.cache.clearMemoryCache() }
                let url = rig.server.url("/a.png?token=\(token)")
                let result = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
                #expect(result.cacheType == place && result.image.size == CGSize(width: 8, height: 8))
            }
            #expect(squares.runs.value == 1 && rig.server.count("/a.png") == 1)
            let path = rig.cache.cachePath(forKey: "/a.png", processorIdentifier: "squares")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(4) == Data("mark".utf8))
        }
    }

    @Test("Only from the loader, only from the cache, and refreshed: the options that decide where an image comes from")
    func options() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png(9, 9)).with { $0.etag = "\"1\"" })
            let url = rig.server.url("/a.png")
            #expect(
                await failure { try await rig.manager.retrieveImage(with: url, options: [.onlyFromCache]) }?.errorCode
                    == 3006
            )
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(try await rig.manager.retrieveImage(with: url, options: [.onlyFromCache]).cacheType == .memory)
            let again = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh, .waitForCache])
            #expect(again.cacheType == .none && rig.server.count("/a.png") == 2)
            // The cached image is shown first, and the server says that it is unchanged.
            let stale = Counter()
            let refreshed = try await rig.manager.retrieveImage(
                with: url,
                options: [.refreshCached, .onStaleImage { _ in stale.add() }]
            )
            #expect(refreshed.cacheType == .disk && stale.value == 1 && rig.server.count("/a.png") == 3)
        }
    }

    @Test("A URL that failed is not tried again, unless that is wanted") func failedURLs() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/missing")
            rig.manager.failedURLs = FailedURLRegistry()
            func code(_ options: KingfisherOptionsInfo = []) async -> Int? {
                await failure { try await rig.manager.retrieveImage(with: url, options: options) }?.errorCode
            }
            #expect(await code() == 2002)
            #expect(await code() == 1101)
            rig.server.route("/missing", .data(try SampleImage.png(9, 9)))
            #expect(await code([.retryFailed]) == nil)
            #expect(await code([.forceRefresh]) == nil)
            #expect(rig.server.count("/missing") == 3)
        }
    }

    @Test("The delegate refuses a download; a load is cancelled alone, or with all others") func delegateAndCancelling()
        async throws
    {
        try await Rig.run { rig in
            let (delegate, gate) = (Guard(), Gate())
            rig.manager.delegate = delegate
            let refused = await failure { try await rig.manager.retrieveImage(with: rig.server.url("/refused")) }
            #expect(refused?.errorCode == 1102)
            rig.server.route("/held", TestResponse.data(try SampleImage.png(9, 9)).with { $0.gate = gate })
            let ends = (0..<3).map { _ in Promise<Bool>() }
            let tasks = ends.map { end in
                rig.manager.retrieveImage(with: rig.server.url("/held")) { result in
                    if case .failure(let error) = result { end.fulfil(error.isCancelled) } else { end.fulfil(false) }
                }
            }
            #expect(rig.manager.isRunning)
            tasks[0]?.cancel()
            #expect(await ends[0].value)
            rig.manager.cancelAll()
            for end in ends { #expect(await end.value) }
            #expect(!rig.manager.isRunning)
            gate.open()
            withExtendedLifetime(delegate) {}
        }
    }
}
