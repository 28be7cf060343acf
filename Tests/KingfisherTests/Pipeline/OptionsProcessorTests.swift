// The manager's options processor: what it is given, how often it runs, and what its options decide.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct OptionsProcessorTests {
    /// Counts the loads, and has each process its image.
    private func counting(
        _ runs: Counter,
        _ change: @escaping @Sendable (inout KingfisherParsedOptionsInfo, Source) -> Void
    ) -> AnyOptionsProcessor {
        AnyOptionsProcessor { options, source in
            runs.add()
            var options = options
            change(&options, source)
            return options
        }
    }

    @Test("It is given the manager's settings and defaults with the call's options over them, and the source")
    func given() async throws {
        try await Rig.run { rig in
            let seen = Box<(KingfisherParsedOptionsInfo, Source)?>(nil), runs = Counter()
            let filter = QueryItemsCacheKeyFilter(removing: ["sig"]), url = rig.server.url("/a")
            rig.manager.defaultOptions = [.scaleFactor(2), .downloadPriority(0.3)]
            rig.manager.cacheKeyFilter = filter
            rig.manager.optionsProcessor = counting(runs) { options, source in seen.value = (options, source) }
            _ = await failure { try await rig.manager.retrieveImage(with: url, options: [.scaleFactor(3)]) }
            let (options, source) = try #require(seen.value)
            #expect(options.scaleFactor == 3 && options.downloadPriority == 0.3 && source == .network(url))
            #expect(options.targetCache === rig.cache && options.downloader === rig.manager.downloader)
            #expect(options.cacheKeyFilter as? QueryItemsCacheKeyFilter == filter)
            #expect(runs.value == 1)
        }
    }

    @Test("Its options decide where the image is looked up and how it is made, in every form of a load")
    func options() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png()))
            let (url, processor, runs) = (rig.server.url("/a"), CountingProcessor(), Counter())
            rig.manager.optionsProcessor = counting(runs) { options, _ in options.processor = processor }
            #expect(try await rig.manager.retrieveImage(with: url, options: [.waitForCache]).cacheType == .none)
            #expect(rig.cache.isCached(forKey: url.cacheKey, processorIdentifier: processor.identifier))
            #expect(try await rig.manager.retrieveImage(with: url).cacheType == .memory)
            let outcome = Promise<CacheType?>()
            let task = rig.manager.retrieveImage(with: url) { outcome.fulfil((try? $0.get())?.cacheType) }
            #expect(await outcome.value == .memory)
            #expect(task == nil)
            let prefetcher = ImagePrefetcher(
                sources: [.network(url)],
                options: rig.prefetching,
                manager: rig.manager
            )
            #expect(await prefetcher.prefetch().skipped.count == 1)
            #expect(processor.runs.value == 1 && rig.server.count("/a") == 1)
            #expect(runs.value == 4)
        }
    }

    @Test("It runs once a load, however many retries and alternatives there are") func runsOnce() async throws {
        try await Rig.run { rig in
            let runs = Counter()
            rig.manager.optionsProcessor = counting(runs) { options, _ in
                options.retryStrategy = DelayRetryStrategy(maxRetryCount: 2, retryInterval: .seconds(0))
            }
            let options: KingfisherOptionsInfo = [.alternativeSources([.network(rig.server.url("/b"))])]
            let error = await failure {
                try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: options)
            }
            #expect(error?.errorCode == 5004)
            #expect(rig.server.count("/a") == 3 && rig.server.count("/b") == 3)
            #expect(runs.value == 1)
        }
    }

    @Test("Options made anew still use the manager's cache")
    func newOptions() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            rig.manager.optionsProcessor = AnyOptionsProcessor { _, _ in
                KingfisherParsedOptionsInfo([.callbackQueue(.untouch), .downloader(rig.manager.downloader)])
            }
            _ = try await rig.manager.retrieveImage(with: url)
            #expect(rig.cache.memoryStorage.isCached(forKey: url.cacheKey))
        }
    }

    @Test("It may let a blocked URL through") func blockedURL() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a"), runs = Counter()
            for _ in 0..<2 {
                _ = await failure { try await rig.manager.retrieveImage(with: url, options: [.skipFailedURLs]) }
            }
            #expect(rig.server.count("/a") == 1)
            rig.manager.optionsProcessor = counting(runs) { options, _ in options.retryFailed = true }
            let error = await failure { try await rig.manager.retrieveImage(with: url, options: [.skipFailedURLs]) }
            #expect(error?.errorCode == 2002 && rig.server.count("/a") == 2)
        }
    }

    @Test("A builder's handlers are called on the main actor, whatever callback queue it chooses")
    func builder() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            let (width, runs) = (Promise<Int>(), Counter())
            rig.manager.optionsProcessor = counting(runs) { options, _ in options.callbackQueue = .untouch }
            KF.Builder(source: .network(rig.server.url("/a")), manager: rig.manager)
                .onSuccess { width.fulfil($0.image.pixelWidth) }.start()
            #expect(await width.value == 8)
            #expect(runs.value == 1)
        }
    }

    @Test("A view shows the image with the options it gives") @MainActor func view() async throws {
        try await Rig.run { rig in
            let (runs, ended) = (Counter(), Promise<Int>()), fallback = SampleImage.gradient(3, 3)
            rig.manager.optionsProcessor = counting(runs) { options, _ in options.onFailureImage = .some(fallback) }
            let (button, slot) = (KFCrossPlatformButton(), PropertySlot.image(.normal, nil))
            _ = button.kf.load(
                .network(rig.server.url("/a")),
                into: slot,
                parsed: rig.manager.parsed(nil),
                manager: rig.manager,
                nil
            ) { ended.fulfil($0.code) }
            #expect(await ended.value == 2002)
            #expect(slot.get(button) === fallback)
            #expect(runs.value == 1)
        }
    }
}
