// Downloads from nginx, against bare AsyncHTTPClient and bare libcurl. Uses public API only.

import Foundation
import Kingfisher

let downloadBenchmarks = [
    Benchmark(name: "2,000 downloads of 20 KB, 16 in flight, bytes only, against AsyncHTTPClient") {
        try await Downloads.small.rate(.faster(1.2), against: { $0.throughBareClient })
    },
    Benchmark(name: "2,000 downloads of 20 KB, 16 in flight, bytes only, against libcurl") {
        try await Downloads.small.rate(.share(0.5), against: { $0.throughBareCurl })
    },
    Benchmark(name: "2,000 downloads of 20 KB, bytes only, processor time of one, against AsyncHTTPClient") {
        try await Downloads.small.processorTime(.shown, against: { $0.throughBareClient })
    },
    Benchmark(name: "2,000 downloads of 20 KB, bytes only, processor time of one, against libcurl") {
        try await Downloads.small.processorTime(.atMostTimes(2.2), against: { $0.throughBareCurl })
    },
    // No cache but the storing in memory: these are the manager's own cost from the call to the image.
    Benchmark(name: "2,000 downloads of 20 KB, 16 in flight, through the manager, processor that does nothing") {
        try await Downloads.small.rate(.faster(1.8), of: { $0.throughManager }, against: { $0.throughBareClient })
    },
    Benchmark(name: "2,000 downloads of 20 KB through the manager, processor time of one, against downloadData") {
        try await Downloads.small
            .processorTime(.atMostTimes(1.35), of: { $0.throughManager }, against: { $0.bytesOnly })
    },
    Benchmark(name: "100 downloads of 5 MB, 8 in flight, bytes only, against AsyncHTTPClient") {
        try await Downloads.large.rate(.faster(2), against: { $0.throughBareClient })
    },
]

/// Many downloads of the same kind.
private struct Downloads: Sendable {
    let count: Int
    let size: Int
    let inFlight: Int
    let rounds: Int

    static let small = Downloads(count: 2_000, size: 20 << 10, inFlight: 16, rounds: 15)
    static let large = Downloads(count: 100, size: 5 << 20, inFlight: 8, rounds: 7)

    typealias Way = (Run) -> () async throws -> Void

    /// Downloads per second.
    func rate(_ goal: Goal, of ours: Way = { $0.bytesOnly }, against baseline: Way) async throws -> Figure {
        Figure(rateOf: try await compared(by: .wall, ours, baseline), goal)
    }

    /// The processor time of one download, over all threads of this process.
    func processorTime(_ goal: Goal, of ours: Way = { $0.bytesOnly }, against baseline: Way) async throws -> Figure {
        Figure(try await compared(by: .process, ours, baseline), goal)
    }

    private func compared(by stopwatch: Stopwatch, _ ours: Way, _ baseline: Way) async throws -> Comparison {
        let nginx = try Nginx(serving: ["body": .random(count: size)])
        let run = try Run(self, from: nginx)
        let comparison = try await compare(
            rounds: rounds,
            by: stopwatch,
            operations: count,
            ours: ours(run),
            baseline: baseline(run)
        )
        // All downloads must have reached the server.
        let (expected, served) = (2 * (rounds + 1) * count, try nginx.served())
        try BenchmarkError.unless(served == expected, "\(expected) downloads took \(served) requests")
        return comparison
    }
}

extension Data {
    /// Bytes that cannot be compressed.
    fileprivate static func random(count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}

/// The same downloads in several ways.
private struct Run: Sendable {
    private let downloads: Downloads
    private let addresses: [String]
    private let urls: [URL]
    private let downloader = ImageDownloader(name: "bench")
    private let manager: KingfisherManager
    private let folder: TemporaryFolder

    init(_ downloads: Downloads, from nginx: Nginx) throws {
        self.downloads = downloads
        addresses = (0..<downloads.count).map { nginx.address(of: "body") + "\($0)" }
        urls = addresses.compactMap { URL(string: $0) }
        folder = try TemporaryFolder()
        manager = KingfisherManager(
            downloader: downloader,
            cache: try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        )
    }

    /// Downloads by `ImageDownloader`, without images.
    func bytesOnly() async throws {
        try await inParallel { try await downloader.downloadData(with: urls[$0]).data.count }
    }

    /// Downloads by the manager, without reading caches and files and without decoding.
    func throughManager() async throws {
        let processor = NoDecoding()
        try await inParallel { index in
            let result = try await manager.retrieveImage(
                with: urls[index],
                options: [.forceRefresh, .cacheMemoryOnly, .processor(processor)]
            )
            return result.data()?.count ?? 0
        }
    }

    func throughBareClient() async throws {
        try await inParallel { try await BareClient.download(addresses[$0]) }
    }

    func throughBareCurl() async throws {
        let size = try BareCurl.download(addresses, inFlight: downloads.inFlight)
        try BenchmarkError.unless(size == downloads.count * downloads.size, "a download is not complete")
    }

    private func inParallel(_ download: @escaping @Sendable (Int) async throws -> Int) async throws {
        try await concurrently(downloads.count, inFlight: downloads.inFlight) { [downloads] number in
            try BenchmarkError.unless(try await download(number) == downloads.size, "a download is not complete")
        }
    }
}

/// A processor that ignores the bytes, so that only the pipeline around it is measured.
struct NoDecoding: ImageProcessor {
    let identifier = "none"
    private let image = Image()

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? { image }
}
