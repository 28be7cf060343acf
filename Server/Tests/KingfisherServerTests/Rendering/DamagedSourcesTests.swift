// Sources that end in the middle: the part that is there is sent, and kept nowhere.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Synchronization
import Testing

/// A tier that has nothing, and counts what it is given.
private final class CountingTier: SharedTier {
    let name = "counting"
    private let entries = Mutex(0)

    var count: Int { entries.withLock { $0 } }

    func get(_ key: String) async throws -> Data? { nil }

    func put(_ value: Data, forKey key: String, expiry: Duration?) async throws {
        // Other values than entries have short keys.
        if key.count >= 64 { entries.withLock { $0 += 1 } }
    }

    func remove(_ key: String) async throws {}
}

@Suite(.timeLimit(.minutes(5))) struct DamagedSourcesTests {
    private static let formats: [ImageContentType] = [.jpeg, .png, .webp, .gif]

    /// Half of a file; of an animation two frames and a half.
    private func half(_ type: ImageContentType) async throws -> Data {
        if type == .gif {
            let animation = try await Quadrants.animation()
            return animation.prefix(animation.count * 5 / 6)
        }
        // Parts of one colour take hardly any bytes: a border of noise has most of them, so that rows are missing.
        let file = try await noisy(Quadrants.image(400, 400)).kf.encoded(as: ImageEncoding(type)).data
        return file.prefix(file.count / 2)
    }

    /// The image with noise in place of all but its upper left quarter.
    private func noisy(_ image: Image) throws -> Image {
        let bitmap = try #require(image.cgImage)
        let noisy = Bitmap(width: 400, height: 400, hasAlpha: false) { bytes, bytesPerRow in
            bitmap.withUnsafeBytes { bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(bytes.count))) }
            var generator = SystemRandomNumberGenerator()
            for y in 0..<400 {
                for x in (y < 200 ? 200 : 0)..<400 {
                    for offset in 0..<3 {
                        bytes[y * bytesPerRow + x * 4 + offset] = .random(in: 0...255, using: &generator)
                    }
                }
            }
        }
        return Image(cgImage: noisy)
    }

    @Test("The part that is there is sent as it was asked for", arguments: formats)
    func part(type: ImageContentType) async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try await half(type)))
            let width = type == .gif ? 200 : 400
            for (options, size) in [
                ("", width), ("w:40", 40), ("c:50:50:nowe/f:png", 50), ("ar:0/w:40", 40), ("t:10", width),
            ] {
                let result = try await rig.render(options).image
                #expect(result.isDamaged, "\(options)")
                if options != "t:10" { #expect(result.pixelWidth == size, "\(options)") }
                #expect(try Pixels(result.data).color(2, 2) == "red", "\(options)")
            }
        }
    }

    @Test("It is kept neither in memory nor on disk nor in the tier, and made anew each time", arguments: formats)
    func kept(type: ImageContentType) async throws {
        try await RenderingRig.run { rig in
            let tier = CountingTier()
            rig.cache.setSharedTier(tier)
            rig.server.route("/a", .data(try await half(type)))
            let request = try rig.request("w:40")
            for count in 1...3 {
                #expect(await rig.renderer.cached(request) == nil)
                #expect(rig.renderer.memoryLookup(for: request)() == nil)
                _ = try await rig.renderer.render(request)
                #expect(rig.server.count("/a") == count && rig.cache.memoryStorage.totalCacheCost() == 0)
            }
            await ImageCache.allCachesWillTerminate(within: 60)
            #expect(try rig.cache.diskStorage.totalSize() == 0 && tier.count == 0)
            // The next whole one is kept.
            rig.server.route("/a", try Quadrants.png())
            _ = try await rig.renderer.render(request)
            #expect(await rig.renderer.cached(request) != nil)
            await ImageCache.allCachesWillTerminate(within: 60)
            #expect(tier.count == 1)
            rig.cache.setSharedTier(nil)
        }
    }

    @Test("No cache may keep it, a metric counts it, and the log says it") func answer() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try await half(.jpeg)))
            try await rig.serving { server, log in
                for _ in 0..<2 {
                    let path = "/_/w:40/plain/" + rig.server.url("/a").absoluteString
                    let answer = try await server.get(path, ["If-None-Match": "*"])
                    #expect(answer.status == 200 && answer.fields["cache-control"] == "no-store")
                    #expect(answer.fields["etag"] == nil && answer.fields["content-type"] == "image/jpeg")
                }
                let metrics = try await server.get("/metrics").text
                #expect(metrics.contains("\nkf_damaged_results_total 2\n"))
                #expect(log.all.filter { $0.contains("is damaged or incomplete") }.count == 2)
            }
        }
    }

    @Test("It is an error where that is set, and so is what the network has cut", arguments: formats)
    func error(type: ImageContentType) async throws {
        let data = try await half(type)
        try await RenderingRig.run({ $0.sources.damaged = .error }) { rig in
            rig.server.route("/a", .data(data))
            for options in ["w:40", "c:50:50:nowe/f:png", "ar:0/t:10"] {
                let error = try await rig.error(options)
                #expect(error?.status == 422 && error?.kind == "damaged", "\(options)")
            }
        }
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(data).with { $0.headers["Content-Length"] = "\(data.count + 1000)" })
            let cut = try await rig.error()
            #expect(cut?.kind == "damaged")
        }
    }
}
