// The test server keeps to its script.

import Foundation
import KFTransport
import KingfisherTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let letters = Data("abcdefghijklmnopqrstuvwxyz".utf8)

struct TestServerTests {
    private func serving(_ body: (TestServer) async throws -> Void) async throws {
        let server = try await TestServer.start()
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test func unscriptedPathsAnswer404AndAreCounted() async throws {
        try await serving { server in
            #expect(await Client.load(server.url("/x")).status == 404)
            #expect(await Client.load(server.url("/x?a=b")).status == 404)
            #expect(server.count("/x") == 2)
            #expect(server.count("/y") == 0)
            #expect(server.requests.map(\.uri) == ["/x", "/x?a=b"])
        }
    }

    @Test func headSendsTheHeadersOnly() async throws {
        try await serving { server in
            server.route("/x", .data(letters, type: "text/plain"))
            let answer = await Client.load(server.url("/x"), method: "HEAD")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Length") == "26")
            #expect(answer.header("Content-Type") == "text/plain")
            #expect(answer.body.isEmpty)
            #expect(server.lastRequest("/x")?.method == "HEAD")
        }
    }

    @Test func receivedHeadersAreLogged() async throws {
        try await serving { server in
            _ = await Client.load(server.url("/x"), headers: ["X-One": "1"])
            #expect(server.lastRequest("/x")?.header("x-one") == "1")
            #expect(server.lastRequest("/x")?.header("X-Two") == nil)
        }
    }

    @Test(arguments: [
        ("bytes=0-4", 206, "abcde", "bytes 0-4/26"), ("bytes=20-", 206, "uvwxyz", "bytes 20-25/26"),
        ("bytes=-3", 206, "xyz", "bytes 23-25/26"), ("bytes=24-99", 206, "yz", "bytes 24-25/26"),
        ("bytes=26-", 416, "", "bytes */26"), ("bytes=5-2", 416, "", "bytes */26"),
    ])
    func rangesAreHonoured(range: String, status: Int, body: String, contentRange: String) async throws {
        try await serving { server in
            server.route("/x", .data(letters).with { $0.acceptsRanges = true })
            let answer = await Client.load(server.url("/x"), headers: ["Range": range])
            #expect(answer.status == status)
            #expect(answer.body == Data(body.utf8))
            #expect(answer.header("Content-Range") == contentRange)
        }
    }

    @Test func aRangeOfAnOlderVersionGetsEverything() async throws {
        try await serving { server in
            let response = TestResponse.data(letters).with {
                $0.acceptsRanges = true
                $0.etag = "\"2\""
            }
            server.route("/x", response)
            let old = await Client.load(server.url("/x"), headers: ["Range": "bytes=0-4", "If-Range": "\"1\""])
            #expect(old.status == 200)
            #expect(old.body == letters)
            let current = await Client.load(server.url("/x"), headers: ["Range": "bytes=0-4", "If-Range": "\"2\""])
            #expect(current.status == 206)
        }
    }

    @Test func aMatchingTagGets304AndAnotherOneTheBody() async throws {
        try await serving { server in
            server.route("/x", .data(letters).with { $0.etag = "\"1\"" })
            let same = await Client.load(server.url("/x"), headers: ["If-None-Match": "\"1\""])
            #expect(same.status == 304)
            #expect(same.body.isEmpty)
            let other = await Client.load(server.url("/x"), headers: ["If-None-Match": "\"0\""])
            #expect(other.status == 200)
            #expect(other.header("ETag") == "\"1\"")
        }
    }

    @Test func aSequencePlaysInOrderAndItsLastResponseStays() async throws {
        try await serving { server in
            server.route("/x", sequence: [.status(500), .status(503), .data(letters)])
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(await Client.load(server.url("/x")).status) }
            #expect(statuses == [500, 503, 200, 200])
        }
    }

    @Test func aComputedRouteSeesItsRequest() async throws {
        try await serving { server in
            server.route("/x") { request in .data(Data("\(request.method) \(request.query ?? "")".utf8)) }
            #expect(await Client.load(server.url("/x?q=2")).body == Data("GET q=2".utf8))
        }
    }

    @Test func aHeldBodyGoesOnWhenTheGateOpens() async throws {
        try await serving { server in
            let gate = Gate()
            server.route("/x", .data(letters).with { $0.interruption = .hold(after: 3, until: gate) })
            let client = Client()
            let task = NIOTransport.shared.start(
                .init(url: server.url("/x")),
                policy: TransportPolicy(connectTimeout: 300, idleTimeout: 300),
                events: client
            )
            await client.firstData.wait()
            #expect(client.soFar.body == letters.prefix(3))
            #expect(!client.isOver)
            gate.open()
            let answer = await client.result
            #expect(answer.body == letters)
            _ = task
        }
    }

    @Test func aDelayedResponseArrivesInTheEnd() async throws {
        try await serving { server in
            server.route("/x", .data(letters).with { $0.delay = .milliseconds(20) })
            #expect(await Client.load(server.url("/x")).body == letters)
        }
    }

    @Test func waitingForRequestsEndsWhenTheyHaveArrived() async throws {
        try await serving { server in
            async let waiting: Void = server.waitForRequests(2, to: "/x")
            _ = await Client.load(server.url("/x"))
            _ = await Client.load(server.url("/x"))
            await waiting
            await server.waitForRequests(2, to: "/x")
            #expect(server.count("/x") == 2)
        }
    }

    @Test func stoppingClosesOpenConnections() async throws {
        let server = try await TestServer.start()
        server.route("/x", .data(letters).with { $0.interruption = .stall(after: 1) })
        let client = Client()
        let task = NIOTransport.shared.start(
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
