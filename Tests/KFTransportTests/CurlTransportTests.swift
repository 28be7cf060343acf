// The transport over libcurl against a real server on loopback.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

let hundredKilobytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

/// Loads a URL and waits for the end.
func load(
    _ url: URL,
    with transport: CurlTransport = .shared,
    policy: TransportPolicy = .patient,
    events: Recorder = Recorder(),
    change: (inout URLRequest) -> Void = { _ in }
) async -> (recorder: Recorder, error: TransportError?) {
    var request = URLRequest(url: url)
    change(&request)
    let task = transport.start(request, policy: policy, events: events)
    let error = await events.end()
    withExtendedLifetime(task) {}
    #expect(events.log.violations == [])
    return (events, error)
}

struct CurlTransportTests {
    @Test("Status, header fields and body are delivered") func statusHeadersAndBody() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes, type: "image/png").with { $0.headers["X-Mine"] = "yes" })
            let (recorder, error) = await load(server.url("/a?q=1"))
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
            #expect(recorder.http?.statusCode == 200)
            #expect(recorder.http?.value(forHTTPHeaderField: "x-mine") == "yes")
            #expect(recorder.http?.expectedContentLength == 100_000)
            #expect(server.lastRequest("/a")?.query == "q=1")
            #expect(server.lastRequest("/a")?.method == "GET")
        }
    }

    @Test("A chunked body of unannounced length is delivered") func chunkedBody() async throws {
        try await withServer { server in
            server.route(
                "/a",
                .data(hundredKilobytes).with {
                    $0.framing = .chunked
                    $0.pieceSize = 9_000
                }
            )
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
            #expect(recorder.http?.expectedContentLength == -1)
        }
    }

    @Test("A body that ends with the connection is delivered") func bodyUntilClose() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.framing = .untilClose })
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
        }
    }

    @Test("An empty body is a success") func emptyBody() async throws {
        try await withServer { server in
            server.route("/a", .data(Data()))
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.log.body.isEmpty)
        }
    }

    @Test("A status of 404 is not an error of the transport") func errorStatus() async throws {
        try await withServer { server in
            let (recorder, error) = await load(server.url("/nothing"))
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 404)
        }
    }

    @Test("A body cut short is a lost connection", arguments: [TestResponse.Framing.contentLength, .chunked])
    func truncatedBody(framing: TestResponse.Framing) async throws {
        try await withServer { server in
            server.route(
                "/a",
                .data(hundredKilobytes).with {
                    $0.framing = framing
                    $0.interruption = .cut(after: 50_000)
                }
            )
            let (recorder, error) = await load(server.url("/a"))
            #expect(error?.code == .networkConnectionLost)
            #expect(recorder.received(hundredKilobytes.prefix(recorder.log.body.count)))
        }
    }

    @Test("Header fields of the request are sent, and defaults do not replace them") func requestHeaders() async throws
    {
        try await withServer { server in
            server.route("/a", .data(Data([1])))
            _ = await load(server.url("/a")) { request in
                request.setValue("mine", forHTTPHeaderField: "User-Agent")
                request.setValue("t", forHTTPHeaderField: "Authorization")
            }
            let request = try #require(server.lastRequest("/a"))
            #expect(request.header("User-Agent") == "mine")
            #expect(request.header("Authorization") == "t")
            let codings = request.header("Accept-Encoding") ?? ""
            #expect(codings.contains("gzip") && codings.contains("deflate"))
            #expect(request.header("Accept") == "*/*")
        }
    }

    @Test("A POST sends its body") func postBody() async throws {
        try await withServer { server in
            server.route("/a", .data(Data([1])))
            let (recorder, error) = await load(server.url("/a")) { request in
                request.httpMethod = "POST"
                request.httpBody = Data("hello".utf8)
            }
            #expect(error == nil)
            #expect(server.lastRequest("/a")?.body == Data("hello".utf8))
            #expect(recorder.log.metrics?.exchanges.first?.bytesSent == 5)
        }
    }

    @Test("A conditional request receives a 304") func conditionalRequest() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.etag = "\"v1\"" })
            let (recorder, error) = await load(server.url("/a")) {
                $0.setValue("\"v1\"", forHTTPHeaderField: "If-None-Match")
            }
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 304)
            #expect(recorder.http?.value(forHTTPHeaderField: "ETag") == "\"v1\"")
            #expect(recorder.log.body.isEmpty)
        }
    }

    @Test("A range request receives its part") func rangeRequest() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.acceptsRanges = true })
            let (recorder, error) = await load(server.url("/a"), policy: .patient(asksForCompression: false)) {
                $0.setValue("bytes=1000-1999", forHTTPHeaderField: "Range")
            }
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 206)
            #expect(recorder.http?.value(forHTTPHeaderField: "Content-Range") == "bytes 1000-1999/100000")
            #expect(recorder.received(hundredKilobytes[1000..<2000]))
            #expect(server.lastRequest("/a")?.header("Accept-Encoding") == "identity")
        }
    }

    @Test("A compressed body is inflated") func compressedBody() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.compresses = true })
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
            #expect(recorder.http?.value(forHTTPHeaderField: "Content-Encoding") != nil)
        }
    }

    @Test("A body that inflates beyond the limit is refused before all of it is in memory") func inflationLimit()
        async throws
    {
        try await withServer { server in
            server.route("/a", .data(Data(count: 50 << 20)).with { $0.compresses = true })
            var policy = TransportPolicy.patient
            policy.maxBodyBytes = 1 << 20
            let (recorder, error) = await load(server.url("/a"), policy: policy)
            #expect(error?.code == .dataLengthExceedsMaximum)
            #expect(recorder.log.body.count <= 1 << 20)
        }
    }

    @Test("A damaged compressed body is an error") func damagedCompression() async throws {
        try await withServer { server in
            let response = TestResponse(headers: ["Content-Encoding": "gzip"], body: Data("not gzip at all".utf8))
            server.route("/a", response)
            let (_, error) = await load(server.url("/a"))
            #expect(error?.code == .cannotDecodeContentData)
        }
    }

    @Test("Metrics hold the instants and byte counts of every exchange") func metrics() async throws {
        try await withServer { server in
            server.route("/from", .redirect(to: "/to"))
            server.route("/to", .data(hundredKilobytes))
            let (recorder, _) = await load(server.url("/from"))
            let metrics = try #require(recorder.log.metrics)
            #expect(metrics.redirectCount == 1)
            #expect(metrics.exchanges.map(\.status) == [302, 200])
            #expect(metrics.exchanges.map(\.url?.path) == ["/from", "/to"])
            let last = try #require(metrics.exchanges.last)
            #expect(last.bytesReceived == 100_000)
            #expect(last.httpVersion == "HTTP/1.1")
            let instants = [last.start, last.requestStart, last.requestEnd, last.responseStart, last.responseEnd]
            let known = instants.compactMap(\.self)
            #expect(known.count == instants.count)
            #expect(known == known.sorted())
            #expect(metrics.interval.contains(last.start))
        }
    }

    @Test("Connections are reused") func connectionReuse() async throws {
        let transport = CurlTransport()
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            for _ in 0..<5 { _ = await load(server.url("/a"), with: transport) }
            #expect(server.count("/a") == 5)
            #expect(server.connectionCount == 1)
        }
    }

    @Test("More transfers than connections all finish") func moreThanConnections() async throws {
        let transport = CurlTransport()
        try await withServer { server in
            let url = server.route("/a", .data(hundredKilobytes))
            let sizes = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { await load(url, with: transport).recorder.log.body.count } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes == Array(repeating: 100_000, count: 100))
            #expect(server.connectionCount <= 16)
        }
    }
}

struct TransportResponseTests {
    @Test("A response has the same values as the `HTTPURLResponse` made from it") func agreesWithFoundation()
        async throws
    {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes, type: "image/png").with { $0.etag = "\"v1\"" })
            let cheap = Promise<TransportResponse>()
            let (recorder, _) = await load(server.url("/a"), events: Recorder(seeing: { cheap.fulfil($0) }))
            let response = await cheap.value
            let http = try #require(recorder.http)
            #expect(response.statusCode == http.statusCode)
            #expect(response.url == http.url)
            #expect(response.expectedContentLength == http.expectedContentLength)
            for name in ["content-type", "ETag", "Content-Length", "X-Nothing"] {
                #expect(response.value(forHTTPHeaderField: name) == http.value(forHTTPHeaderField: name))
            }
            #expect(response.urlResponse === http)
        }
    }

    @Test("A response that is not of HTTP has no status") func nonHTTPResponse() {
        let url = URL(fileURLWithPath: "/a")
        let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: 7, textEncodingName: nil)
        let response = TransportResponse(plain)
        #expect(response.statusCode == nil)
        #expect(response.expectedContentLength == 7)
        #expect(response.value(forHTTPHeaderField: "ETag") == nil)
        #expect(response.urlResponse === plain)
    }
}
