// Requests that are sent by a handle of libcurl that has sent another one before: nothing of that one stays.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

/// A request that has something a plain one has not.
struct UnusualRequest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var policy = TransportPolicy.patient
    var password: String?
    var response = TestResponse.data(hundredKilobytes)
    var change: @Sendable (inout URLRequest) -> Void = { _ in }

    static func field(_ name: String, _ value: String) -> UnusualRequest {
        UnusualRequest(testDescription: name, change: { $0.setValue(value, forHTTPHeaderField: name) })
    }

    static func method(_ method: String, body: String? = nil) -> UnusualRequest {
        UnusualRequest(testDescription: body.map { "\(method) of \($0)" } ?? method) { request in
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
        }
    }

    static func response(_ name: String, _ value: String) -> UnusualRequest {
        let response = TestResponse(headers: [name: value], body: hundredKilobytes)
        return UnusualRequest(testDescription: "\(name) in the response", response: response)
    }

    private static var keepingCookies: UnusualRequest {
        var request = response("Set-Cookie", "a=b; Path=/")
        request.policy.usesCookies = true
        return request
    }

    private static var digest: UnusualRequest {
        var request = UnusualRequest(testDescription: "Digest", password: "secret")
        request.response = TestResponse.status(401).with {
            $0.headers["WWW-Authenticate"] = "Digest realm=\"images\", nonce=\"0123abcd\""
        }
        return request
    }

    static let all = [
        method("POST", body: "a body"), method("PUT", body: "a body"), method("HEAD"), method("DELETE"),
        field("Range", "bytes=5-"), field("If-None-Match", "\"v1\""), field("Cookie", "a=b"), field("Empty", ""),
        field("Accept-Encoding", "identity"), field("User-Agent", "Gallery"), field("Authorization", "Basic YTpi"),
        UnusualRequest(testDescription: "password in the URL", password: "secret"), digest, keepingCookies,
        UnusualRequest(testDescription: "no compression", policy: .patient(asksForCompression: false)),
        UnusualRequest(testDescription: "time limits", policy: TransportPolicy(connectTimeout: 100, totalTimeout: 100)),
        response("Content-Encoding", "raw"), response("Content-Encoding", "gzip"),
    ]
}

/// Cancels another transfer at the end of its own, on the transport's thread.
private final class Canceller: TransportEvents {
    private let other = Locked<(any TransportTask)?>(nil)

    func cancelsAtItsEnd(_ task: any TransportTask) { other.withLock { $0 = task } }

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        .now(proposed)
    }
    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> { .now(.allow) }
    func didReceive(_ data: Data) -> TransportDecision<Void> { .now(()) }
    func didCollect(_ metrics: TransportMetrics) {}
    func didComplete(_ error: TransportError?) { other.withLock { $0 }?.cancel() }
}

@Suite(.timeLimit(.minutes(5))) struct HandleReuseTests {
    /// A transport that sends one request after the other, with one handle.
    private func oneAtATime() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.maxConcurrentTransfers = 1
        return CurlTransport(configuration: configuration)
    }

    /// The lines of a request's head, but for the target.
    private func head(_ request: TestRequest?) -> [String] {
        guard let request else { return [] }
        return [request.method] + request.headers.map { "\($0.name): \($0.value)" }.sorted()
    }

    @Test(
        "A plain request is sent as it is by a new transport, whatever was sent before",
        arguments: UnusualRequest.all
    )
    func plainRequest(after unusual: UnusualRequest) async throws {
        try await withServer { server in
            server.route("/plain", TestResponse.data(hundredKilobytes).with { $0.compresses = true })
            server.route("/unusual", unusual.response)
            _ = await load(server.url("/plain"), with: CurlTransport())
            let expected = head(server.lastRequest("/plain"))
            let transport = oneAtATime()
            let user = unusual.password.map { "user:\($0)@" } ?? ""
            let url = try #require(URL(string: "http://\(user)127.0.0.1:\(server.port)/unusual"))
            // The first one leaves its options behind for the unusual one, which leaves its own for the last one.
            for _ in 0..<2 {
                let (recorder, error) = await load(server.url("/plain"), with: transport)
                #expect(error == nil)
                #expect(recorder.received(hundredKilobytes))
                #expect(head(server.lastRequest("/plain")) == expected)
                #expect(server.lastRequest("/plain")?.body == Data())
                _ = await load(url, with: transport, policy: unusual.policy, change: unusual.change)
            }
        }
    }

    @Test("An unusual request is sent as it is by a new transport after a plain one", arguments: UnusualRequest.all)
    func unusualRequest(_ unusual: UnusualRequest) async throws {
        try await withServer { server in
            server.route("/plain", .data(hundredKilobytes))
            server.route("/unusual", unusual.response)
            let user = unusual.password.map { "user:\($0)@" } ?? ""
            let url = try #require(URL(string: "http://\(user)127.0.0.1:\(server.port)/unusual"))
            _ = await load(url, with: CurlTransport(), policy: unusual.policy, change: unusual.change)
            let (expected, body) = (head(server.lastRequest("/unusual")), server.lastRequest("/unusual")?.body)
            let transport = oneAtATime()
            _ = await load(server.url("/plain"), with: transport)
            _ = await load(url, with: transport, policy: unusual.policy, change: unusual.change)
            let isDigest = head(server.lastRequest("/unusual")).contains { $0.hasPrefix("Authorization: Digest") }
            #expect(isDigest || head(server.lastRequest("/unusual")) == expected)
            #expect(server.lastRequest("/unusual")?.body == body)
        }
    }

    @Test("Trust in a host ends with the request it was given for") func trust() async throws {
        try await withServer(.selfSigned) { server in
            server.route("/a", .data(hundredKilobytes))
            let transport = oneAtATime()
            let trusting = TransportPolicy.patient(trustedHosts: ["localhost", "127.0.0.1"])
            #expect(await load(server.url("/a"), with: transport, policy: trusting).error == nil)
            #expect(await load(server.url("/a"), with: transport).error?.code == .serverCertificateUntrusted)
            #expect(server.count("/a") == 1)
        }
    }

    @Test("A setting of the transport that changes between two requests holds for the second") func changedSetting()
        async throws
    {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let transport = oneAtATime()
            #expect(await load(server.url("/a"), with: transport).error == nil)
            let port = try RefusingPort()
            transport.configuration.proxy = "http://127.0.0.1:\(port.number)"
            #expect(await load(server.url("/a"), with: transport).error?.code == .cannotConnectToHost)
            transport.configuration.proxy = ""
            transport.configuration.userAgent = "Gallery/2"
            #expect(await load(server.url("/a"), with: transport).error == nil)
            #expect(server.lastRequest("/a")?.header("User-Agent") == "Gallery/2")
        }
    }

    @Test("A request that is never sent has none of the measurements of the one before it") func noMeasurements()
        async throws
    {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let transport = oneAtATime()
            #expect(await load(server.url("/a"), with: transport).error == nil)
            let (unsent, error) = await load(server.url("/a"), with: transport) {
                $0.allHTTPHeaderFields = ["X-Mine": "a\nb"]
            }
            #expect(error?.code == .badURL)
            try expectNothingMeasured(by: unsent)

            // The second one gets its slot when the first one ends, and is cancelled before libcurl has seen it.
            let (gate, first, second) = (Gate(), Canceller(), Recorder())
            server.route("/held", TestResponse.data(hundredKilobytes).with { $0.gate = gate })
            let task = transport.start(URLRequest(url: server.url("/held")), policy: .patient, events: first)
            first.cancelsAtItsEnd(transport.start(URLRequest(url: server.url("/a")), policy: .patient, events: second))
            gate.open()
            #expect(await second.end()?.code == .cancelled)
            try expectNothingMeasured(by: second)
            withExtendedLifetime(task) {}
            #expect(server.count("/a") == 1)
        }
    }

    private func expectNothingMeasured(by recorder: Recorder) throws {
        let exchange = try #require(recorder.log.metrics?.exchanges.last)
        #expect(exchange.remoteAddress == nil && exchange.reusedConnection == nil)
        #expect(exchange.status == nil && exchange.requestStart == nil && exchange.responseEnd == nil)
        #expect((exchange.bytesOnWire ?? 0) == 0)
    }
}
