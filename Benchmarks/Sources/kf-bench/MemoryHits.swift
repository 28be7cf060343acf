// A memory hit through the manager, from the call to the image: time and allocations. Uses public API only.

import Foundation
import Kingfisher

let memoryHitBenchmarks = [
    Benchmark(name: "retrieveImage with a handler on a memory hit, against the bare look-up") {
        let loads = try MemoryHits()
        return try await loads.besideLookUps(atMost: 0.75e-6, loads.withHandler)
    },
    Benchmark(name: "retrieveImage, async, on a memory hit, against the bare look-up") {
        let loads = try MemoryHits()
        return try await loads.besideLookUps(atMost: 0.65e-6, loads.awaited)
    },
    // What the benchmark itself allocates for a call is part of these. The limits leave less room than one more would
    // take.
    Benchmark(name: "retrieveImage with a handler on a memory hit: allocations", isCounted: true) {
        let loads = try MemoryHits()
        return try await allocations(atMost: 3.5, loads.withHandler)
    },
    Benchmark(name: "retrieveImage, async, on a memory hit: allocations", isCounted: true) {
        let loads = try MemoryHits()
        return try await allocations(atMost: 1.5, loads.awaited)
    },
]

/// The allocations of one hit.
private func allocations(atMost limit: Double, _ hits: () async throws -> Void) async throws -> Figure {
    // The first ones may set up what all later ones use.
    try await hits()
    let count = try await allocationCount(of: hits)
    return Figure(.average(count / Double(MemoryHits.count)), .atMost(.average(limit)))
}

/// A thousand loads whose images are in memory.
struct MemoryHits {
    static let count = 1_000

    private let manager: KingfisherManager
    private let urls: [URL]
    private let keys: [String]
    private let folder: TemporaryFolder
    private let handler = HitCounter()

    /// Images that were stored without a server.
    init() throws {
        folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        urls = (0..<Self.count).compactMap {
            URL(string: "https://images.example.com/albums/\($0 / 100)/picture-\($0).jpg")
        }
        keys = urls.map(\.absoluteString)
        let image = Image(cgImage: Bitmap(width: 1, height: 1) { _, _ in })
        for key in keys { cache.memoryStorage.store(value: image, forKey: key) }
    }

    /// The time of one hit, beside that of one look-up in the store.
    func besideLookUps(atMost limit: Double, _ hits: () async throws -> Void) async throws -> Figure {
        let memory = manager.cache.memoryStorage
        let comparison = try await compare(
            rounds: 201,
            operations: Self.count,
            ours: hits,
            baseline: { try expectHits(keys) { memory.value(forKey: $0) != nil } }
        )
        return Figure(.seconds(comparison.ours), baseline: .seconds(comparison.baseline), .atMost(.seconds(limit)))
    }

    // MARK: The ways to load them all

    func withHandler() throws {
        try expectHits(urls) { handler.hit(manager, $0, [.callbackQueue(.untouch)]) }
    }

    func awaited() async throws {
        for url in urls { try expectHit(try await manager.retrieveImage(with: .network(url))) }
    }

    private func expectHit(_ result: RetrieveImageResult) throws {
        try BenchmarkError.unless(result.cacheType == .memory, "a load missed")
    }
}

/// Counts completion handlers, all of which are called on the calling thread.
// SAFETY: used by one thread, the one that calls `hit`; the handler runs before the call returns.
private final class HitCounter: @unchecked Sendable {
    private var count = 0

    func hit(_ manager: KingfisherManager, _ url: URL, _ options: KingfisherOptionsInfo) -> Bool {
        let before = count
        manager.retrieveImage(with: .network(url), options: options) { result in
            if case .success = result { self.count += 1 }
        }
        return count == before + 1
    }
}
