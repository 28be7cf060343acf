// Prefetchers: how many run at once, in which order, how they stop, and what keeps them.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct PrefetchControlTests {
    private typealias Recorder = PrefetchRecorder<any Resource>

    /// URLs whose transfers a test plays.
    private func urls(_ count: Int) -> [URL] {
        (0..<count).compactMap { URL(string: "http://prefetch.example/\($0)") }
    }

    /// Runs a test with a cache and transfers that it plays.
    private func withTransfers(_ body: (AwaitedTransfers, KingfisherOptionsInfo) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let transfers = AwaitedTransfers()
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            try await body(transfers, [.targetCache(cache), .downloader(transfers.downloader)])
        }
    }

    @Test("Sources begin in the order of the list, never more at once than the limit; a higher limit begins more")
    func limit() async throws {
        let image = try SampleImage.png(2, 2)
        try await withTransfers { transfers, options in
            let prefetcher = ImagePrefetcher(urls: urls(6), options: options)
            prefetcher.maxConcurrentDownloads = 1
            prefetcher.start()
            await transfers.wait(for: 1)[0].play(.data(image))
            await transfers.wait(for: 2)
            #expect(transfers.names == ["0", "1"])
            prefetcher.maxConcurrentDownloads = 3
            await transfers.wait(for: 4)
            #expect(Set(transfers.names) == ["0", "1", "2", "3"])
            // One slot becomes free at a time, and one source takes it.
            let running = await transfers.wait(for: 4).filter { !$0.isComplete }
            #expect(running.count == 3)
            running[0].play(.data(image))
            await transfers.wait(for: 5)
            #expect(transfers.names.last == "4")
            running[1].play(.data(image))
            await transfers.wait(for: 6)
            for transfer in await transfers.wait(for: 6) where !transfer.isComplete { transfer.play(.data(image)) }
            #expect(await prefetcher.prefetch().completed.count == 6)
        }
    }

    @Test("A limit below 1 is 1") func smallestLimit() async throws {
        try await Rig.run { rig in
            let prefetcher = ImagePrefetcher(urls: try rig.images(3), options: rig.prefetching)
            prefetcher.maxConcurrentDownloads = -4
            #expect(prefetcher.maxConcurrentDownloads == 1)
            #expect(await prefetcher.prefetch().completed.count == 3)
            #expect(rig.server.requests.map(\.path) == ["/0.png", "/1.png", "/2.png"])
        }
    }

    @Test("A second start is ignored") func secondStart() async throws {
        try await withTransfers { transfers, options in
            let recorder = Recorder()
            let prefetcher = recorder.prefetcher(urls(2), options)
            prefetcher.maxConcurrentDownloads = 1
            prefetcher.start()
            prefetcher.start()
            await transfers.wait(for: 1)[0].play(.data(try SampleImage.png(2, 2)))
            await transfers.wait(for: 2)[1].play(.data(try SampleImage.png(2, 2)))
            #expect(await recorder.completion.counts == [0, 0, 2])
            prefetcher.start()
            #expect(await prefetcher.prefetch().completed.count == 2)
            #expect(recorder.completions.count == 1 && transfers.names == ["0", "1"])
        }
    }

    @Test("A stop cancels what runs, begins nothing more, and completes once with all others failed")
    func stopWhileRunning() async throws {
        try await withTransfers { transfers, options in
            let recorder = Recorder()
            let prefetcher = recorder.prefetcher(urls(6), options)
            prefetcher.maxConcurrentDownloads = 2
            prefetcher.start()
            let running = await transfers.wait(for: 2)
            running[0].play(.data(try SampleImage.png(2, 2)))
            await transfers.wait(for: 3)
            prefetcher.stop()
            prefetcher.stop()
            let result = await prefetcher.prefetch()
            #expect(result.completed.count == 1 && result.failed.count == 5)
            #expect(result.failed.allSatisfy { $0.error.isCancelled })
            #expect(await recorder.completion.counts == [0, 5, 1])
            for transfer in await transfers.wait(for: 3).dropFirst() { await transfer.cancelled.wait() }
            prefetcher.maxConcurrentDownloads = 10
            #expect(transfers.names.count == 3)
            #expect(recorder.completions.count == 1 && recorder.progress.count == 1)
        }
    }

    @Test("A stop is obeyed in a run of cached sources") func stopAmongCached() async throws {
        try await Rig.run { rig in
            let urls = (0..<100).compactMap { URL(string: "http://prefetch.example/\($0)") }
            for url in urls { rig.cache.memoryStorage.store(value: SampleImage.gradient(2, 2), forKey: url.cacheKey) }
            let recorder = Recorder()
            let stopped = Box<ImagePrefetcher?>(nil)
            let prefetcher = ImagePrefetcher(
                urls: urls,
                options: rig.prefetching,
                callbackQueue: .untouch,
                progressBlock: { skipped, failed, completed in
                    recorder.report(skipped, failed, completed)
                    if skipped.count == 3 { stopped.value?.stop() }
                },
                completionHandler: { recorder.complete($0, $1, $2) }
            )
            prefetcher.maxConcurrentDownloads = 1
            stopped.value = prefetcher
            prefetcher.start()
            let counts = await recorder.completion.counts
            #expect(counts == [3, 97, 0] && recorder.completions.count == 1)
            stopped.value = nil
        }
    }

    @Test("A stop does not wait for a retry") func stopBetweenRetries() async throws {
        struct Endless: RetryStrategy {
            let asked = Gate()
            let decided = Promise<@Sendable (RetryDecision) -> Void>()
            func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                decided.fulfil(retryHandler)
                asked.open()
            }
        }
        try await Rig.run { rig in
            let (strategy, recorder) = (Endless(), Recorder())
            let urls = [rig.server.url("/broken")] + (try rig.images(1))
            let prefetcher = recorder.prefetcher(urls, rig.prefetching + [.retryStrategy(strategy)])
            prefetcher.maxConcurrentDownloads = 1
            prefetcher.start()
            await strategy.asked.wait()
            // What waits for a retry counts as running.
            #expect(rig.server.requests.map(\.path) == ["/broken"])
            prefetcher.stop()
            #expect(await recorder.completion.counts == [0, 2, 0])
            await strategy.decided.value(.retry(userInfo: nil))
            #expect(rig.server.requests.count == 1)
        }
    }

    @Test("A stop before the start fails every source, and there is no start after it")
    func stopBeforeStart() async throws {
        try await Rig.run { rig in
            let recorder = Recorder()
            let prefetcher = recorder.prefetcher(try rig.images(3), rig.prefetching)
            prefetcher.stop()
            prefetcher.start()
            #expect(await recorder.completion.counts == [0, 3, 0])
            #expect(await prefetcher.prefetch().failed.count == 3)
            #expect(rig.server.requests.isEmpty && recorder.completions.count == 1)
        }
    }

    @Test("A stop after the end does nothing") func stopAfterEnd() async throws {
        try await Rig.run { rig in
            let recorder = Recorder()
            let prefetcher = recorder.prefetcher(try rig.images(1), rig.prefetching)
            #expect(await prefetcher.prefetch().completed.count == 1)
            prefetcher.stop()
            #expect(await recorder.completion.counts == [0, 0, 1])
            #expect(await prefetcher.prefetch().completed.count == 1)
            #expect(recorder.completions.count == 1)
        }
    }

    @Test("Cancelling the task that waits is a stop") func cancelledTask() async throws {
        try await withTransfers { transfers, options in
            let prefetcher = ImagePrefetcher(urls: urls(3), options: options)
            prefetcher.maxConcurrentDownloads = 1
            let task = Task { await prefetcher.prefetch() }
            let transfer = await transfers.wait(for: 1)[0]
            task.cancel()
            #expect(await task.value.failed.count == 3)
            await transfer.cancelled.wait()
            #expect(transfers.names == ["0"])
        }
    }

    @Test("A load that waits for its request modifier counts as running, and does not hold up another prefetcher")
    func waitingModifier() async throws {
        struct Waiting: AsyncImageDownloadRequestModifier {
            let reached = Gate()
            let gate = Gate()
            func modified(for request: URLRequest) async -> URLRequest? {
                reached.open()
                await gate.wait()
                return request
            }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
        }
        try await Rig.run { rig in
            let (modifier, urls) = (Waiting(), try rig.images(3))
            let options = rig.prefetching + [.requestModifier(modifier)]
            let held = ImagePrefetcher(urls: [urls[0], urls[1]], options: options)
            held.maxConcurrentDownloads = 1
            held.start()
            await modifier.reached.wait()
            #expect(await ImagePrefetcher(urls: [urls[2]], options: rig.prefetching).prefetch().completed.count == 1)
            #expect(rig.server.requests.map(\.path) == ["/2.png"])
            held.stop()
            #expect(await held.prefetch().failed.count == 2)
            modifier.gate.open()
        }
    }

    @Test(
        "A started prefetcher needs no one to hold it, and then releases what its handlers hold",
        .timeLimit(.minutes(5))
    )
    func lifetime() async throws {
        final class Held: Sendable {}
        try await Rig.run { rig in
            weak var held: Held?
            weak var weakPrefetcher: ImagePrefetcher?
            let recorder = Recorder()
            let released = Gate()
            do {
                let (object, itself) = (Held(), Box<ImagePrefetcher?>(nil))
                let prefetcher = ImagePrefetcher(
                    sources: try rig.images(2).map { .network($0) },
                    options: rig.prefetching,
                    callbackQueue: .untouch,
                    progressBlock: { _, _, _ in _ = (object, itself.value) },
                    completionHandler: { skipped, failed, completed in
                        _ = (object, itself.value)
                        recorder.complete([], [], completed.compactMap(\.url))
                        released.open()
                    }
                )
                (itself.value, held, weakPrefetcher) = (prefetcher, object, prefetcher)
                prefetcher.start()
            }
            #expect(await recorder.completion.counts == [0, 0, 2])
            await released.wait()
            // The thread that called the handler lets go of it a moment later.
            while held != nil || weakPrefetcher != nil { await Task.yield() }
        }
    }

    @Test("The description tells one prefetcher from another") func descriptions() {
        let (one, other) = (ImagePrefetcher(urls: []), ImagePrefetcher(urls: []))
        #expect(one.description != other.description && one.description == "\(one)")
    }

    @Test("2,000 cached sources in one prefetcher end, each reported once") func manySources() async throws {
        try await Rig.run { rig in
            let urls = (0..<2_000).compactMap { URL(string: "http://prefetch.example/\($0)") }
            let image = SampleImage.gradient(1, 1)
            for url in urls { rig.cache.memoryStorage.store(value: image, forKey: url.cacheKey) }
            let reports = Counter()
            let prefetcher = ImagePrefetcher(
                urls: urls,
                options: rig.prefetching,
                callbackQueue: .untouch,
                progressBlock: { _, _, _ in reports.add() }
            )
            #expect(await prefetcher.prefetch().skipped.count == 2_000)
            #expect(reports.value == 2_000)
        }
    }

    @Test("1,000 prefetchers of the same URLs end, and each URL is requested once") func manyPrefetchers() async throws
    {
        try await Rig.run { rig in
            let urls = try rig.images(4)
            let options = rig.prefetching + [.cacheMemoryOnly]
            let total = await withTaskGroup { group in
                for _ in 0..<1_000 {
                    group.addTask {
                        let result = await ImagePrefetcher(urls: urls, options: options).prefetch()
                        return result.completed.count + result.skipped.count
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(total == 4_000)
            #expect(rig.server.requests.count == 4)
        }
    }
}
