// Many prefetchers at once: how many images they load together, and what becomes of those that wait.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct ManyPrefetchersTests {
    private static let limit = PrefetchSlots.countOfManager

    /// A manager of its own, whose transfers a test plays.
    private struct Loads {
        let manager: KingfisherManager
        let transfers: AwaitedTransfers
        let image: Data

        /// A started prefetcher of one URL each.
        func start(_ names: [String]) -> [ImagePrefetcher] {
            names.map { name in
                let prefetcher = prefetcher([name])
                prefetcher.start()
                return prefetcher
            }
        }

        func prefetcher(_ names: [String]) -> ImagePrefetcher {
            ImagePrefetcher(
                sources: names.compactMap { URL(string: "http://prefetch.example/\($0)").map { .network($0) } },
                options: [.targetCache(manager.cache), .downloader(manager.downloader), .cacheMemoryOnly],
                manager: manager
            )
        }

        func playAll(_ count: Int) async {
            for transfer in await transfers.wait(for: count) where !transfer.isComplete { transfer.play(.data(image)) }
        }
    }

    private func withLoads(_ body: (Loads) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let transfers = AwaitedTransfers()
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            let manager = KingfisherManager(downloader: transfers.downloader, cache: cache)
            try await body(Loads(manager: manager, transfers: transfers, image: try SampleImage.png(2, 2)))
        }
    }

    @Test("However many prefetchers there are, they load only so many images at once; each end lets one begin")
    func limit() async throws {
        try await withLoads { loads in
            let total = Self.limit + 50
            let prefetchers = loads.start((0..<total).map(String.init))
            for count in Self.limit..<total {
                let transfers = await loads.transfers.wait(for: count)
                #expect(transfers.count == count)
                #expect(loads.manager.running.withLock { $0.count } <= Self.limit)
                transfers[count - Self.limit].play(.data(loads.image))
            }
            await loads.playAll(total)
            for prefetcher in prefetchers { #expect(await prefetcher.prefetch().completed.count == 1) }
        }
    }

    @Test("A prefetcher that waits ends at once when it is stopped, and is passed over")
    func stopping() async throws {
        try await withLoads { loads in
            let running = loads.start((0..<Self.limit).map(String.init))
            await loads.transfers.wait(for: Self.limit)
            let stopped = loads.start(["stopped"])[0]
            stopped.stop()
            #expect(await stopped.prefetch().failed.map(\.error.isCancelled) == [true])
            let last = loads.start(["last"])[0]
            await loads.playAll(Self.limit)
            await loads.playAll(Self.limit + 1)
            #expect(await last.prefetch().completed.count == 1)
            for prefetcher in running { #expect(await prefetcher.prefetch().completed.count == 1) }
            #expect(!loads.transfers.names.contains("stopped"))
        }
    }

    @Test("A prefetcher that may load more at once than there are slots does so")
    func higherLimit() async throws {
        try await withLoads { loads in
            let count = Self.limit + 10
            let prefetcher = loads.prefetcher((0..<count).map(String.init))
            prefetcher.maxConcurrentDownloads = count
            prefetcher.start()
            await loads.playAll(count)
            #expect(await prefetcher.prefetch().completed.count == count)
        }
    }

    @Test("Slots go to the most urgent list first, in the order they came, and not to one that was stopped")
    func order() async {
        let (slots, gate) = (PrefetchSlots(count: 1), Gate())
        let (names, end) = AsyncStream<String>.makeStream()
        var ends = names.makeAsyncIterator()
        @discardableResult func start(_ name: String, _ priority: TaskPriority) -> PrefetchQueue {
            let queue = PrefetchQueue(limit: 1, priority: priority, slots: slots)
            let job = PrefetchQueue.Job(id: 0) {
                if name == "first" { await gate.wait() }
                end.yield(name)
            }
            _ = queue.replace(with: [job])
            return queue
        }
        start("first", .low)
        start("low", .low)
        start("stopped", .high).stop()
        start("high", .high)
        start("later", .high)
        gate.open()
        for name in ["first", "high", "later", "low"] {
            let next = await ends.next()
            #expect(next == name)
        }
        // All slots are free again.
        start("last", .low)
        let last = await ends.next()
        #expect(last == "last")
    }
}
