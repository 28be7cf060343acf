// The memory store against a design around NSCache, and a memory hit from end to end. Knows public API only.

import Foundation
import Kingfisher

let memoryBenchmarks = [
    Benchmark(name: "memory hit, 10,000 keys, against NSCache") {
        // Stored in another order than they are asked for, under strings of their own: so the stores go all over their
        // memory, and whoever asks does not.
        let pictures = Pictured.many(10_000).shuffled(seed: 7)
        let ours = MemoryStorage.Backend<Pictured>.filled(with: pictures)
        let baseline = NSCacheStore(filledWith: pictures)
        // Several times over: once would mostly measure how the one drives the other out of the processor's caches.
        let queries = Pictured.many(10_000).map(\.key)
        let keys = (0..<5).flatMap { _ in queries }
        let comparison = try await compare(
            rounds: 61,
            operations: keys.count,
            ours: { try expectHits(keys) { ours.value(forKey: $0) != nil } },
            baseline: { try expectHits(keys) { baseline.value(forKey: $0) != nil } }
        )
        return Figure(comparison, .faster(6))
    },
    Benchmark(name: "memory insert of 10,000, against NSCache") {
        let pictures = Pictured.many(10_000)
        let comparison = try await compare(
            rounds: 9,
            operations: pictures.count,
            ours: { _ = MemoryStorage.Backend<Pictured>.filled(with: pictures) },
            baseline: { _ = NSCacheStore(filledWith: pictures) }
        )
        return Figure(comparison, .faster(30))
    },
    Benchmark(name: "retrieveImage with a handler on a memory hit, against the bare look-up") {
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        let urls = Pictured.many(1_000).compactMap { URL(string: $0.key) }
        let image = Image(cgImage: Bitmap(width: 1, height: 1) { _, _ in })
        for url in urls { cache.memoryStorage.store(value: image, forKey: url.absoluteString) }
        let keys = urls.map(\.absoluteString)
        let hits = HitCounter()
        let comparison = try await compare(
            rounds: 201,
            operations: keys.count,
            ours: { try expectHits(urls) { hits.hit(manager, $0) } },
            baseline: { try expectHits(keys) { cache.memoryStorage.value(forKey: $0) != nil } }
        )
        return Figure(.seconds(comparison.ours), baseline: .seconds(comparison.baseline), .atMost(.seconds(2e-6)))
    },
]

/// Looks everything up, and throws if anything is missing.
private func expectHits<Key>(_ keys: [Key], _ isHit: (Key) -> Bool) throws {
    var hits = 0
    for key in keys where isHit(key) { hits += 1 }
    try Broken.unless(hits == keys.count, "\(keys.count - hits) of \(keys.count) look-ups missed")
}

/// Counts completion handlers, all of which are called on the calling thread.
// SAFETY: used by one thread, the one that calls `hit`; the handler runs before the call returns.
private final class HitCounter: @unchecked Sendable {
    private var count = 0

    func hit(_ manager: KingfisherManager, _ url: URL) -> Bool {
        let before = count
        manager.retrieveImage(with: .network(url), options: [.callbackQueue(.untouch)]) { result in
            if case .success = result { self.count += 1 }
        }
        return count == before + 1
    }
}

/// A value of some cost, like an image without its pixels.
private final class Pictured: CacheCostCalculable, Sendable {
    let key: String
    let cacheCost: Int

    init(_ number: Int) {
        key = "https://images.example.com/albums/\(number / 100)/picture-\(number).jpg"
        // Thumbnails of all shapes: hardly any two cost the same.
        cacheCost = (100 + number &* 7919 % 211) * (100 + number &* 104_729 % 173) * 4
    }

    static func many(_ count: Int) -> [Pictured] { (0..<count).map(Pictured.init) }
}

extension MemoryStorage.Backend where T == Pictured {
    fileprivate static func filled(with pictures: [Pictured]) -> MemoryStorage.Backend<Pictured> {
        let store = MemoryStorage.Backend<Pictured>(config: MemoryStorage.Config(totalCostLimit: 0))
        for picture in pictures { store.store(value: picture, forKey: picture.key) }
        return store
    }
}

extension NSCacheStore where Value == Pictured {
    fileprivate convenience init(filledWith pictures: [Pictured]) {
        self.init()
        for picture in pictures { store(picture, forKey: picture.key, cost: picture.cacheCost) }
    }
}

extension Array {
    /// The same order in every run.
    fileprivate func shuffled(seed: UInt64) -> [Element] {
        var generator = Generator(state: seed)
        return shuffled(using: &generator)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
    }
}
