// Interrupted downloads: when the next try asks for the rest, and when it starts anew.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct ResumingTests {
    private let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    private func file(etag: String? = "\"1\"", cut: Int? = nil) -> TestResponse {
        TestResponse.data(bytes).with {
            ($0.acceptsRanges, $0.etag) = (true, etag)
            if let cut { $0.interruption = .cut(after: cut) }
        }
    }

    /// Downloads a URL twice: the first download is interrupted, the second one ends as it ends.
    private func interrupted(
        _ first: TestResponse,
        then second: TestResponse,
        _ info: KingfisherOptionsInfo = [],
        isEnabled: Bool = true
    ) async throws -> (data: Data?, requests: [TestRequest]) {
        let result = Box<(Data?, [TestRequest])>((nil, []))
        try await withDownloader { server, downloader in
            downloader.isResumingEnabled = isEnabled
            server.route("/a", sequence: [first, second])
            #expect(await Caller.load(server.url("/a"), with: downloader, info).error != nil)
            let data = await Caller.load(server.url("/a"), with: downloader, info).data
            result.change { $0 = (data, server.requests) }
        }
        return (result.value.0, result.value.1)
    }

    @Test("The next try asks for the rest, and has all bytes") func rest() async throws {
        let (data, requests) = try await interrupted(file(cut: 40_000), then: file())
        #expect(data == bytes)
        #expect(requests.count == 2)
        let range = try #require(requests[1].header("Range"))
        #expect(range == "bytes=40000-")
        #expect(requests[1].header("If-Range") == "\"1\"" && requests[1].header("Accept-Encoding") == "identity")
    }

    @Test("The rest is asked for, too, where the content coding is none") func restOfLabelled() async throws {
        func labelled(_ response: TestResponse) -> TestResponse {
            response.with { $0.headers["Content-Encoding"] = "aws-chunked" }
        }
        let (whole, part) = (labelled(file()), labelled(file(cut: 40_000)))
        try await withDownloader { server, downloader in
            // Newer versions of libcurl refuse the first response of each download, and the transport asks again.
            server.route("/a") { $0.header("Range") == nil ? part : whole }
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.requests.last?.header("Range") == "bytes=40000-")
        }
    }

    @Test("A file that has changed is loaded anew") func changed() async throws {
        let other = Data(bytes.reversed())
        let (data, _) = try await interrupted(
            file(cut: 40_000),
            then: TestResponse.data(other).with { ($0.acceptsRanges, $0.etag) = (true, "\"2\"") }
        )
        #expect(data == other)
    }

    @Test(
        "A part that is not the rest is dropped, and the whole is loaded",
        arguments: ["bytes 39999-99999/100000", "bytes 40000-99999/100001", "bytes 40000-50000/100000", "nonsense", ""]
    )
    func wrongPart(range: String) async throws {
        try await withDownloader { server, downloader in
            let part = TestResponse(
                status: 206,
                headers: range.isEmpty ? [:] : ["Content-Range": range, "ETag": "\"1\""],
                body: bytes.dropFirst(40_000)
            )
            server.route("/a", sequence: [file(cut: 40_000), part, file()])
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=40000-", nil])
        }
    }

    @Test(
        "A part whose validator is not the one that is known is dropped, and the whole is loaded",
        arguments: [[:], ["ETag": "\"2\""], ["ETag": "W/\"1\""]]
    )
    func wrongValidator(fields: [String: String]) async throws {
        try await withDownloader { server, downloader in
            let part = TestResponse(
                status: 206,
                headers: fields.merging(["Content-Range": "bytes 40000-99999/100000"]) { $1 },
                body: bytes.dropFirst(40_000)
            )
            server.route("/a", sequence: [file(cut: 40_000), part, file()])
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.count("/a") == 3)
        }
    }

    @Test("A file with a date is continued when the rest names no other date, as often as it breaks off")
    func dates() async throws {
        try await withDownloader { server, downloader in
            let fields = [
                "Accept-Ranges": "bytes", "Last-Modified": "Tue, 24 Nov 2026 09:59:00 GMT",
                "Date": "Tue, 24 Nov 2026 10:00:30 GMT",
            ]
            func rest(from start: Int, _ fields: [String: String] = [:]) -> TestResponse {
                let range = ["Content-Range": "bytes \(start)-99999/100000"]
                return TestResponse(
                    status: 206,
                    headers: fields.merging(range) { $1 },
                    body: bytes.dropFirst(start)
                )
            }
            let whole = TestResponse(headers: fields, body: bytes)
            let first = whole.with { $0.interruption = .cut(after: 40_000) }
            let second = rest(from: 40_000).with { $0.interruption = .cut(after: 20_000) }
            server.route("/a", sequence: [first, second, rest(from: 60_000)])
            for _ in 0..<2 { #expect(await Caller.load(server.url("/a"), with: downloader).error != nil) }
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=40000-", "bytes=60000-"])
            let other = rest(from: 40_000, ["Last-Modified": "Tue, 24 Nov 2026 09:59:10 GMT"])
            server.route("/b", sequence: [first, other, whole])
            #expect(await Caller.load(server.url("/b"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/b"), with: downloader).data == bytes)
            #expect(server.count("/b") == 3)
        }
    }

    @Test("A rest that is cut short without an announced length fails, and is continued in its turn")
    func restCutShort() async throws {
        try await withDownloader { server, downloader in
            let part = TestResponse(
                status: 206,
                headers: ["Content-Range": "bytes 40000-99999/100000", "ETag": "\"1\""],
                body: bytes[40_000..<50_000]
            ).with { $0.framing = .untilClose }
            server.route("/a", sequence: [file(cut: 40_000), part, file()])
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/a"), with: downloader).error?.errorCode == 2003)
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.requests.last?.header("Range") == "bytes=50000-")
        }
    }

    @Test("Where 200 alone is accepted, so is the rest of what began with it") func acceptedStatus() async throws {
        try await withDownloader { server, downloader in
            downloader.acceptableStatusCodes = [200]
            server.route("/a", sequence: [file(cut: 40_000), file()])
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.requests.last?.header("Range") == "bytes=40000-")
        }
    }

    @Test("A delegate that refuses the response of the rest is asked before the beginning is handed on")
    func refused() async throws {
        final class Refusing: ImageDownloaderDelegate, Sendable {
            let count = Box(0)
            func imageDownloader(
                _ downloader: ImageDownloader,
                didReceive response: URLResponse
            ) async -> URLSession.ResponseDisposition {
                count.change { $0 += 1 }
                return count.value == 1 ? .allow : .cancel
            }
        }
        try await withDownloader { server, downloader in
            let delegate = Refusing()
            downloader.delegate = delegate
            server.route("/a", sequence: [file(cut: 40_000), file()])
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            let pieces = Counter()
            let caller = Caller.load(server.url("/a"), with: downloader, [.onDataReceived { _, _ in pieces.add() }])
            #expect(await caller.error?.errorCode == 2006)
            #expect(pieces.value == 0 && server.requests.last?.header("Range") == "bytes=40000-")
        }
    }

    @Test("A range that cannot be had starts the download anew, once") func unsatisfiable() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", sequence: [file(cut: 40_000), .status(416), file()])
            #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.count("/a") == 3)
        }
    }

    @Test("A server that fails in between costs nothing of what has arrived", arguments: [500, 503, 404])
    func failsBetween(status: Int) async throws {
        try await withDownloader { server, downloader in
            server.route("/a", sequence: [file(cut: 40_000), .status(status), file()])
            for _ in 0..<2 { #expect(await Caller.load(server.url("/a"), with: downloader).error != nil) }
            #expect(await Caller.load(server.url("/a"), with: downloader).data == bytes)
            #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=40000-", "bytes=40000-"])
        }
    }

    @Test("Several interruptions add up, when a strategy tries again") func several() async throws {
        try await Rig.run { rig in
            let image = try SampleImage.png()
            let step = (image.count + 9) / 10
            rig.server.route("/a.png") { request in
                let start = request.header("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                return TestResponse.data(image).with {
                    ($0.acceptsRanges, $0.etag) = (true, "\"1\"")
                    if start + step < image.count { $0.interruption = .cut(after: step) }
                }
            }
            let strategy = DelayRetryStrategy(maxRetryCount: 20, retryInterval: .seconds(0))
            let result = try await rig.manager.retrieveImage(
                with: rig.server.url("/a.png"),
                options: [.retryStrategy(strategy)]
            )
            #expect(result.data() == image)
            let ranges = rig.server.requests.map { $0.header("Range") }
            #expect(ranges == [nil] + (1..<10).map { "bytes=\($0 * step)-" })
        }
    }

    @Test("A cancelled download continues, too") func cancelled() async throws {
        let transport = FakeTransport { _ in }
        let downloader = ImageDownloader(name: "test", transport: transport)
        let fields = ["ETag": "\"1\"", "Accept-Ranges": "bytes", "Content-Length": "10"]
        let head = HTTPURLResponse(url: fakeURL, statusCode: 200, httpVersion: nil, headerFields: fields)
        let caller = Caller.load(with: downloader)
        transport.transfers[0].receive(try #require(head))
        transport.transfers[0].send(Data([1, 2, 3, 4]))
        caller.cancel()
        #expect(await caller.error?.isCancelled == true)
        let next = Caller.load(with: downloader)
        #expect(transport.transfers[1].originalRequest.value(forHTTPHeaderField: "Range") == "bytes=4-")
        next.cancel()
        // It was ended before a response: the beginning is there for the one after.
        let last = Caller.load(with: downloader)
        #expect(transport.transfers[2].originalRequest.value(forHTTPHeaderField: "Range") == "bytes=4-")
        last.cancel()
    }

    @Test("Nothing is kept where another body could be taken for the same one")
    func doubtful() async throws {
        func head(_ fields: [String: String], status: Int = 200) -> TestResponse {
            TestResponse(status: status, headers: fields, body: bytes).with { $0.interruption = .cut(after: 40_000) }
        }
        let ranges = ["Accept-Ranges": "bytes"]
        let date = ["Date": "Tue, 24 Nov 2026 10:00:30 GMT"]
        let doubtful: [TestResponse] = [
            head(ranges),  // no validator
            head(["ETag": "\"1\""]),  // no ranges
            head(["ETag": "W/\"1\""].merging(ranges) { $1 }),  // a weak one
            head(["ETag": "\"1\"", "Content-Encoding": "br"].merging(ranges) { $1 }),
            head(["ETag": "\"1\""].merging(ranges) { $1 }).with { $0.framing = .chunked },  // no length
            head(["Last-Modified": "Tue, 24 Nov 2026 10:00:00 GMT"].merging(ranges) { $1 }.merging(date) { $1 }),
        ]
        for response in doubtful {
            let (data, requests) = try await interrupted(response, then: file())
            #expect(data == bytes)
            #expect(requests.last?.header("Range") == nil, "\(response.headers)")
        }
        let (_, requests) = try await interrupted(
            head(["Last-Modified": "Tue, 24 Nov 2026 09:59:00 GMT"].merging(ranges) { $1 }.merging(date) { $1 }),
            then: file()
        )
        #expect(requests.last?.header("If-Range") == "Tue, 24 Nov 2026 09:59:00 GMT")
    }

    @Test("Only a plain request of the whole is continued") func plainRequests() async throws {
        let modifiers = [
            AnyModifier(method: "POST", body: Data("a".utf8)),
            AnyModifier(headers: ["Range": "bytes=0-99999"]),
            AnyModifier(headers: ["If-None-Match": "\"2\""]),
        ]
        for modifier in modifiers {
            let (_, requests) = try await interrupted(file(cut: 40_000), then: file(), [.requestModifier(modifier)])
            #expect(requests.last?.header("If-Range") == nil)
        }
        let (data, requests) = try await interrupted(file(cut: 40_000), then: file(), isEnabled: false)
        #expect(data == bytes && requests.last?.header("Range") == nil)
    }

    @Test("Progress goes on where the download broke off") func progress() async throws {
        let transport = FakeTransport { _ in }
        let downloader = ImageDownloader(name: "test", transport: transport)
        func head(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
            let fields = ["ETag": "\"1\"", "Accept-Ranges": "bytes"].merging(fields) { $1 }
            return try #require(
                HTTPURLResponse(url: fakeURL, statusCode: status, httpVersion: nil, headerFields: fields)
            )
        }
        let first = Caller.load(with: downloader)
        transport.transfers[0].receive(try head(200, ["Content-Length": "10"]))
        transport.transfers[0].send(Data([1, 2, 3, 4]))
        transport.transfers[0].complete(TransportError(.networkConnectionLost, "cut", url: fakeURL))
        #expect(await first.error != nil)
        let counts = Box<[Int]>([])
        let second = Caller.load(
            with: downloader,
            [.onDataReceived { task, _ in counts.change { $0.append(task.mutableData.count) } }]
        )
        let transfer = transport.transfers[1]
        #expect(transfer.originalRequest.value(forHTTPHeaderField: "Range") == "bytes=4-")
        transfer.receive(try head(206, ["Content-Length": "6", "Content-Range": "bytes 4-9/10"]))
        transfer.send(Data([5, 6]))
        transfer.send(Data([7, 8, 9, 10]))
        transfer.complete()
        #expect(await second.data == Data(1...10))
        #expect(counts.value == [4, 6, 10])
    }

    @Test("What is kept has a limit, and the least recently used goes first") func limit() throws {
        let head = try #require(
            HTTPURLResponse(
                url: fakeURL,
                statusCode: 200,
                httpVersion: nil,
                headerFields: ["ETag": "\"1\"", "Accept-Ranges": "bytes", "Content-Length": "1000"]
            )
        )
        func key(_ number: Int) -> TransferKey {
            let url = fakeURL.appendingPathComponent("\(number)")
            return TransferKey(TransferConditions(request: URLRequest(url: url), policy: TransportPolicy()))
        }
        var bodies = PartialBodies(limit: 100)
        let part = try #require(PartialBody(Data(count: 40), of: TransportResponse(head)))
        for number in 1...3 { bodies.keep(part, for: key(number)) }
        #expect(bodies.take(key(1)) == nil)
        #expect(bodies.take(key(2)) != nil && bodies.take(key(2)) == nil)
        bodies.keep(try #require(PartialBody(Data(count: 101), of: TransportResponse(head))), for: key(3))
        #expect(bodies.take(key(3)) == nil)
    }
}
