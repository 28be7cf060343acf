// What machines find in a tier that they share, and what they do not take from it.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct SharedTierTests {
    @Test("What one machine has downloaded another finds in the tier, and keeps on its disk and in memory")
    func sharedImage() async throws {
        try await Machines.run { machines in
            machines.server.route("/a.png", .data(try SampleImage.png(40, 30)))
            #expect(try await machines.load(on: 0).cacheType == .none)
            let found = try await machines.load(on: 1)
            #expect(found.cacheType == .disk && found.image.size == CGSize(width: 40, height: 30))
            #expect(machines.server.count("/a.png") == 1)
            #expect(machines.statistics(1).hits == 1 && machines.statistics(0).stores == 1)
            #expect(try await machines.load(on: 1).cacheType == .memory)
            machines.managers[1].cache.clearMemoryCache()
            machines.tier.behaviour = .fails
            #expect(try await machines.load(on: 1).cacheType == .disk)
        }
    }

    @Test("Files that were encoded for one machine are sent by another, byte for byte, with their metadata")
    func sharedFile() async throws {
        try await Machines.run { machines in
            let fields = ["Cache-Control": "max-age=600", "ETag": "\"1\""]
            let url = machines.server.route("/a.png", TestResponse(headers: fields, body: try SampleImage.png(40, 30)))
            func load(_ number: Int) async throws -> EncodedImage {
                try await machines.managers[number].retrieveEncoded(
                    with: url,
                    options: [.respectCacheControl],
                    as: ImageEncoding(.webp)
                )
            }
            let made = try await load(0)
            await machines.managers[0].cache.sharedTierWritesFinished()
            let found = try await load(1)
            #expect(found.data == made.data && found.cacheType == .disk && found.contentType == .webp)
            #expect(found.cacheMetadata?.eTag == "\"1\"")
            #expect(machines.server.count("/a.png") == 1)
        }
    }

    @Test("Processed images have keys of their own, and keys say nothing about what they are for")
    func keys() async throws {
        try await Machines.run { machines in
            machines.server.route("/a.png", .data(try SampleImage.png(40, 30)))
            _ = try await machines.load(
                on: 0,
                [.processor(ResizingImageProcessor(referenceSize: CGSize(width: 8, height: 6)))]
            )
            let whole = try await machines.load(on: 1)
            #expect(whole.image.size == CGSize(width: 40, height: 30) && machines.server.count("/a.png") == 2)
            let keys = machines.tier.values.keys.filter { !$0.contains("purge") }
            #expect(keys.count == 2)
            for key in keys {
                #expect(key.count <= 100 && key.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" })
            }
        }
    }

    @Test("What is private is not put into the tier, although the cache was not declared as shared")
    func privateImages() async throws {
        try await Machines.run { machines in
            let fields = ["Cache-Control": "private, max-age=600"]
            machines.server.route("/a.png", TestResponse(headers: fields, body: try SampleImage.png()))
            _ = try await machines.load(on: 0, [.respectCacheControl])
            #expect(machines.managers[0].cache.isShared && machines.tier.values.isEmpty)
        }
    }

    @Test("Removing an image removes it from the tier; an entry lives there as long as on disk")
    func removing() async throws {
        try await Machines.run { machines in
            machines.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await machines.load(on: 0, [.diskCacheExpiration(.seconds(1_000))])
            let expiry = try #require(machines.tier.expiries.first { $0.value < .seconds(2_000) }?.value)
            #expect(expiry > .seconds(700) && expiry <= .seconds(1_000))
            let cache = machines.managers[0].cache
            try await cache.removeImage(forKey: machines.server.url("/a.png").absoluteString)
            await cache.sharedTierWritesFinished()
            #expect(machines.tier.values.keys.allSatisfy { $0.contains("purge") })
            _ = try await machines.load(on: 1)
            #expect(machines.server.count("/a.png") == 2)
        }
    }

    /// Ways in which a value may not be what was put.
    enum Fault: CaseIterable { case truncated, changed, ofAnotherLayout, ofAnotherKey, empty, longer, noImage }

    @Test(
        "A value that is damaged, of another layout or of another key is a miss, never an image",
        arguments: Fault.allCases
    )
    func invalidValues(fault: Fault) async throws {
        try await Machines.run { machines in
            let url = machines.server.route("/a.png", .data(try SampleImage.png(40, 30))).absoluteString
            machines.server.route("/b.png", .data(try SampleImage.png(8, 6)))
            _ = try await machines.load("/a.png", on: 0)
            let key = TierKey(forKey: url, nil)
            var value = try #require(machines.tier.values[key.name])
            switch fault {
            case .truncated: value.removeLast(5)
            case .changed: value[value.count - 9] ^= 1
            case .ofAnotherLayout: value[0] = 2
            case .ofAnotherKey:
                _ = try await machines.load("/b.png", on: 0)
                let other = TierKey(forKey: machines.server.url("/b.png").absoluteString, nil)
                value = try #require(machines.tier.values[other.name])
            case .empty: value = Data()
            case .longer: value.append(0)
            case .noImage: value = TierValue(bytes: Data("no image".utf8)).encoded(for: key)
            }
            machines.tier.values[key.name] = value
            let loaded = try await machines.load("/a.png", on: 1)
            #expect(loaded.cacheType == .none && loaded.image.size == CGSize(width: 40, height: 30))
            // It may be read several times until what was downloaded replaces it.
            #expect((machines.statistics(1).invalid > 0) == (fault != .noImage))
            #expect(machines.tier.values[key.name] != value, "It is replaced by what was downloaded.")
        }
    }

    @Test(
        "A file from a machine whose clock is ten minutes off is used, and never for longer than it is fresh",
        arguments: [600.0, -600.0]
    )
    func clockOff(seconds: TimeInterval) async throws {
        try await Machines.run { machines in
            let response = TestResponse.data(try SampleImage.png(40, 30)).with {
                $0.headers["Cache-Control"] = "max-age=300"
                $0.etag = "\"1\""
            }
            machines.server.route("/a.png", response)
            let options: KingfisherOptionsInfo = [.respectCacheControl]
            _ = try await machines.load(on: 0, options)
            let key = TierKey(forKey: machines.server.url("/a.png").absoluteString, nil)
            let value = try #require(machines.tier.values[key.name].flatMap { TierValue(encoded: $0, for: key) })
            var metadata = try #require(value.metadata)
            metadata.storedAt += seconds
            let shifted = TierValue(
                bytes: value.bytes,
                metadata: metadata,
                madeAt: value.madeAt + seconds,
                expires: value.expires + seconds,
                generation: value.generation
            )
            machines.tier.values[key.name] = shifted.encoded(for: key)
            let found = try await machines.load(on: 1, options)
            #expect(found.image.size == CGSize(width: 40, height: 30) && found.cacheType == .disk)
            // What looks older than it is is asked for; what looks newer counts as made now.
            #expect(machines.server.count("/a.png") == (seconds > 0 ? 1 : 2))
            let url = machines.server.url("/a.png").absoluteString
            let kept = try await machines.managers[1].cache.cacheMetadata(forKey: url)
            #expect(try #require(kept).storedAt <= Date())
        }
    }

    @Test("Any change of a byte of a value makes it invalid") func anyByte() throws {
        let key = TierKey(forKey: "key", nil)
        let metadata = CacheMetadata(eTag: "\"1\"", cacheControl: "max-age=60", storedAt: Date())
        let value = TierValue(bytes: try SampleImage.png(3, 3), metadata: metadata, generation: 7)
        let encoded = value.encoded(for: key)
        #expect(TierValue(encoded: encoded, for: key)?.bytes == value.bytes)
        #expect(TierValue(encoded: encoded, for: key)?.generation == 7)
        for position in encoded.indices {
            var damaged = encoded
            damaged[position] ^= 0x10
            #expect(TierValue(encoded: damaged, for: key) == nil)
            #expect(TierValue(encoded: encoded.prefix(position), for: key) == nil)
        }
    }

    @Test("What is too large for the tier stays out of it, and is counted") func largeValues() async throws {
        try await Machines.run(tier: TestTier(maxValueBytes: 4_200)) { machines in
            machines.server.route("/a.png", .data(try SampleImage.png(200, 200)))
            _ = try await machines.load(on: 0)
            #expect(machines.tier.values.keys.allSatisfy { $0.contains("purge") })
            #expect(machines.statistics(0).dropped == 1)
        }
    }
}
