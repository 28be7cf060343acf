// Settings that change what the server answers: the secret, fields, its own paths, metrics, the log.

import Foundation
import HTTPTypes
import KFImageURLs
import Kingfisher
import KingfisherServer
import Logging
import Testing

@Suite(.timeLimit(.minutes(10))) struct ServerSettingsTests {
    private let path = "/_/plain/https://e.com/a"

    @Test("Without the secret there are no images; health and metrics need none") func secret() async throws {
        try await RunningServer.with(["IMGPROXY_SECRET": "let-me"]) { server in
            for fields in [
                [:], ["Authorization": "Bearer let-m"], ["Authorization": "let-me"], ["Authorization": "Bearer"],
            ] {
                for method in ["GET", "HEAD"] {
                    #expect(try await server.get(path, fields, method: method).status == 403)
                }
            }
            #expect(server.renderer.plans.isEmpty)
            let fields = ["Authorization": "Bearer let-me"]
            let answer = try await server.get(path, fields)
            #expect(answer.status == 200)
            for path in ["/health", "/metrics", "/"] { #expect(try await server.get(path).status == 200) }
            #expect(!server.log.all.joined().contains("let-me"))
        }
        #expect(throws: InvalidConfiguration.self) {
            _ = try ImageServer(environment: [:], logger: Logger(label: "test"))
        }
        let (configuration, _) = ServerConfiguration.read(["KF_SECRET": "a"])
        #expect(configuration.isProtected)
    }

    @Test("An answer that nothing is there may be kept for a time that is set, and no other error") func notFound()
        async throws
    {
        @Sendable func error(_ status: Int) -> RenderingError {
            RenderingError(status: status, kind: "source_status", reason: "")
        }
        for (settings, expected) in [([:], "no-store"), (["KF_NOT_FOUND_TTL": "60"], "max-age=60, public")] {
            try await RunningServer.with(settings) { server in
                for status in [404, 410, 502] { server.renderer.fail("https://e.com/\(status)", with: error(status)) }
                for status in [404, 410] {
                    let answer = try await server.get("/_/plain/https://e.com/\(status)")
                    #expect(answer.status == status && answer.fields["cache-control"] == expected)
                }
                #expect(try await server.get("/_/plain/https://e.com/502").fields["cache-control"] == "no-store")
            }
        }
    }

    @Test("Validators have the parts and bounds that are set, and clients that have them are told so") func validators()
        async throws
    {
        let settings = ["IMGPROXY_ETAG_BUSTER": "2"]
        try await RunningServer.with(settings) { server in
            let answer = try await server.get(path)
            #expect(answer.fields["etag"] == "\"2/made-up\"")
            #expect(try await server.get(path, ["If-None-Match": "\"2/made-up\""]).status == 304)
            #expect(try await server.get(path, ["If-None-Match": "\"made-up\""]).status == 200)
        }
    }

    @Test("Answers name their source and the size of the result, where that is set") func description() async throws {
        let settings = ["IMGPROXY_SET_CANONICAL_HEADER": "1", "IMGPROXY_ENABLE_DEBUG_HEADERS": "1"]
        try await RunningServer.with(settings) { server in
            let answer = try await server.get("/_/plain/https://user:pw%40e.com/a%2520b%3Ec%C3%A4")
            #expect(answer.fields["link"] == "<https://e.com/a%20b%3Ec%C3%A4>; rel=\"canonical\"")
            #expect(answer.fields["x-result-width"] == "4" && answer.fields["x-result-height"] == "4")
            #expect(try await server.get("/_/plain/local:///a").fields["link"] == nil)
        }
        try await RunningServer.with { server in
            let answer = try await server.get(path)
            #expect(answer.fields["link"] == nil && answer.fields["x-result-width"] == nil)
        }
    }

    @Test("There is a page at /, and another path that says whether the server works") func ownPaths() async throws {
        try await RunningServer.with(["IMGPROXY_HEALTH_CHECK_PATH": "up/now", "KF_PATH_PREFIX": "/img"]) { server in
            for path in ["/", "/img/"] {
                let answer = try await server.get(path)
                #expect(answer.status == 200 && answer.text.contains("kf-server"))
            }
            for path in ["/up/now", "/img/up/now", "/health"] {
                #expect(try await server.get(path).text.contains("Decoders:"))
            }
        }
    }

    @Test("Metrics have the names that are set, and are nowhere else than at their own address") func metrics()
        async throws
    {
        try await RunningServer.with(["IMGPROXY_PROMETHEUS_NAMESPACE": "shop"]) { server in
            _ = try await server.get(path)
            let lines = try await server.get("/metrics").text.split(separator: "\n")
            #expect(lines.contains("shop_requests_total{status=\"200\"} 1"))
            #expect(lines.contains("# TYPE shop_makings gauge") && !lines.contains { $0.contains("kf_") })
        }
        try await RunningServer.with(["IMGPROXY_PROMETHEUS_BIND": ":9"]) { server in
            let answer = try await server.get("/metrics")
            #expect(answer.status == 404)
        }
    }

    @Test("The log names the option or preset that is unknown or not allowed, and nothing that may be a source")
    func names() async throws {
        let settings = ["KF_PRESETS": "a=w:1"]
        try await RunningServer.with(settings) { server in
            for options in ["nonsense:1", "pr:none", "msr:1", "w:x", "https:secret"] {
                _ = try await server.get("/_/\(options)/plain/https://e.com/a")
            }
            _ = try await server.get("/_/a\(String(repeating: "b", count: 60)):1/plain/https://e.com/a")
            let objects = try server.log.all.map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(objects.map { $0?["name"] as? String } == ["nonsense", "none", "msr", "w", "https", nil])
        }
    }

    @Test("Cookies go to the host that they belong to, or to all, and only where that is set")
    func cookies() throws {
        var sources = SourceSettings()
        func sent(_ source: String, _ fields: HTTPFields = [.cookie: "a=1"]) -> String? {
            let request = HTTPRequest(
                method: .get,
                scheme: "http",
                authority: "own.com:80",
                path: "/",
                headerFields: fields
            )
            return sources.cookies(of: request, for: Array(source.utf8))
        }
        #expect(sent("http://own.com/a") == nil)
        sources.handsCookiesOn = true
        #expect(sent("http://OWN.com:81/a") == "a=1" && sent("http://other.com/a") == nil && sent("local:///a") == nil)
        #expect(sent("http://own.com/a", [:]) == nil)
        sources.cookieBase = "https://base.com/x"
        #expect(sent("http://base.com/a") == "a=1" && sent("http://own.com/a") == nil)
        #expect(sent("http://base.com") == "a=1" && sent("http://sub.base.com/a") == nil)
        sources.cookieBase = "https://base.com/shop/page"
        for path in ["/shop", "/shop/a", "/shop/a/b"] { #expect(sent("https://BASE.com\(path)") == "a=1", "\(path)") }
        for path in ["", "/", "/shopping/a", "/a/shop/b", "/shop/../a", "/SHOP/a"] {
            #expect(sent("https://base.com\(path)") == nil, "\(path)")
        }
        for path in ["/shop/%2e%2E/a", "/shop/.%2e/a", "/shop/..%2Fa", "/shop/a%2f..%2f..%2fb"] {
            #expect(sent("https://base.com\(path)") == nil, "\(path)")
        }
        for path in ["/shop/..a", "/shop/a..%2Fb", "/shop/%E9"] {
            #expect(sent("https://base.com\(path)") == "a=1", "\(path)")
        }
        sources.handsCookiesToAll = true
        #expect(sent("http://other.com/a") == "a=1" && sent("s3://own.com/a") == nil)
    }

    @Test("Answers made with cookies are private") func privateAnswers() async throws {
        let settings = [
            "IMGPROXY_COOKIE_PASSTHROUGH": "1", "IMGPROXY_COOKIE_PASSTHROUGH_ALL": "1", "KF_TTL": "9",
            "KF_ALLOWED_SOURCES": "https://e.com/", "KF_NOT_FOUND_TTL": "9",
        ]
        try await RunningServer.with(settings) { server in
            let answer = try await server.get(path)
            #expect(answer.fields["cache-control"] == "max-age=9, public" && answer.fields["vary"] == "Cookie")
            #expect(try await server.get(path, ["Cookie": "a=1"]).fields["cache-control"] == "max-age=9, private")
            let error = RenderingError(status: 404, kind: "source_status", reason: "")
            server.renderer.fail("https://e.com/b", with: error)
            let missing = try await server.get("/_/plain/https://e.com/b", ["Cookie": "a=1"])
            #expect(missing.status == 404 && missing.fields["cache-control"] == "max-age=9, private")
        }
    }

    @Test("A connection ends after its first answer where none is kept") func connections() async throws {
        try await RunningServer.with(["IMGPROXY_KEEP_ALIVE_TIMEOUT": "0"]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(path)
            #expect(try await connection.answer().status == 200)
            #expect(await connection.isAtEnd())
        }
    }

    @Test("A line of text has time, level, message and what is beside it, and never a second line") func textLog()
        throws
    {
        let log = LogLines()
        var logger = Logger(label: "test") { _ in TextLogHandler(write: log.append) }
        logger[metadataKey: "b"] = "two words"
        logger.info("a\nmessage", metadata: ["a": "1", "c": "x\ny"])
        let line = try #require(log.all.first)
        #expect(log.all.count == 1 && line.split(separator: "\n").count == 1)
        #expect(line.hasSuffix(" info \"a\\nmessage\" a=1 b=\"two words\" c=\"x\\ny\"\n"), "\(line)")
    }
}
