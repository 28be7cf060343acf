// Which requests share a key of the caches. For those who change what a key is made of.

import Foundation
import KFImageURLs
import KFImageURLsTestSupport
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Synchronization
import Testing

/// A tier that has nothing, and notes what it is asked for.
private final class AskedTier: SharedTier {
    let name = "asked"
    private let asked = Mutex<[String]>([])

    /// The keys of entries since the last call.
    func takeKeys() -> [String] {
        asked.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }

    func get(_ key: String) async throws -> Data? {
        // Other values than entries have short keys.
        if key.count >= 64 { asked.withLock { $0.append(key) } }
        return nil
    }

    func put(_ value: Data, forKey key: String, expiry: Duration?) async throws {}

    func remove(_ key: String) async throws {}
}

/// Requests made of good options at random.
private struct RandomRequests {
    private var generator = MutatedPaths(seed: 7).generator
    private let options = OptionExample.all

    mutating func next(_ rig: RenderingRig) -> RenderingRequest? {
        let count = Int.random(in: 0...4, using: &generator)
        let texts = (0..<count).compactMap { _ -> String? in
            guard let option = options.randomElement(using: &generator) else { return nil }
            return option.good.randomElement(using: &generator).map { "\(option.name):\($0)" }
        }
        let formats: [[FileFormat]] = [[], [.webp], [.avif, .webp], [.jpeg]]
        return try? rig.request(
            texts.joined(separator: "/"),
            path: "/\(Int.random(in: 0..<KeyTests.sources, using: &generator))",
            preferring: formats.randomElement(using: &generator) ?? []
        )
    }
}

@Suite(.timeLimit(.minutes(60))) struct KeyTests {
    fileprivate static let sources = 5
    /// `KF_KEYS=1000000` asks for more requests.
    private static let count = ProcessInfo.processInfo.environment["KF_KEYS"].flatMap(Int.init) ?? 5_000
    /// So many pairs of requests with one key are made.
    private static let pairs = 200

    @Test("Requests share a key only if they have the same result") func shared() async throws {
        let mark = try WatermarkTests.mark()
        try await RenderingRig.run({
            $0.output.maxDimension = 100
            $0.watermark.origin = .data(mark)
        }) { rig in
            for number in 0..<Self.sources {
                // The size tells which source a result is made of.
                rig.server.route("/\(number)", try Quadrants.png(20 + number, 30 - number))
            }
            let tier = AskedTier()
            var (requests, first, pairs) = (RandomRequests(), [String: RenderingRequest](), [[RenderingRequest]]())
            for _ in 0..<Self.count {
                guard let request = requests.next(rig) else { continue }
                // Set anew: a cache does not ask again at once for what was not there.
                rig.cache.setSharedTier(tier)
                _ = await rig.renderer.cached(request)
                let key = try #require(tier.takeKeys().first)
                guard let other = first[key] else {
                    first[key] = request
                    continue
                }
                try #require(other.plan.source == request.plan.source)
                if other != request, pairs.count < Self.pairs { pairs.append([other, request]) }
            }
            rig.cache.setSharedTier(nil)
            print("keys: \(first.count) of \(Self.count) requests")
            // Neither all alike nor all different, or it would try little.
            #expect(pairs.count == Self.pairs && first.count > Self.count / 10)
            for pair in pairs {
                let results = await [outcome(of: pair[0], rig), outcome(of: pair[1], rig)]
                #expect(results[0] == results[1], "\(pair)")
            }
        }
    }

    /// The bytes of a result made anew, or the kind of its error.
    private func outcome(of request: RenderingRequest, _ rig: RenderingRig) async -> String {
        await rig.cache.clearCache()
        do throws(RenderingError) {
            return try await rig.renderer.render(request).entityTag
        } catch {
            return error.kind
        }
    }
}
