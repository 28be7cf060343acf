// Many callers that want one URL which is in no cache yet. Uses public API only.

import Foundation
import Kingfisher
import Synchronization

let joiningBenchmarks = [
    Benchmark(name: "1,000 loads of one cold URL at once: requests", isCounted: true) {
        Figure(.count(try await ColdLoads.plain(1_000).requests), .exactly(1))
    },
    Benchmark(name: "1,000 loads of one cold URL at once: decodes", isCounted: true) {
        Figure(.count(try await ColdLoads.plain(1_000).decodes), .exactly(1))
    },
    // The task of each caller, which the benchmark creates, is part of these.
    Benchmark(name: "1,000 loads of one cold URL at once: processor time of one that joins") {
        Figure(.seconds(try await ColdLoads.costOfJoining(.processorTime)), .atMost(.seconds(15e-6)))
    },
    // It differs by about one from run to run.
    Benchmark(name: "1,000 loads of one cold URL at once: allocations of one that joins", isCounted: true) {
        Figure(.average(try await ColdLoads.costOfJoining(.allocations)), .atMost(.average(29)))
    },
    Benchmark(name: "1,000 loads of one cold URL, two chains with one prefix: requests", isCounted: true) {
        Figure(.count(try await ColdLoads.chained(1_000).requests), .exactly(1))
    },
    Benchmark(name: "1,000 loads of one cold URL, two chains with one prefix: decodes", isCounted: true) {
        Figure(.count(try await ColdLoads.chained(1_000).decodes), .exactly(1))
    },
    Benchmark(name: "1,000 loads of one cold URL, two chains with one prefix: runs of the prefix", isCounted: true) {
        Figure(.count(try await ColdLoads.chained(1_000).runs), .exactly(1))
    },
]

/// Loads of one URL at once, through the whole pipeline.
private enum ColdLoads {
    struct Outcome {
        /// What the server has received.
        let requests: Int
        /// How often the first processor was called, and how often with data, which it has to decode.
        let runs, decodes: Int
        /// What the loads have cost.
        let cost: Double
    }

    /// The kind of cost that is measured, of all threads of this process.
    enum Cost {
        /// In seconds.
        case processorTime
        /// A number.
        case allocations

        func of(_ work: () async throws -> Void) async throws -> Double {
            switch self {
            case .processorTime: try await seconds(.process, work)
            case .allocations: try await allocationCount(of: work)
            }
        }
    }

    /// The cost of a load that joins another one: the median of some runs.
    static func costOfJoining(_ cost: Cost) async throws -> Double {
        var costs: [Double] = []
        for _ in 0..<5 {
            let (one, all) = (try await plain(1, cost).cost, try await plain(1_000, cost).cost)
            costs.append((all - one) / 999)
        }
        return median(costs)
    }

    /// Loads that all decode the image and do nothing else.
    static func plain(_ loads: Int, _ cost: Cost = .processorTime) async throws -> Outcome {
        let first = CountingProcessor(DefaultImageProcessor.default)
        return try await run(loads, through: [(processor: first, width: 300)], counting: first, cost)
    }

    /// Loads that all make the image smaller; every other one then does so again.
    static func chained(_ loads: Int) async throws -> Outcome {
        let first = CountingProcessor(DownsamplingImageProcessor(size: CGSize(width: 150, height: 150)))
        let chain = first |> ResizingImageProcessor(referenceSize: CGSize(width: 75, height: 75))
        let chains = [(processor: first as any ImageProcessor, width: 150), (processor: chain, width: 75)]
        return try await run(loads, through: chains, counting: first)
    }

    /// Loads an image from a server so slow that all callers have begun before its response.
    ///
    /// - Parameters:
    ///   - loads: The number of callers, who take the chains in turn.
    ///   - chains: Processors, and how wide the images are that they make.
    ///   - first: The processor that every chain begins with.
    ///   - cost: What is measured of them.
    /// - Returns: What was counted.
    /// - Throws: ``BenchmarkError`` for a load that did not join, and the errors of loads.
    private static func run(
        _ loads: Int,
        through chains: [(processor: any ImageProcessor, width: Int)],
        counting first: CountingProcessor,
        _ cost: Cost = .processorTime
    ) async throws -> Outcome {
        let server = try SlowServerProcess(delay: 0.3, body: try SampleImages.jpeg(width: 300, height: 300))
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        let ways = chains.map { (options: [.processor($0.processor)] as KingfisherOptionsInfo, width: $0.width) }
        var measured = 0.0
        for url in server.urls(1) {
            measured = try await cost.of { try await load(loads, url, manager, ways) }
        }
        return Outcome(requests: try server.stop(), runs: first.runs, decodes: first.decodes, cost: measured)
    }

    private static func load(
        _ loads: Int,
        _ url: URL,
        _ manager: KingfisherManager,
        _ ways: [(options: KingfisherOptionsInfo, width: Int)]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<loads {
                let way = ways[number % ways.count]
                group.addTask { @concurrent in
                    let result = try await manager.retrieveImage(with: url, options: way.options)
                    try BenchmarkError.unless(result.image.pixelWidth == way.width, "a load gave another image")
                    try BenchmarkError.unless(result.cacheType == .none, "a load came too late to join")
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A processor with counters.
private final class CountingProcessor: ImageProcessor {
    let identifier: String
    private let processor: any ImageProcessor
    private let calls = Atomic(0)
    private let callsWithData = Atomic(0)

    init(_ processor: any ImageProcessor) {
        (self.processor, identifier) = (processor, "counting \(processor.identifier)")
    }

    /// How often it was called.
    var runs: Int { calls.load(ordering: .sequentiallyConsistent) }
    /// How often it was called with data.
    var decodes: Int { callsWithData.load(ordering: .sequentiallyConsistent) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        calls.add(1, ordering: .sequentiallyConsistent)
        if case .data = item { callsWithData.add(1, ordering: .sequentiallyConsistent) }
        return processor.process(item: item, options: options)
    }
}
