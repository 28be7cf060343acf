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
    Benchmark(name: "retrieveImage with a handler on a memory hit, .respectCacheControl, against the same without") {
        let loads = try await MemoryHits.fresh()
        return try await compared(loads.withHandlerIfFresh, against: loads.withHandler)
    },
    Benchmark(name: "retrieveImage, async, on a memory hit, .respectCacheControl, against the same without") {
        let loads = try await MemoryHits.fresh()
        return try await compared(loads.awaitedIfFresh, against: loads.awaited)
    },
    // What the benchmark itself allocates for a call is part of these. The limits leave less room than one more would take.
    Benchmark(name: "retrieveImage with a handler on a memory hit: allocations", isCounted: true) {
        let loads = try MemoryHits()
        return try await allocations(atMost: 3.5, loads.withHandler)
    },
    Benchmark(name: "retrieveImage, async, on a memory hit: allocations", isCounted: true) {
        let loads = try MemoryHits()
        return try await allocations(atMost: 1.5, loads.awaited)
    },
]

/// How much longer a hit takes than another kind of hit.
private func compared(
    _ ours: () async throws -> Void,
    against baseline: () async throws -> Void
) async throws -> Figure {
    let comparison = try await compare(rounds: 201, operations: MemoryHits.count, ours: ours, baseline: baseline)
    return Figure(comparison, .atMostMore(seconds: 0.15e-6))
}

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
        try self.init(at: "https://images.example.com/")
        let image = Image(cgImage: Bitmap(width: 1, height: 1) { _, _ in })
        for key in keys { manager.cache.memoryStorage.store(value: image, forKey: key) }
    }

    private init(at address: String) throws {
        folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        urls = (0..<Self.count).compactMap { URL(string: "\(address)albums/\($0 / 100)/picture-\($0).jpg") }
        keys = urls.map(\.absoluteString)
    }

    /// Images that were loaded from a server, which says that they are fresh for a day.
    static func fresh() async throws -> MemoryHits {
        let image = try SampleImages.jpeg(width: 16, height: 16)
        let nginx = try Nginx(serving: ["image": image], cacheControl: "max-age=86400")
        let loads = try MemoryHits(at: nginx.address(of: "image"))
        for url in loads.urls {
            _ = try await loads.manager.retrieveImage(with: url, options: [.respectCacheControl, .cacheMemoryOnly])
        }
        let served = try nginx.served()
        try BenchmarkError.unless(served == count, "\(count) images took \(served) requests")
        return loads
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

    func withHandlerIfFresh() throws {
        try expectHits(urls) { handler.hit(manager, $0, [.callbackQueue(.untouch), .respectCacheControl]) }
    }

    func awaited() async throws {
        for url in urls { try expectHit(try await manager.retrieveImage(with: .network(url))) }
    }

    func awaitedIfFresh() async throws {
        for url in urls {
            try expectHit(try await manager.retrieveImage(with: .network(url), options: [.respectCacheControl]))
        }
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
