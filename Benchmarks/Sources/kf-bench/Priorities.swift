// One load that is waited for among a thousand that are not. Uses public API only.

import Foundation
import Kingfisher
import Synchronization

let priorityBenchmarks = [
    // At most one piece runs on each thread: those for pixels, as many as cores, and the four for files, where a load
    // waits too. These pieces end while the visible load waits for each of the two.
    Benchmark(name: "1,000 prefetch-priority loads queued, then one visible: pieces that end before it") {
        let threads = ProcessInfo.processInfo.activeProcessorCount + 4
        var most = 0
        for _ in 0..<5 { most = max(most, try await Queued.run()) }
        return Figure(.count(most), .atMost(.count(2 * threads)))
    }
]

/// A thousand loads of images out of sight, and one of an image in sight.
private enum Queued {
    private static let loads = 1_000

    /// The number of the thousand that are processed between the call for the visible one and its delivery.
    static func run() async throws -> Int {
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        let data = try SampleImages.jpeg(width: 800, height: 600)
        let prefetched = ProcessedCounter()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<loads {
                let provider = RawImageDataProvider(data: data, cacheKey: "prefetched \(number)")
                group.addTask { @concurrent in
                    // Loads that are not processed when the visible one arrives are cancelled.
                    _ = try? await manager.retrieveImage(
                        with: .provider(provider),
                        options: [.processor(prefetched), .downloadPriority(0), .cacheMemoryOnly]
                    )
                }
            }
            // All loads have begun by then, and wait for a thread.
            while prefetched.count < 20 { try await Task.sleep(for: .milliseconds(1)) }
            let before = prefetched.count
            try BenchmarkError.unless(before < loads / 2, "the queue is nearly empty")
            _ = try await manager.retrieveImage(
                with: .provider(RawImageDataProvider(data: data, cacheKey: "visible")),
                options: [.downloadPriority(1), .cacheMemoryOnly]
            )
            let after = prefetched.count
            group.cancelAll()
            try await group.waitForAll()
            return after - before
        }
    }
}

/// The default processor with a counter.
private final class ProcessedCounter: ImageProcessor {
    let identifier = "prefetched"
    private let ends = Atomic(0)

    var count: Int { ends.load(ordering: .sequentiallyConsistent) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        defer { ends.add(1, ordering: .sequentiallyConsistent) }
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}
