// Sources of s3:// and gs://: what is asked of a store, what is kept, and what is refused.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
@_spi(Server) import KingfisherTiers
import Testing

@Suite(.timeLimit(.minutes(5))) struct StoreSourcesTests {
    /// Runs a test with a renderer whose stores are the rig's server; other sources may not be on this machine.
    private func run(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (RenderingRig, ImageRenderer) async throws -> Void
    ) async throws {
        try await RenderingRig.run({
            $0.sources.allowsLoopbackAddresses = false
            configure(&$0)
        }) { rig in
            var configuration = rig.configuration
            func set(_ store: inout StoreSettings) {
                (store.isUsed, store.endpoint) = (true, rig.server.url("").absoluteString)
                (store.accessKeyID, store.secretAccessKey) = ("ID", "secret")
            }
            set(&configuration.sources.s3)
            set(&configuration.sources.googleCloud)
            configuration.sources.s3.region = "eu-north-1"
            try await body(rig, ImageRenderer(configuration: configuration, cache: rig.cache))
        }
    }

    private func outcome(_ rig: RenderingRig, _ renderer: ImageRenderer, _ source: String) async throws -> String {
        let request = try rig.request("w:10", source: source)
        do throws(RenderingError) {
            _ = try await renderer.render(request)
            return "none"
        } catch {
            return "\(error.status) \(error.kind)"
        }
    }

    /// The signature that a request should have, worked out as the reference of S3 says.
    private func signature(of request: TestRequest, region: String) -> String? {
        let pieces = (request.header("Authorization") ?? "").components(separatedBy: "SignedHeaders=")
        guard pieces.count == 2, let date = request.header("x-amz-date") else { return nil }
        let names = pieces[1].prefix { $0 != "," }
        let fields = names.split(separator: ";").map { "\($0):\(request.header(String($0)) ?? "")\n" }.joined()
        let hash = SHA256.hexadecimal(SHA256.hash(Data()))
        let canonical = "GET\n\(request.path)\n\(request.query ?? "")\n\(fields)\n\(names)\n\(hash)"
        let scope = "\(date.prefix(8))/\(region)/s3/aws4_request"
        let digest = SHA256.hexadecimal(SHA256.hash(Data(canonical.utf8)))
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(digest)"
        let key = scope.split(separator: "/").reduce(Array("AWS4secret".utf8)) {
            SHA256.authenticationCode(of: Array($1.utf8), key: $0)
        }
        return SHA256.hexadecimal(SHA256.authenticationCode(of: Array(text.utf8), key: key))
    }

    @Test("A source of a store is asked for with a signature, once, and kept under its own name")
    func signed() async throws {
        try await run { rig, renderer in
            let image = try Quadrants.png()
            for (source, path, query, region) in [
                ("s3://photos/a%20%2528b%2529/%C3%A9.png", "/photos/a%20%2528b%2529/%C3%A9.png", nil, "eu-north-1"),
                ("s3://photos/a.png%3Fv%201", "/photos/a.png", "versionId=v%201", "eu-north-1"),
                ("gs://photos/c.png", "/photos/c.png", nil, "auto"),
            ] as [(String, String, String?, String)] {
                rig.server.route(path, image)
                let request = try rig.request("w:50", source: source)
                _ = try await renderer.render(request)
                _ = try await renderer.render(rig.request("w:60", source: source))
                let sent = try #require(rig.server.lastRequest(path))
                #expect(sent.query == query)
                let sentSignature = sent.header("Authorization")?.components(separatedBy: "Signature=").last
                #expect(sentSignature == signature(of: sent, region: region) && sentSignature != nil, "\(source)")
                // Neither is what came with credentials too personal to be kept.
                #expect(await renderer.cached(request) != nil)
                try await renderer.purge(request.plan, .delete)
                #expect(await renderer.cached(request) == nil)
            }
            // A name with an escape in it is not the same as one that is escaped.
            rig.server.route("/photos/%2541", try Quadrants.png(20, 20))
            rig.server.route("/photos/A", try Quadrants.png(30, 30))
            for (source, width) in [("s3://photos/%2541", 20), ("s3://photos/A", 30)] {
                #expect(try await renderer.render(rig.request("", source: source)).image.pixelWidth == width)
            }
        }
    }

    @Test("A query begins where a setting says, in names of objects and of files", arguments: ["#", "?v=", "!"])
    func querySeparator(_ separator: String) async throws {
        try await run({ $0.sources.querySeparator = separator }) { rig, renderer in
            let escaped = try #require(separator.addingPercentEncoding(withAllowedCharacters: []))
            let image = try Quadrants.png()
            rig.server.route("/b/a%3F1.png", image)
            _ = try await renderer.render(rig.request("w:5", source: "s3://b/a%3F1.png\(escaped)2%3F"))
            #expect(rig.server.lastRequest("/b/a%3F1.png")?.query == "versionId=2%3F")
            _ = try await renderer.render(rig.request("w:6", source: "s3://b/a%3F1.png"))
            #expect(rig.server.lastRequest("/b/a%3F1.png")?.query == nil)
            let root = try #require(rig.configuration.sources.localRoot)
            try image.body.write(to: URL(fileURLWithPath: root + "/c?1.png"))
            for source in ["local:///c%3F1.png\(escaped)2", "local:///c%3F1.png"] {
                #expect(try await renderer.render(rig.request("w:7", source: source)).image.pixelWidth == 7)
            }
            #expect(try await outcome(rig, renderer, "local:///c?1") == "404 source_not_found")
        }
    }

    @Test("Without a separator, all is the name of an object or a file") func noQuery() async throws {
        try await run({ $0.sources.querySeparator = "" }) { rig, renderer in
            let image = try Quadrants.png()
            rig.server.route("/b/a%3F1.png", image)
            _ = try await renderer.render(rig.request("w:5", source: "s3://b/a%3F1.png"))
            #expect(rig.server.lastRequest("/b/a%3F1.png").map { $0.query == nil } == true)
            let root = try #require(rig.configuration.sources.localRoot)
            try image.body.write(to: URL(fileURLWithPath: root + "/c"))
            #expect(try await renderer.render(rig.request("w:7", source: "local:///c")).image.pixelWidth == 7)
            #expect(try await outcome(rig, renderer, "local:///c%3F1") == "404 source_not_found")
        }
    }

    @Test("What is no longer fresh is asked about, and confirmed") func conditional() async throws {
        try await run { rig, renderer in
            let fields = ["ETag": "\"one\"", "Cache-Control": "max-age=0"]
            let first = try Quadrants.png().with { $0.headers.merge(fields) { $1 } }
            rig.server.route("/b/k", sequence: [first, TestResponse(status: 304, headers: fields)])
            let request = try rig.request("w:50", source: "s3://b/k")
            let tag = try await renderer.render(request).entityTag
            let again = try await renderer.render(request)
            #expect(again.entityTag == tag && again.image.cacheType != .none)
            #expect(rig.server.count("/b/k") == 2)
            #expect(rig.server.lastRequest("/b/k")?.header("If-None-Match") == "\"one\"")
        }
    }

    @Test("Names that could lead elsewhere, other buckets and other schemes are refused before anything is asked")
    func refused() async throws {
        try await run { rig, renderer in
            for source in [
                "s3://b", "s3://b/", "s3:///k", "s3://b/../other/k", "s3://b/a/%2E%2E/k", "s3://b/./k", "s3://.b/k",
                "s3://b%40evil.example/k", "s3://b%3A80/k", "s3://b%23/k", "s3://b%255C/k",
                "abs://b/k", "swift://b/k", "s3:b/k",
            ] {
                #expect(try await outcome(rig, renderer, source) == "404 source_refused", "\(source)")
            }
            #expect(rig.server.requests.isEmpty)
            rig.server.route("/a", try Quadrants.png())
            #expect(try await outcome(rig, renderer, rig.server.url("/a").absoluteString) == "404 source_refused")
            // Nor is anything of a store that is not set up.
            #expect(try await rig.error(source: "s3://b/k")?.reason.contains("KF_USE_S3") == true)
            #expect(try await rig.error(source: "gs://b/k")?.reason.contains("KF_USE_GCS") == true)
            #expect(rig.server.requests.isEmpty)
        }
        try await run({ ($0.sources.s3.allowedBuckets, $0.sources.s3.deniedBuckets) = (["b", "c"], ["c"]) }) {
            rig,
            renderer in
            for bucket in ["a", "b", "c"] { rig.server.route("/\(bucket)/k", try Quadrants.png()) }
            for (bucket, expected) in [("a", "404 source_refused"), ("b", "none"), ("c", "404 source_refused")] {
                #expect(try await outcome(rig, renderer, "s3://\(bucket)/k") == expected)
            }
            #expect(rig.server.requests.map(\.path) == ["/b/k"])
        }
        // Hosts, in which buckets may stand, are the same in capitals.
        try await run({ $0.sources.s3.deniedBuckets = ["c"] }) { rig, renderer in
            let refused = try await outcome(rig, renderer, "s3://C/k")
            #expect(refused == "404 source_refused")
        }
    }

    @Test("What a store refuses has its status and its reason; redirects are not followed") func failures() async throws
    {
        try await run({ $0.sources.maxBytes = 10_000 }) { rig, renderer in
            func failure(_ status: Int, _ code: String) -> TestResponse {
                let text = "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code></Error>"
                return TestResponse(status: status, body: Data(text.utf8))
            }
            rig.server.route("/b/missing", failure(404, "NoSuchKey"))
            rig.server.route("/b/denied", failure(403, "AccessDenied"))
            rig.server.route("/b/broken", failure(500, "InternalError"))
            rig.server.route("/b/away", .redirect(to: "/elsewhere"))
            rig.server.route("/b/large", .data(Data(count: 10_001)))
            rig.server.route("/elsewhere", try Quadrants.png())
            for (key, expected) in [
                ("missing", "404 source_status"), ("denied", "403 source_status"), ("broken", "502 source_status"),
                ("away", "404 source_status"), ("large", "422 too_large"),
            ] {
                #expect(try await outcome(rig, renderer, "s3://b/\(key)") == expected)
            }
            #expect(rig.server.count("/elsewhere") == 0)
            let denied = try rig.request("w:10", source: "s3://b/denied")
            do throws(RenderingError) { _ = try await renderer.render(denied) } catch {
                #expect(error.reason.contains("AccessDenied") && error.reason.contains("s3:GetObject on"))
                #expect(!error.reason.contains("secret") && !error.reason.contains("denied"))
            }
        }
        try await run({ $0.timeout = 1 }) { rig, renderer in
            rig.server.route("/b/k", try Quadrants.png().with { $0.interruption = .stall(after: 0) })
            #expect(try await outcome(rig, renderer, "s3://b/k") == "504 source_timeout")
        }
    }

    @Test("An endpoint that is no address keeps the server from starting", arguments: ["minio", "https://", "ftp://a"])
    func endpoint(text: String) throws {
        var configuration = ServerConfiguration()
        (configuration.sources.s3.isUsed, configuration.sources.s3.endpoint) = (true, text)
        #expect {
            try configuration.checkStores()
        } throws: { error in
            "\(error)".contains("KF_S3_ENDPOINT")
        }
    }
}
