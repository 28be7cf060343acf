// Details of responses: content codings that are none, and fields that come behind the body.

import Foundation
import FoundationNetworking
import KFTransport
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResponseDetailTests {
    // MARK: Content codings

    /// What stores and servers send that is the name of no coding.
    private static let noCodings = [
        "aws-chunked", "utf-8", "binary", "raw", "none", "image/png", "AWS-Chunked,utf-8", "identity, raw", ",",
    ]

    @Test(
        "A body whose content coding is none is delivered as it is, and its response once",
        arguments: noCodings,
        [TestResponse.Framing.contentLength, .chunked, .untilClose]
    )
    func labels(label: String, framing: TestResponse.Framing) async throws {
        try await withServer { server in
            let response = TestResponse(headers: ["Content-Encoding": label], body: hundredKilobytes)
            server.route("/a", response.with { $0.framing = framing })
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
            #expect(recorder.log.metrics?.exchanges.count == 1)
            // Libcurl 7.88 needs one request, newer versions refuse the first response.
            #expect((1...2).contains(server.count("/a")))
        }
    }

    @Test("A response without a body may have a content coding that is none", arguments: [200, 302, 404])
    func labelWithoutBody(status: Int) async throws {
        try await withServer { server in
            server.route("/a", TestResponse(status: status, headers: ["Content-Encoding": "raw", "Location": "/b"]))
            server.route("/b", .data(hundredKilobytes))
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.http?.statusCode == (status == 302 ? 200 : status))
            #expect(server.count("/a") == 1)
        }
    }

    @Test("The head of a response with such a coding is delivered before its body is complete")
    func labelledHeadComesEarly() async throws {
        try await withServer { server in
            let gate = Gate()
            let response = TestResponse(headers: ["Content-Encoding": "raw"], body: hundredKilobytes)
            server.route("/a", response.with { $0.interruption = .hold(after: 70_000, until: gate) })
            let (recorder, error) = await load(server.url("/a"), events: Recorder(seeing: { _ in gate.open() }))
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
        }
    }

    @Test(
        "A content coding that is one, and that the body does not have, is an error",
        arguments: ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "gzip, aws-chunked", "utf-8,gzip"]
    )
    func damagedCoding(coding: String) async throws {
        try await withServer { server in
            server.route("/a", TestResponse(headers: ["Content-Encoding": coding], body: Data("as it is".utf8)))
            let (recorder, error) = await load(server.url("/a"))
            #expect(error?.code == .cannotDecodeContentData)
            #expect(recorder.log.body.isEmpty)
            #expect(server.count("/a") == 1)
            for label in ["aws-chunked", "utf-8"] where coding.contains(label) {
                #expect(error?.message.contains("\"\(label)\"") == true)
            }
        }
    }

    // MARK: Trailers

    @Test(
        "Fields behind the body are none of the response",
        arguments: [true, false],
        ["", "HTTP/1.1 404: Not Found\r\n"]
    )
    func trailers(atOnce: Bool, line: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: no-store\r\n\r\n"
        let rest = "5\r\nhello\r\n0\r\nCache-Control: max-age=60\r\nETag: \"1\"\r\n\(line)\r\n"
        try await withServer { server in
            let gate = Gate()
            let bytes = Data((head + rest).utf8)
            server.route(
                "/a",
                atOnce ? .raw(bytes) : .raw(bytes).with { $0.interruption = .hold(after: head.utf8.count, until: gate) }
            )
            let events = Recorder(seeing: { _ in gate.open() })
            let (recorder, error) = await load(server.url("/a"), events: events)
            #expect(error == nil)
            #expect(recorder.received(Data("hello".utf8)))
            #expect(recorder.http?.statusCode == 200)
            #expect(recorder.http?.value(forHTTPHeaderField: "Cache-Control") == "no-store")
            #expect(recorder.http?.value(forHTTPHeaderField: "ETag") == nil)
            #expect(recorder.log.metrics?.exchanges.first?.status == 200)
        }
    }
}
