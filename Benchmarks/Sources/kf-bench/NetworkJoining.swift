// Many callers that want one URL which is in no cache yet. Uses public API only.

import Foundation
import Kingfisher
import Synchronization

let joiningBenchmarks = [
    Benchmark(name: "1,000 loads of one cold URL at once: requests") {
        Figure(.count(try await ColdLoads.run(1_000).requests), .exactly(1))
    },
    Benchmark(name: "1,000 loads of one cold URL at once: decodes") {
        Figure(.count(try await ColdLoads.run(1_000).decodes), .exactly(1))
    },
    // The task of each caller, which the benchmark creates, is part of it.
    Benchmark(name: "1,000 loads of one cold URL at once: processor time of one that joins") {
        var times: [Double] = []
        for _ in 0..<5 {
            let (one, all) = (try await ColdLoads.run(1).time, try await ColdLoads.run(1_000).time)
            times.append((all - one) / 999)
        }
        return Figure(.seconds(median(times)), .atMost(.seconds(10e-6)))
    },
]

/// Loads of one URL at once, through the whole pipeline.
private enum ColdLoads {
    /// Loads an image from a server so slow that all callers have begun before its response.
    ///
    /// - Returns: The number of requests and decodes, and the processor time of all threads of this process.
    static func run(_ loads: Int) async throws -> (requests: Int, decodes: Int, time: Double) {
        let server = try SlowServerProcess(delay: 0.3, body: try SampleImages.jpeg(width: 300, height: 300))
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        let processor = CountingProcessor()
        var time = 0.0
        for url in server.urls(1) {
            time = try await seconds(.process) { try await load(loads, url, manager, [.processor(processor)]) }
        }
        return (try server.stop(), processor.count, time)
    }

    private static func load(
        _ loads: Int,
        _ url: URL,
        _ manager: KingfisherManager,
        _ options: KingfisherOptionsInfo
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<loads {
                group.addTask { @concurrent in
                    let result = try await manager.retrieveImage(with: url, options: options)
                    try BenchmarkError.unless(result.image.pixelWidth == 300, "a load gave another image")
                    try BenchmarkError.unless(result.cacheType == .none, "a load came too late to join")
                }
            }
            try await group.waitForAll()
        }
    }
}

/// The default processor with a counter.
private final class CountingProcessor: ImageProcessor {
    let identifier = "counting"
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .sequentiallyConsistent) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        calls.add(1, ordering: .sequentiallyConsistent)
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}
