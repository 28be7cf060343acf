// What redirects say about caching holds for the images behind them.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFTransport
@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct RedirectCachingTests {
    private static let fresh = ["Cache-Control": "max-age=1000"]
    private static let stale = ["Cache-Control": "max-age=60", "Age": "100"]
    private let respecting: KingfisherOptionsInfo = [.respectCacheControl, .waitForCache]

    private func redirect(_ fields: [String: String] = [:], status: Int = 302, to path: String = "/a.png")
        -> TestResponse
    {
        .redirect(to: path, status: status).with { $0.headers.merge(fields) { $1 } }
    }

    private func image(_ fields: [String: String] = fresh, etag: String? = "\"1\"") throws -> TestResponse {
        TestResponse(headers: fields, body: try SampleImage.png()).with { $0.etag = etag }
    }

    /// A redirect, and how often its server is asked by two loads.
    struct Rule: Sendable, CustomTestStringConvertible {
        var (status, fields, requests): (Int, [String: String], Int)
        init(_ status: Int, _ fields: [String: String], _ requests: Int) {
            (self.status, self.fields, self.requests) = (status, fields, requests)
        }
        var testDescription: String { "\(status) \(fields)" }
    }

    private static let rules = [
        Rule(302, [:], 2), Rule(303, [:], 2), Rule(307, [:], 2), Rule(301, [:], 1), Rule(308, [:], 1),
        Rule(302, fresh, 1), Rule(307, ["Expires": "Fri, 06 Nov 2999 08:49:37 GMT"], 1),
        Rule(302, ["Cache-Control": "public"], 2), Rule(302, ["Cache-Control": "max-age=0"], 2), Rule(302, stale, 2),
        Rule(301, stale, 2), Rule(301, ["Cache-Control": "no-cache"], 2), Rule(308, ["Expires": "0"], 2),
        Rule(302, ["Cache-Control": "no-store"], 2), Rule(301, ["Cache-Control": "no-store"], 2),
    ]

    @Test(
        "An image is fresh as long as every redirect that led to it, on disk and in memory",
        arguments: rules,
        [true, false]
    )
    func leastFresh(rule: Rule, isInMemory: Bool) async throws {
        for (fields, hops) in [(Self.fresh, 1), ([:], 1), (Self.fresh, 2)] {
            try await Rig.run { rig in
                // The redirect in question is the last one of the chain, or the only one.
                if hops == 2 { rig.server.route("/0", redirect(status: 301, to: "/1")) }
                rig.server.route(hops == 2 ? "/1" : "/0", redirect(rule.fields, status: rule.status))
                rig.server.route("/a.png", try image(fields, etag: nil))
                for _ in 0..<2 {
                    if !isInMemory { rig.cache.clearMemoryCache() }
                    _ = try await rig.manager.retrieveImage(with: rig.server.url("/0"), options: respecting)
                }
                #expect(rig.server.count("/0") == rule.requests)
                let isStored = rig.cache.isCached(forKey: rig.server.url("/0").cacheKey)
                #expect(isStored == (rule.fields["Cache-Control"] != "no-store"))
            }
        }
    }

    @Test("A load that does not respect caching fields stores whatever redirects say") func disrespecting()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/0", redirect(["Cache-Control": "no-store"]))
            rig.server.route("/a.png", try image())
            for _ in 0..<2 {
                _ = try await rig.manager.retrieveImage(with: rig.server.url("/0"), options: [.waitForCache])
            }
            #expect(rig.server.count("/0") == 1)
        }
    }

    @Test("A 304 behind a redirect confirms the image for as long as the redirect of that time says")
    func confirmation() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/0", sequence: [redirect(Self.fresh), redirect(), redirect(Self.fresh)])
            // The second load is due to the image, the third one to the redirect that the second one was given.
            rig.server.route("/a.png", sequence: [try image(Self.stale), try image()])
            for load in 0..<5 {
                rig.cache.clearMemoryCache()
                let result = try await rig.manager.retrieveImage(with: url, options: respecting)
                switch (load, result.revalidation) {
                case (0, nil), (1, .notModified), (2, .notModified), (3, nil), (4, nil): break
                case (_, let revalidation): Issue.record("load \(load): \(String(describing: revalidation))")
                }
            }
            #expect(rig.server.count("/0") == 3 && rig.server.count("/a.png") == 3)
            #expect(rig.server.lastRequest("/a.png")?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test("A 304 behind a redirect that forbids storing removes the image") func forbiddingConfirmation() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/0", sequence: [redirect(), redirect(["Cache-Control": "no-store"])])
            rig.server.route("/a.png", try image())
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(rig.cache.isCached(forKey: url.cacheKey))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            try #require(rig.server.count("/0") == 2)
            while rig.cache.isCached(forKey: url.cacheKey) { await Task.yield() }
        }
    }

    @Test("An image depends on the fields on which a redirect to it depends") func vary() async throws {
        let fields = ["Vary": "X-Width", "Cache-Control": "max-age=1000"]
        try await Rig.run { rig in
            rig.server.route("/0") { request in
                let path = request.header("X-Width").map { "/\($0)" } ?? "/64"
                return redirect(fields, to: path)
            }
            for width in [16, 64] {
                rig.server.route("/\(width)", TestResponse(headers: Self.fresh, body: try SampleImage.png(width, 64)))
            }
            func width(_ field: String?) async throws -> Int {
                let modifier = AnyModifier { request in
                    var request = request
                    request.setValue(field, forHTTPHeaderField: "X-Width")
                    return request
                }
                rig.cache.clearMemoryCache()
                let options = respecting + (field == nil ? [] : [.requestModifier(modifier)])
                return try await rig.manager.retrieveImage(with: rig.server.url("/0"), options: options).image
                    .pixelWidth
            }
            let widths = [try await width(nil), try await width("16"), try await width("16"), try await width(nil)]
            #expect(widths == [64, 16, 16, 64])
            #expect(rig.server.count("/0") == 3)
        }
    }

    @Test(
        "A shared cache stores what every redirect gives to everyone",
        arguments: [
            ("private, max-age=9", false, false), ("max-age=9", true, false), ("public, max-age=9", true, true),
            (nil, true, false),
        ],
        [301, 302]
    )
    func shared(_ rule: (control: String?, stays: Bool, staysWithCredentials: Bool), status: Int) async throws {
        for isPersonal in [false, true] {
            try await Rig.run { rig in
                rig.cache.isShared = true
                rig.server.route("/0", redirect(rule.control.map { ["Cache-Control": $0] } ?? [:], status: status))
                rig.server.route("/a.png", try image(["Cache-Control": "public, max-age=1000"]))
                let modifier = AnyModifier { $0.authorized(user: "a", password: "b") }
                let options = respecting + (isPersonal ? [.requestModifier(modifier)] : [])
                _ = try await rig.manager.retrieveImage(with: rig.server.url("/0"), options: options)
                let isStored = rig.cache.isCached(forKey: rig.server.url("/0").cacheKey)
                #expect(isStored == (isPersonal ? rule.staysWithCredentials : rule.stays))
            }
        }
    }

    @Test("While the server is asked, an image may be used if what is stale in its chain allows it")
    func whileRevalidating() async throws {
        let allowing = "max-age=60, stale-while-revalidate=1000"
        let cases = [(allowing, allowing, true), (allowing, "max-age=60", false), ("max-age=60", allowing, false)]
        for (redirecting, control, mayBeUsed) in cases + [(allowing, "max-age=1000", true)] {
            try await Rig.run { rig in
                let url = rig.server.route("/0", redirect(["Cache-Control": redirecting, "Age": "100"]))
                rig.server.route("/a.png", try image(["Cache-Control": control, "Age": "100"]))
                _ = try await rig.manager.retrieveImage(with: url, options: respecting)
                let result = try await rig.manager.retrieveImage(with: url, options: respecting)
                switch result.revalidation {
                case .inBackground: #expect(mayBeUsed)
                case .notModified: #expect(!mayBeUsed)
                default: Issue.record("\(String(describing: result.revalidation))")
                }
                await rig.server.waitForRequests(2, to: "/a.png")
            }
        }
    }

    // MARK: The values

    private let noon = CacheMetadataTests.noon

    private func metadata(_ redirects: [(Int, [String: String])]) throws -> CacheMetadata {
        let url = try #require(URL(string: "http://a.example/a.png"))
        var metadata = CacheMetadata(cacheControl: "max-age=1000", url: url, storedAt: noon)
        for (status, fields) in redirects {
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
            let redirect = CacheMetadata(redirect: try #require(response), to: URLRequest(url: url), storedAt: noon)
            metadata.redirects += redirect.map { [$0] } ?? []
        }
        return metadata
    }

    @Test("Redirects are kept with the metadata; too many count as one that is never fresh") func encoding() throws {
        let one = (302, ["Cache-Control": "max-age=60", "Vary": "Accept", "Expires": "0"])
        for count in 0...20 {
            let given = try metadata(Array(repeating: one, count: count))
            let bytes = given.encoded()
            #expect(bytes.count <= CacheMetadata.longestEncoding)
            let kept = try #require(CacheMetadata(encoded: bytes))
            #expect(count > 4 || kept == given)
            #expect(kept == given || (!kept.isFresh(at: noon) && kept.freshUntil(inShared: false) == .distantPast))
            // What is cut off within the redirects is damaged, not fresh.
            let start = try metadata([]).encoded().count
            for end in start..<bytes.count where count == 1 {
                let cut = CacheMetadata(encoded: Array(bytes[..<end]))
                #expect(cut == nil || cut?.redirects == given.redirects)
            }
        }
    }

    @Test("A permanent redirect that says nothing takes no room") func silentRedirects() throws {
        #expect(try metadata([(301, [:]), (308, ["X": "y"])]) == metadata([]))
    }

    @Test("Age counts for each response of a chain on its own") func ages() throws {
        let chain = try metadata([(302, ["Cache-Control": "max-age=100", "Age": "40"]), (301, [:])])
        #expect(chain.isFresh(at: noon + 59) && !chain.isFresh(at: noon + 60))
        #expect(chain.freshUntil(inShared: false) == noon + 60)
    }

    @Test("Without a connection a stale chain may be used, unless one of its responses must be validated")
    func withoutConnection() throws {
        let gone = KingfisherError.responseError(reason: .URLSessionError(error: URLError(.cannotConnectToHost)))
        for (control, mayBeUsed) in [("max-age=1", true), ("must-revalidate", false), ("no-store", false)] {
            let chain = try metadata([(302, ["Cache-Control": control])])
            #expect(chain.mayBeUsed(after: gone, at: noon + 10, inShared: false) == mayBeUsed)
        }
        #expect(try metadata([(302, [:])]).mayBeUsed(after: gone, at: noon + 10, inShared: false))
    }

    @Test("What is said of a chain is said of each of its responses") func sayings() throws {
        #expect(try metadata([(302, ["Cache-Control": "no-store"])]).forbidsStoring)
        #expect(try !metadata([(302, ["Cache-Control": "immutable"])]).isImmutable)
    }
}
