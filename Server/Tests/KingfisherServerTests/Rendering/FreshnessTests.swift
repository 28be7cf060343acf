// Sources that change: when the server notices, and what clients are told meanwhile.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FreshnessTests {
    /// A source that has changed if its width has.
    private func source(_ width: Int, _ fields: [String: String] = [:], etag: String? = nil) throws -> TestResponse {
        try Quadrants.png(width, 10).with { response in
            response.headers.merge(fields) { $1 }
            response.etag = etag
        }
    }

    private func width(_ result: RenderedImage) throws -> Int { try Pixels(result.image.data).size[0] }

    /// As the routes do it.
    private func get(_ request: RenderingRequest, _ rig: RenderingRig) async throws -> RenderedImage {
        if let cached = await rig.renderer.cached(request) { return cached }
        return try await rig.renderer.render(request)
    }

    private static let silent: [[String: String]] = [
        [:], ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], ["Cache-Control": "public"], ["Age": "100000"],
    ]

    @Test(
        "A source whose server says nothing of how long it is fresh is used for the time that is set",
        arguments: silent
    )
    func unstated(fields: [String: String]) async throws {
        for (seconds, expected) in [(600, [20, 20, 20]), (0, [20, 30, 30])] {
            try await RenderingRig.run({ $0.sources.freshness = seconds }) { rig in
                let request = try rig.request("f:png")
                rig.server.route("/a", try source(20, fields))
                var widths = [try width(try await get(request, rig))]
                rig.server.route("/a", try source(30, fields))
                widths.append(try width(try await get(request, rig)))
                await ImageCache.allCachesWillTerminate(within: 60)
                rig.cache.clearMemoryCache()
                widths.append(try width(try await get(request, rig)))
                #expect(widths == expected, "\(seconds) \(fields)")
                #expect(rig.server.count("/a") == (seconds == 0 ? 3 : 1))
            }
        }
    }

    @Test("What the server of a source says counts, whatever time is set") func stated() async throws {
        try await RenderingRig.run({ $0.sources.freshness = 0 }) { rig in
            rig.server.route("/a", try source(20, ["Cache-Control": "max-age=1000"]))
            for _ in 0..<2 { _ = try await get(try rig.request("f:png"), rig) }
            #expect(rig.server.count("/a") == 1)
        }
    }

    @Test("Where there is a validator only the header of an unchanged source comes, and the result stays")
    func conditional() async throws {
        try await RenderingRig.run({ $0.sources.freshness = 0 }) { rig in
            rig.server.route("/a", try source(20, etag: "\"1\""))
            let request = try rig.request("f:png")
            let made = try await get(request, rig)
            let confirmed = try await get(request, rig)
            #expect(confirmed.entityTag == made.entityTag && confirmed.image.cacheType != .none)
            #expect(rig.server.lastRequest("/a")?.header("If-None-Match") == "\"1\"")
            rig.server.route("/a", try source(30, etag: "\"2\""))
            #expect(try width(try await get(request, rig)) == 30)
        }
    }

    @Test("A server of sources that fails takes nothing away") func failing() async throws {
        try await RenderingRig.run({ $0.sources.freshness = 0 }) { rig in
            let request = try rig.request("f:png")
            rig.server.route("/a", try source(20))
            _ = try await get(request, rig)
            rig.server.route("/a", .status(503))
            #expect(try width(try await get(request, rig)) == 20)
            rig.server.route("/a", .status(404))
            await #expect(throws: RenderingError.self) { try await get(request, rig) }
        }
    }

    @Test("Clients are told KF_TTL, whatever the server itself believes") func told() async throws {
        try await RenderingRig.run({ ($0.sources.freshness, $0.delivery.maxAge) = (0, 1234) }) { rig in
            rig.server.route("/a", try source(20))
            try await rig.serving { server, _ in
                let answer = try await server.get("/_/plain/" + rig.server.url("/a").absoluteString)
                #expect(answer.fields["cache-control"] == "max-age=1234, public")
            }
        }
    }

    @Test(
        "A request with no-cache asks at once where that is allowed, also when the answer is hot",
        arguments: [true, false]
    )
    func reload(isAllowed: Bool) async throws {
        try await RenderingRig.run({ $0.sources.allowsReload = isAllowed }) { rig in
            let path = "/_/f:png/plain/" + rig.server.url("/a").absoluteString
            rig.server.route("/a", try source(20, ["Cache-Control": "max-age=1000"], etag: "\"1\""))
            try await rig.serving { server, _ in
                func width(_ fields: [String: String] = [:]) async throws -> Int {
                    try Pixels(Data(try await server.get(path, fields).body)).size[0]
                }
                for _ in 0..<3 { #expect(try await width() == 20) }
                #expect(rig.server.count("/a") == 1)
                let reload = ["Cache-Control": "max-age=0, No-Cache"]
                #expect(try await width(reload) == 20)
                #expect(rig.server.count("/a") == (isAllowed ? 2 : 1))
                rig.server.route("/a", try source(30, ["Cache-Control": "max-age=1000"], etag: "\"2\""))
                #expect(try await width(["Cache-Control": "max-age=0"]) == 20)
                #expect(try await width(reload) == (isAllowed ? 30 : 20))
                for _ in 0..<3 { #expect(try await width() == (isAllowed ? 30 : 20)) }
            }
        }
    }

    @Test("Another cache buster is another version of the source, and all are purged with it") func cacheBuster()
        async throws
    {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try source(20))
            let one = try rig.request("f:png/cb:1")
            #expect(try width(try await get(one, rig)) == 20)
            rig.server.route("/a", try source(30))
            let two = try rig.request("f:png/cb:2")
            #expect(try width(try await get(two, rig)) == 30)
            #expect(try width(try await get(one, rig)) == 20)
            // What is sent does not tell.
            #expect(rig.server.requests.allSatisfy { $0.uri == "/a" } && rig.server.count("/a") == 2)
            rig.server.route("/a", try source(40))
            var plain = ImagePlan()
            plain.source = rig.server.url("/a").absoluteString
            try await rig.renderer.purge(plain, .delete)
            for request in [one, two] { #expect(try width(try await get(request, rig)) == 40) }
        }
    }

    @Test("A download that was begun for one version is not that of another one") func versionsUnderWay() async throws {
        try await RenderingRig.run { rig in
            let gate = Gate()
            rig.server.route("/a", try source(20).with { $0.gate = gate })
            let first = try rig.request("f:png/cb:1")
            async let old = get(first, rig)
            await rig.server.waitForRequests(1, to: "/a")
            rig.server.route("/a", try source(30))
            #expect(try width(try await get(try rig.request("f:png/cb:2"), rig)) == 30)
            gate.open()
            #expect(try width(try await old) == 20)
        }
    }

    @Test("A file says when it was changed, and is not sent to who has it") func files() async throws {
        try await RenderingRig.run { rig in
            let file = rig.directory.appendingPathComponent("files/a.png")
            try #require(Quadrants.image().pngData()).write(to: file)
            let date = Date(timeIntervalSince1970: 784_111_777)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            try await rig.serving { server, _ in
                let path = "/_/w:20/plain/local:///a.png%3Fv=1"
                for _ in 0..<4 {
                    let answer = try await server.get(path)
                    #expect(answer.status == 200 && answer.fields["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
                }
                let known = ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]
                #expect(try await server.get(path, known).status == 304)
            }
        }
    }
}
