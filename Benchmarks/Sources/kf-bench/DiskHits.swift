// An image on disk, from the call to its pixels, against reading the file and decoding it with the bare library. Uses
// public API only.

import CBaseline
import Foundation
import Kingfisher

let diskHitBenchmarks = [
    Benchmark(name: "disk hit of a 300×300 JPEG through the manager, against a bare read and libjpeg-turbo") {
        Figure(try await DiskHits().compared(by: .wall), .atMostTimes(1.4))
    },
    Benchmark(name: "disk hit of a 300×300 JPEG through the manager, processor time, against the same") {
        Figure(try await DiskHits().compared(by: .process), .atMostTimes(1.3))
    },
]

/// Avatars that are on disk and not in memory.
private struct DiskHits: Sendable {
    private static let (count, side) = (50, 300)

    private let manager: KingfisherManager
    private let urls: [URL]
    private let paths: [String]
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        urls = (0..<Self.count).compactMap { URL(string: "https://images.example.com/avatars/\($0).jpg") }
        let data = try SampleImages.jpeg(width: Self.side, height: Self.side)
        for url in urls { try await cache.storeToDisk(data, forKey: url.absoluteString) }
        paths = urls.map { cache.diskStorage.cacheFileURL(forKey: $0.absoluteString).path }
    }

    func compared(by stopwatch: Stopwatch) async throws -> Comparison {
        try await compare(rounds: 61, by: stopwatch, operations: Self.count, ours: load, baseline: loadBare)
    }

    /// Loads all by the manager; memory holds at most the one before, whose pixels are released as the bare ones are.
    @concurrent private func load() async throws {
        for url in urls {
            manager.cache.memoryStorage.removeAll()
            let result = try await manager.retrieveImage(with: url)
            try BenchmarkError.unless(
                result.cacheType == .disk && result.image.pixelWidth == Self.side,
                "the image was not found on disk"
            )
        }
    }

    private func loadBare() throws {
        for path in paths {
            var (size, width, height) = (0, 0, 0)
            let bytes = baseline_read(path, &size)
            let pixels = baseline_jpeg(bytes, size, 8, &width, &height)
            try BenchmarkError.unless(pixels != nil && width == Self.side, "the file cannot be read and decoded")
            free(pixels)
            free(bytes)
        }
    }
}
