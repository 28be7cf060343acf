// What operators see: metrics and the log.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct OperationTests {
    @Test("Metrics count answers by status, errors by kind and results by layer, in Prometheus' format")
    func metrics() async throws {
        try await RunningServer.with { server in
            server.renderer.fail("https://e.com/bad", with: RenderingError(status: 502, kind: "source", reason: ""))
            _ = try await server.get("/_/plain/https://e.com/a")
            _ = try await server.get("/_/plain/https://e.com/b")
            _ = try await server.get("/_/plain/https://e.com/bad")
            _ = try await server.get("/_/nonsense:1/plain/https://e.com/a")
            let answer = try await server.get("/metrics")
            #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = answer.text.split(separator: "\n").map(String.init)
            let expected = [
                "kf_requests_total{status=\"200\"} 2", "kf_requests_total{status=\"404\"} 1",
                "kf_requests_total{status=\"502\"} 1", "kf_errors_total{kind=\"source\"} 1",
                "kf_errors_total{kind=\"unknown_option\"} 1", "kf_results_total{from=\"made\"} 2",
                "kf_seconds_count{step=\"request\"} 4", "kf_seconds_count{step=\"making\"} 3",
                "kf_seconds_bucket{step=\"making\",le=\"+Inf\"} 3", "kf_makings 0", "kf_waiting_requests 0",
            ]
            for line in expected { #expect(lines.contains(line), "\(line)") }
            let sample = /[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+/
            for line in lines where !line.hasPrefix("# ") { #expect(line.wholeMatch(of: sample) != nil, "\(line)") }
        }
    }

    @Test("Health says where images are decoded when it is asked") func decoders() async {
        await #expect(processExitsWith: .success) {
            setenv("KF_DECODER", "/nowhere", 1)
            try await RunningServer.with { server in
                for (isolation, words) in [
                    (DecodingIsolation.inProcess, "in this process\n"), (.sandboxed, "in this process, since "),
                    (.required, "none, since "),
                ] {
                    ImageDecodingLimits.default.isolation = isolation
                    let answer = try await server.get("/health")
                    #expect(answer.text.contains("\nDecoders: \(words)"), "\(answer.text)")
                    #expect(answer.status == (isolation == .required ? 503 : 200))
                }
            }
        }
    }

    @Test("Behind a prefix, health, metrics and purges are there with it and without") func prefix() async throws {
        let settings = ["KF_PATH_PREFIX": "/img", "KF_PURGE_TOKEN": "let-me"]
        try await RunningServer.with(settings) { server in
            for prefix in ["", "/img"] {
                for path in ["/health", "/metrics?a"] { #expect(try await server.get(prefix + path).status == 200) }
                let fields = ["Authorization": "Bearer let-me"]
                let purged = try await server.get(prefix + "/purge", fields, method: "POST", body: #"{"all": true}"#)
                #expect(purged.status == 200)
            }
            #expect(try await server.get("/image/health").status == 404)
        }
    }

    @Test("A folder that cannot be written is complained about, and which store is shared is said") func report() throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let usable = StartReport(tier: nil, folder: folder + "/a/b")
        #expect(usable.folderComplaint == nil && usable.tier.hasPrefix("none"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/a/b").isEmpty)
        var fleet = FleetSettings()
        for (tier, leases, words) in [
            ("redis://:secret@127.0.0.1:1", nil, "one server makes"), ("s3://bucket", nil, "KF_LEASES is not set"),
            ("s3://bucket", "redis://127.0.0.1:1", "one server makes"),
        ] {
            (fleet.tier, fleet.leases) = (tier, leases)
            let report = StartReport(tier: try fleet.makeTier(), folder: "/dev/null/a")
            #expect(report.folderComplaint?.contains("/dev/null/a cannot be written (Not a directory)") == true)
            #expect(report.tier.contains(words) && !report.tier.contains("secret"), "\(report.tier)")
        }
    }

    @Test("Buckets of times include those below them")
    func histogram() throws {
        let metrics = ServerMetrics()
        for milliseconds in [0.1, 0.5, 3, 3, 20_000] { metrics.observe(.making, .seconds(milliseconds / 1000)) }
        let text = metrics.text(gauges: [])
        for (bound, count) in [("0.0005", 2), ("0.0025", 2), ("0.005", 4), ("10.0", 4), ("+Inf", 5)] {
            #expect(text.contains("kf_seconds_bucket{step=\"making\",le=\"\(bound)\"} \(count)\n"), "\(bound)")
        }
    }

    @Test("The log has a line of JSON for each request, with the source's host and nothing secret of the URL")
    func log() async throws {
        let settings = ["KF_KEY": "00", "KF_SALT": "00", "KF_TRUSTED_SIGNATURES": "signature"]
        try await RunningServer.with(settings) { server in
            let source = "https://user:password%40example.com:81/folder/a%3Ftoken=query"
            let error = RenderingError(status: 504, kind: "source_timeout", reason: "It took too long.")
            server.renderer.fail("https://example.org/bad", with: error)
            _ = try await server.get("/signature/att:yes/plain/\(source)", ["X-Request-ID": "one"])
            _ = try await server.get("/signature/plain/https://example.org/bad", ["X-Request-ID": "two"])
            _ = try await server.get("/signature/plain/\(source)@token@query")
            let lines = server.log.all
            #expect(lines.count == 3 && lines.allSatisfy { $0.hasSuffix("}\n") })
            for secret in ["signature", "user", "password", "token", "query", "folder"] {
                #expect(!lines.joined().contains(secret), "\(secret)")
            }
            let objects = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
            let (one, two) = (try #require(objects[0]), try #require(objects[1]))
            #expect(one["request_id"] as? String == "one" && one["status"] as? Int == 200)
            #expect(one["source_host"] as? String == "example.com" && one["from"] as? String == "made")
            #expect(one["ms"] is Double && one["level"] as? String == "info" && one["time"] is String)
            #expect((one["warnings"] as? [String])?.count == 1)
            #expect(two["level"] as? String == "warning" && two["kind"] as? String == "source_timeout")
            #expect(two["reason"] as? String == error.reason)
        }
    }

    @Test("Hosts of sources are shown without what surrounds them")
    func hosts() {
        let cases = [
            ("https://a.b/c", "a.b"), ("http://u:p@a.b:80?x", "a.b"), ("local:///a/b", "local"), ("a/b", ""),
            ("https://[::1]:80/a", "[::1]"), ("https://u:p@x@a.b\\c", "a.b"), ("https://", ""),
        ]
        for (source, expected) in cases { #expect(host(of: source) == expected, "\(source)") }
    }
}
