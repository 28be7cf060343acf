// The coordinator of a list that scrolls: which rows are prefetched, in which order, and what becomes of those that
// left.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct PrefetchCoordinatorTests {
    private static let image = Result { try SampleImage.png(2, 2) }

    private static func source(_ row: Int) -> Source? {
        URL(string: "http://prefetch.example/\(row)").map { .network($0) }
    }

    /// A list of 1,000 rows and its coordinator, which loads one row at a time.
    private struct List {
        let coordinator: PrefetchCoordinator
        let transfers: AwaitedTransfers
        let options: KingfisherOptionsInfo
        let cache: ImageCache
    }

    /// Plays an image for each transfer at once.
    private static let playing: @Sendable (FakeTransfer) -> Void = { transfer in
        transfer.play(.data((try? image.get()) ?? Data()))
    }

    private func withList(
        window: Int = 3,
        _ destination: PrefetchCoordinator.Destination = .memory,
        options: KingfisherOptionsInfo = [],
        play: @escaping @Sendable (FakeTransfer) -> Void = { _ in },
        source: @escaping @Sendable (Int) -> Source? = { $0 < 1_000 ? PrefetchCoordinatorTests.source($0) : nil },
        _ body: (List) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let transfers = AwaitedTransfers(play)
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            let options = options + [.targetCache(cache), .downloader(transfers.downloader)]
            let coordinator = PrefetchCoordinator(
                window: window,
                destination: destination,
                options: options,
                source: source
            )
            coordinator.maxConcurrentDownloads = 1
            try await body(List(coordinator: coordinator, transfers: transfers, options: options, cache: cache))
        }
    }

    @Test("The rows behind the visible ones come nearest first, each once while the list moves on")
    func forward() async throws {
        try await withList(play: Self.playing) { list in
            list.coordinator.visibleRows(0..<10)
            await list.transfers.wait(for: 3)
            list.coordinator.visibleRows(0..<10)
            for first in 1...5 {
                list.coordinator.visibleRows(first..<first + 10)
                await list.transfers.wait(for: 3 + first)
            }
            #expect(list.transfers.names == (10...17).map { String($0) })
        }
    }

    @Test("When the list moves the other way, the window lies before the visible rows")
    func backward() async throws {
        try await withList { list in
            list.coordinator.visibleRows(50..<60)
            let first = await list.transfers.wait(for: 1)[0]
            list.coordinator.visibleRows(49..<59)
            await first.cancelled.wait()
            for count in 2...3 { Self.playing(await list.transfers.wait(for: count)[count - 1]) }
            // While row 46 is under way no other begins, 45 neither.
            let last = await list.transfers.wait(for: 4)[3]
            // A list that shows more or fewer rows at both ends goes on in its direction.
            list.coordinator.visibleRows(48..<60)
            list.coordinator.visibleRows(45..<55)
            Self.playing(last)
            await list.transfers.wait(for: 5)
            #expect(list.transfers.names == ["60", "48", "47", "46", "44"])
        }
    }

    @Test("Rows that leave before they have begun are never requested, and a download under way is cancelled")
    func droppedRows() async throws {
        try await withList { list in
            list.coordinator.maxConcurrentDownloads = 2
            list.coordinator.visibleRows(0..<10)
            let begun = await list.transfers.wait(for: 2)
            list.coordinator.visibleRows(100..<110)
            for transfer in begun { await transfer.cancelled.wait() }
            for transfer in await list.transfers.wait(for: 4).suffix(2) { Self.playing(transfer) }
            await list.transfers.wait(for: 5)
            #expect(Set(list.transfers.names) == ["10", "11", "110", "111", "112"])
        }
    }

    @Test("A row that becomes visible goes on until it is out of sight") func visibleRow() async throws {
        try await withList { list in
            list.coordinator.visibleRows(0..<10)
            let transfer = await list.transfers.wait(for: 1)[0]
            list.coordinator.visibleRows(5..<15)
            list.coordinator.maxConcurrentDownloads = 2
            await list.transfers.wait(for: 2)
            #expect(list.transfers.names == ["10", "15"] && !transfer.isCancelled)
            list.coordinator.visibleRows(11..<21)
            await transfer.cancelled.wait()
        }
    }

    @Test("A download that something else wants goes on when its row has left")
    func sharedDownload() async throws {
        try await withList { list in
            list.coordinator.visibleRows(0..<10)
            let transfer = await list.transfers.wait(for: 1)[0]
            let load = Task.immediate {
                let source = try #require(Self.source(10))
                return try await KingfisherManager.shared.retrieveImage(with: source, options: list.options)
            }
            list.coordinator.visibleRows(100..<110)
            await list.transfers.wait(for: 2)
            #expect(!transfer.isCancelled)
            Self.playing(transfer)
            guard case .success(let loaded) = await load.result else {
                Issue.record("The load failed.")
                return
            }
            #expect(loaded.cacheType == .none)
        }
    }

    @Test("While it is paused nothing begins, and what runs ends") func pausing() async throws {
        try await withList { list in
            list.coordinator.visibleRows(0..<10)
            let transfer = await list.transfers.wait(for: 1)[0]
            list.coordinator.isPaused = true
            #expect(list.coordinator.isPaused && !transfer.isCancelled)
            Self.playing(transfer)
            while !list.cache.memoryStorage.isCached(forKey: "http://prefetch.example/10") { await Task.yield() }
            list.coordinator.visibleRows(20..<30)
            #expect(list.transfers.names == ["10"])
            list.coordinator.isPaused = false
            await list.transfers.wait(for: 2)
            #expect(list.transfers.names == ["10", "30"])
        }
    }

    @Test("A longer window, and more rows at once, count from now on") func liveChanges() async throws {
        try await withList(window: 1) { list in
            list.coordinator.visibleRows(0..<10)
            await list.transfers.wait(for: 1)
            list.coordinator.maxConcurrentDownloads = 3
            list.coordinator.window = 3
            await list.transfers.wait(for: 3)
            #expect(Set(list.transfers.names) == ["10", "11", "12"])
            list.coordinator.window = 0
            for transfer in await list.transfers.wait(for: 3) { await transfer.cancelled.wait() }
            (list.coordinator.window, list.coordinator.maxConcurrentDownloads) = (-1, 0)
            #expect(list.coordinator.window == 0 && list.coordinator.maxConcurrentDownloads == 1)
        }
    }

    @Test("A row that failed is not tried again before it has left") func failedRows() async throws {
        try await withList(play: { $0.play(.status(404)) }) { list in
            list.coordinator.visibleRows(0..<10)
            await list.transfers.wait(for: 3)
            list.coordinator.visibleRows(1..<11)
            await list.transfers.wait(for: 4)
            #expect(list.transfers.names == ["10", "11", "12", "13"])
            list.coordinator.visibleRows(500..<510)
            await list.transfers.wait(for: 7)
            list.coordinator.visibleRows(0..<10)
            list.coordinator.visibleRows(1..<11)
            await list.transfers.wait(for: 8)
            #expect(list.transfers.names.dropFirst(7).first == "11")
        }
    }

    @Test("Rows without a source are skipped, and a row whose source changes is loaded again")
    func sources() async throws {
        let changed = Box(false)
        let source: @Sendable (Int) -> Source? = { row in
            row.isMultiple(of: 2) ? nil : Self.source(changed.value ? row + 100 : row)
        }
        try await withList(window: 4, play: Self.playing, source: source) { list in
            list.coordinator.visibleRows(0..<10)
            await list.transfers.wait(for: 2)
            changed.value = true
            list.coordinator.visibleRows(0..<10)
            await list.transfers.wait(for: 4)
            #expect(list.transfers.names == ["11", "13", "111", "113"])
        }
    }

    @Test(
        "A range without rows or without sense does no harm",
        arguments: [0..<0, 5..<5, -10 ..< -5, Int.min..<Int.max, Int.max - 1..<Int.max, Int.max..<Int.max, -5..<0]
    )
    func absurdRanges(rows: Range<Int>) async throws {
        let negative = Counter()
        let source: @Sendable (Int) -> Source? = { row in
            if row < 0 { negative.add() }
            return (500..<1_000).contains(row) ? Self.source(row) : nil
        }
        try await withList(window: .max, play: Self.playing, source: source) { list in
            #expect(list.coordinator.window == 1_000)
            list.coordinator.visibleRows(rows)
            list.coordinator.stop()
            list.coordinator.visibleRows(rows)
            list.coordinator.stop()
            list.coordinator.visibleRows(490..<500)
            await list.transfers.wait(for: 1)
            #expect(list.transfers.names.first == "500" && negative.value == 0)
        }
    }

    @Test("A stop drops everything, until rows are visible again") func stopping() async throws {
        try await withList { list in
            list.coordinator.visibleRows(0..<10)
            let transfer = await list.transfers.wait(for: 1)[0]
            list.coordinator.stop()
            await transfer.cancelled.wait()
            list.coordinator.window = 5
            #expect(list.transfers.names == ["10"])
            list.coordinator.visibleRows(20..<30)
            await list.transfers.wait(for: 2)
            #expect(list.transfers.names == ["10", "30"])
        }
    }

    @Test("A coordinator that is released cancels its downloads") func releasing() async throws {
        try await withTemporaryDirectory { directory in
            let transfers = AwaitedTransfers()
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            do {
                let options: KingfisherOptionsInfo = [.targetCache(cache), .downloader(transfers.downloader)]
                let coordinator = PrefetchCoordinator(options: options, source: Self.source)
                coordinator.visibleRows(0..<10)
                await transfers.wait(for: 8)
                withExtendedLifetime(coordinator) {}
            }
            for transfer in await transfers.wait(for: 8) { await transfer.cancelled.wait() }
            #expect(Set(transfers.names) == Set((10...17).map { String($0) }))
        }
    }

    @Test("An image that is on disk is read into memory, if that is where images are to be")
    func promotion() async throws {
        try await withList(window: 1) { list in
            let key = "http://prefetch.example/10"
            try await list.cache.storeToDisk(Self.image.get(), forKey: key)
            list.coordinator.visibleRows(0..<10)
            while !list.cache.memoryStorage.isCached(forKey: key) { await Task.yield() }
            #expect(list.transfers.names.isEmpty)
        }
    }

    @Test("With the disk as destination bytes are kept undecoded, and a later load makes its image of them")
    func diskDestination() async throws {
        let processor = CountingProcessor()
        try await withList(window: 2, .disk, options: [.processor(processor)], play: Self.playing) { list in
            list.coordinator.visibleRows(0..<10)
            for row in 10..<12 {
                while !list.cache.diskStorage.isCached(forKey: "http://prefetch.example/\(row)") { await Task.yield() }
            }
            #expect(processor.runs.value == 0)
            #expect(!list.cache.memoryStorage.isCached(forKey: "http://prefetch.example/10"))
            let source = try #require(Self.source(10))
            let result = try await KingfisherManager.shared.retrieveImage(with: source, options: list.options)
            #expect(result.image.pixelWidth == 2 && processor.runs.value == 1)
            // What is on disk is not requested again.
            list.coordinator.stop()
            list.coordinator.visibleRows(1..<11)
            while !list.cache.diskStorage.isCached(forKey: "http://prefetch.example/12") { await Task.yield() }
            #expect(list.transfers.names == ["10", "11", "12"])
        }
    }

    @Test("With the disk as destination a retry strategy is consulted, and empty bytes are not kept")
    func diskFailures() async throws {
        let responses: [TestResponse] = [.status(503), .data(Data()), .data(Data("bytes".utf8))]
        let played = Counter()
        let play: @Sendable (FakeTransfer) -> Void = { $0.play(responses[min(played.add(), 3) - 1]) }
        let retry = DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))
        try await withList(window: 2, .disk, options: [.retryStrategy(retry)], play: play) { list in
            list.coordinator.visibleRows(0..<10)
            while !list.cache.diskStorage.isCached(forKey: "http://prefetch.example/11") { await Task.yield() }
            #expect(list.transfers.names == ["10", "10", "11"])
            #expect(!list.cache.diskStorage.isCached(forKey: "http://prefetch.example/10"))
        }
    }
}
