// The test server and its scripted responses.

import Foundation
import FoundationNetworking
import KFTransport
import KingfisherTestSupport
import Testing

struct TestServerTests {
    @Test("Paths without a route respond with 404 and are counted") func unscriptedPaths() async throws {
        try await withServer { server in
            #expect(await Client.load(server.url("/x")).status == 404)
            #expect(await Client.load(server.url("/x?a=b")).status == 404)
            #expect(server.count("/x") == 2)
            #expect(server.count("/y") == 0)
            #expect(server.requests.map(\.uri) == ["/x", "/x?a=b"])
        }
    }

    @Test("The response to HEAD has the header fields only") func headRequest() async throws {
        try await withServer { server in
            server.route("/x", letters)
            let outcome = await Client.load(server.url("/x"), method: "HEAD")
            #expect(outcome.status == 200)
            #expect(outcome.header("Content-Length") == "26")
            #expect(outcome.header("Content-Type") == "text/plain")
            #expect(outcome.body.isEmpty)
            #expect(server.lastRequest("/x")?.method == "HEAD")
        }
    }

    @Test("Header fields of requests are recorded") func logsHeaders() async throws {
        try await withServer { server in
            _ = await Client.load(server.url("/x"), headers: ["X-One": "1"])
            #expect(server.lastRequest("/x")?.header("x-one") == "1")
            #expect(server.lastRequest("/x")?.header("X-Two") == nil)
        }
    }

    @Test(
        "Ranges are honoured",
        arguments: [
            ("bytes=0-4", 206, "abcde", "bytes 0-4/26"), ("bytes=20-", 206, "uvwxyz", "bytes 20-25/26"),
            ("bytes=-3", 206, "xyz", "bytes 23-25/26"), ("bytes=24-99", 206, "yz", "bytes 24-25/26"),
            ("bytes=26-", 416, "", "bytes */26"), ("bytes=5-2", 416, "", "bytes */26"),
        ]
    )
    func ranges(range: String, status: Int, body: String, contentRange: String) async throws {
        try await withServer { server in
            server.route("/x", letters.with { $0.acceptsRanges = true })
            let outcome = await Client.load(server.url("/x"), headers: ["Range": range])
            #expect(outcome.status == status)
            #expect(outcome.body == Data(body.utf8))
            #expect(outcome.header("Content-Range") == contentRange)
        }
    }

    @Test("A range request for an older version receives the whole body") func rangeOfOlderVersion() async throws {
        try await withServer { server in
            let response = letters.with {
                $0.acceptsRanges = true
                $0.etag = "\"2\""
            }
            server.route("/x", response)
            let old = await Client.load(server.url("/x"), headers: ["Range": "bytes=0-4", "If-Range": "\"1\""])
            #expect(old.status == 200)
            #expect(old.body == letters.body)
            let current = await Client.load(server.url("/x"), headers: ["Range": "bytes=0-4", "If-Range": "\"2\""])
            #expect(current.status == 206)
        }
    }

    @Test("A matching entity tag receives a 304, and another one the body") func entityTags() async throws {
        try await withServer { server in
            server.route("/x", letters.with { $0.etag = "\"1\"" })
            let same = await Client.load(server.url("/x"), headers: ["If-None-Match": "\"1\""])
            #expect(same.status == 304)
            #expect(same.body.isEmpty)
            let other = await Client.load(server.url("/x"), headers: ["If-None-Match": "\"0\""])
            #expect(other.status == 200)
            #expect(other.header("ETag") == "\"1\"")
        }
    }

    @Test("A sequence of responses is played in order, and the last one stays") func responseSequence() async throws {
        try await withServer { server in
            server.route("/x", sequence: [.status(500), .status(503), letters])
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(await Client.load(server.url("/x")).status) }
            #expect(statuses == [500, 503, 200, 200])
        }
    }

    @Test("A computed route receives its request") func computedRoute() async throws {
        try await withServer { server in
            server.route("/x") { request in .data(Data("\(request.method) \(request.query ?? "")".utf8)) }
            #expect(await Client.load(server.url("/x?q=2")).body == Data("GET q=2".utf8))
        }
    }

    @Test("A held body goes on when the gate opens") func heldBody() async throws {
        try await withServer { server in
            let gate = Gate()
            server.route("/x", letters.with { $0.interruption = .hold(after: 3, until: gate) })
            let client = Client()
            let task = CurlTransport.shared.start(
                .init(url: server.url("/x")),
                policy: TransportPolicy(connectTimeout: 300, idleTimeout: 300),
                events: client
            )
            await client.firstData.wait()
            #expect(client.soFar.body == letters.body.prefix(3))
            #expect(!client.isOver)
            gate.open()
            let outcome = await client.result
            #expect(outcome.body == letters.body)
            _ = task
        }
    }

    @Test("A delayed response arrives after its delay") func delayedResponse() async throws {
        try await withServer { server in
            server.route("/x", letters.with { $0.delay = .milliseconds(20) })
            #expect(await Client.load(server.url("/x")).body == letters.body)
        }
    }

    @Test(
        "A client that trusts the test authority accepts certificates issued for this host and time",
        arguments: TestCertificate.allCases
    )
    func certificates(certificate: TestCertificate) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
        try Data(TestCertificate.authorityPEM.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = file.path
        let transport = CurlTransport(configuration: configuration)
        let server = try await TestServer.start(certificate: certificate)
        server.route("/x", letters)
        let address = try #require(URL(string: "https://127.0.0.1:\(server.port)/x"))
        for url in [server.url("/x"), address] {
            let outcome = await Client.load(url, with: transport)
            #expect(outcome.body == (certificate == .issued ? letters.body : Data()))
            #expect((outcome.error == nil) == (certificate == .issued))
        }
        await server.stop()
    }

    @Test("Waiting for requests ends when they have arrived") func waitForRequests() async throws {
        try await withServer { server in
            async let waiting: Void = server.waitForRequests(2, to: "/x")
            _ = await Client.load(server.url("/x"))
            _ = await Client.load(server.url("/x"))
            await waiting
            await server.waitForRequests(2, to: "/x")
            #expect(server.count("/x") == 2)
        }
    }

    @Test("Stopping closes open connections") func stopClosesConnections() async throws {
        let server = try await TestServer.start()
        server.route("/x", letters.with { $0.interruption = .stall(after: 1) })
        let client = Client()
        let task = CurlTransport.shared.start(
            .init(url: server.url("/x")),
            policy: TransportPolicy(connectTimeout: 300, idleTimeout: 300),
            events: client
        )
        await client.firstData.wait()
        await server.stop()
        await server.stop()
        #expect(await client.result.error?.code == .networkConnectionLost)
        _ = task
    }
}
