// HTTP/2 with nginx as the server: one connection for many transfers, also when it is closed among them.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@Suite(
    .tags(.engines),
    .enabled(if: Nginx.isInstalled, "nginx is missing; Scripts/install-dependencies desktop installs it"),
    .timeLimit(.minutes(5))
)
struct HTTP2Tests {
    /// The outcome of a transfer.
    private struct Outcome: Sendable {
        var error: TransportError?
        var version: String?
        var connection: String?
        var isWhole = false
    }

    /// The body of a path: each has its own, of about 100 kB.
    private static func body(_ index: Int) -> Data {
        Data((0..<(100_000 + index)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
    }

    private static func outcome(_ url: URL, _ transport: CurlTransport, body: Data) async -> Outcome {
        let (recorder, error) = await load(url, with: transport)
        return Outcome(
            error: error,
            version: recorder.log.metrics?.exchanges.last?.httpVersion,
            connection: recorder.http?.value(forHTTPHeaderField: "X-Connection"),
            isWhole: recorder.received(body)
        )
    }

    /// Runs a test with nginx before a server, and a transport that trusts its certificate.
    private func withNginx(
        protocols: String = "http2",
        requestsPerConnection: Int = 1_000,
        _ body: (Nginx, TestServer, CurlTransport) async throws -> Void
    ) async throws {
        try await withServer { server in
            try await Nginx.with(
                before: server,
                protocols: protocols,
                requestsPerConnection: requestsPerConnection
            ) { nginx in
                try await withTrustingTransport { try await body(nginx, server, $0) }
            }
        }
    }

    /// Loads a number of paths at the same time.
    private func loadAll(
        _ count: Int,
        from nginx: Nginx,
        _ server: TestServer,
        with transport: CurlTransport
    ) async throws -> [Outcome] {
        let urls = try (0..<count).map { try nginx.url("/\($0)") }
        for index in 0..<count { server.route("/\(index)", .data(Self.body(index))) }
        return await withTaskGroup(of: Outcome.self) { group in
            for (index, url) in urls.enumerated() {
                group.addTask { await Self.outcome(url, transport, body: Self.body(index)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("HTTP/2 is used, and is reported in the metrics") func version() async throws {
        try await withNginx { nginx, server, transport in
            let outcomes = try await loadAll(1, from: nginx, server, with: transport)
            #expect(outcomes.map(\.version) == ["HTTP/2"])
            #expect(outcomes.allSatisfy { $0.error == nil && $0.isWhole })
        }
    }

    @Test("Sixty transfers that begin together share one connection") func oneConnection() async throws {
        try await withNginx { nginx, server, transport in
            let outcomes = try await loadAll(60, from: nginx, server, with: transport)
            #expect(outcomes.compactMap(\.error).isEmpty)
            #expect(outcomes.count { $0.isWhole } == 60)
            #expect(Set(outcomes.map(\.version)) == ["HTTP/2"])
            #expect(Set(outcomes.map(\.connection)).count == 1)
        }
    }

    @Test("More transfers run at once than HTTP/1.1 could have connections") func multiplexed() async throws {
        try await withNginx { nginx, server, transport in
            // The first one shows which protocol the host speaks.
            _ = try await loadAll(1, from: nginx, server, with: transport)
            let gate = Gate()
            server.route("/held", TestResponse.data(Data([7])).with { $0.gate = gate })
            let url = try nginx.url("/held")
            async let outcomes = withTaskGroup(of: Outcome.self) { group in
                for _ in 0..<60 { group.addTask { await Self.outcome(url, transport, body: Data([7])) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // None of them gets a response before all have arrived.
            await server.waitForRequests(60, to: "/held")
            gate.open()
            #expect(await outcomes.count { $0.error == nil && $0.isWhole } == 60)
            #expect(Set(await outcomes.map(\.connection)).count == 1)
        }
    }

    @Test("GOAWAY after every fifth request loses no transfer") func goodbye() async throws {
        try await withNginx(requestsPerConnection: 5) { nginx, server, transport in
            let outcomes = try await loadAll(40, from: nginx, server, with: transport)
            #expect(outcomes.compactMap(\.error) == [])
            #expect(outcomes.count { $0.isWhole } == 40)
            #expect(Set(outcomes.map(\.version)) == ["HTTP/2"])
            #expect(Set(outcomes.map(\.connection)).count >= 8)
        }
    }

    @Test("Cancelling one of the transfers of a connection does not affect the others") func cancelled() async throws {
        try await withNginx { nginx, server, transport in
            _ = try await loadAll(1, from: nginx, server, with: transport)
            let gate = Gate()
            server.route("/held", TestResponse.data(Self.body(3)).with { $0.gate = gate })
            let request = URLRequest(url: try nginx.url("/held"))
            let recorders = (0..<20).map { _ in Recorder() }
            let tasks = recorders.map { transport.start(request, policy: .patient, events: $0) }
            await server.waitForRequests(20, to: "/held")
            for task in tasks.prefix(10) { task.cancel() }
            for recorder in recorders.prefix(10) { #expect(await recorder.end()?.code == .cancelled) }
            gate.open()
            for recorder in recorders.dropFirst(10) {
                #expect(await recorder.end() == nil)
                #expect(recorder.received(Self.body(3)))
            }
            #expect(recorders.flatMap(\.log.violations) == [])
        }
    }

    @Test("TLS connections are kept over HTTP/1.1 too") func keptAlive() async throws {
        try await withNginx(protocols: "") { nginx, server, transport in
            var outcomes: [Outcome] = []
            for _ in 0..<5 { outcomes += try await loadAll(1, from: nginx, server, with: transport) }
            #expect(outcomes.count { $0.error == nil && $0.isWhole } == 5)
            #expect(Set(outcomes.map(\.version)) == ["HTTP/1.1"])
            #expect(Set(outcomes.map(\.connection)).count == 1)
        }
    }
}
