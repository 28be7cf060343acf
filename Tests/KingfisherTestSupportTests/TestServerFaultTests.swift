// The faults of the test server, seen from a bare socket.

import Foundation
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TestServerFaultTests {
    @Test("A request can be left unanswered") func unanswered() async throws {
        try await withServer { server in
            server.route("/cut", letters.with { $0.interruption = .cutBeforeHead })
            server.route("/reset", letters.with { $0.interruption = .resetBeforeHead })
            let cut = try await RawClient.get("/cut", from: server)
            #expect(cut == ("", .closed))
            let reset = try await RawClient.get("/reset", from: server)
            #expect(reset == ("", .reset))
        }
    }

    @Test("A connection can end after the head or within the body", arguments: [0, 5]) func ending(count: Int)
        async throws
    {
        try await withServer { server in
            server.route("/cut", letters.with { $0.interruption = .cut(after: count) })
            server.route("/reset", letters.with { $0.interruption = .reset(after: count) })
            let cut = try await RawClient.get("/cut", from: server)
            let start = "Content-Length: 26\r\n\r\n" + "abcde".prefix(count)
            #expect(cut.text.hasSuffix(start))
            #expect(cut.end == .closed)
            let reset = try await RawClient.get("/reset", from: server)
            #expect(reset.text.hasSuffix(start))
            #expect(reset.end == .reset)
        }
    }

    @Test("A chunk can have a size that is not a number, and the connection stays open") func badChunk() async throws {
        try await withServer { server in
            let response = letters.with {
                $0.framing = .chunked
                $0.interruption = .badChunk(after: 5)
            }
            server.route("/a", response)
            let client = try RawClient(server)
            client.get("/a")
            let text = await client.read(until: "xyz")
            #expect(text.hasSuffix("\r\n\r\n5\r\nabcde\r\nno number\r\nfghijklmnopqrstuvwxyz"))
            #expect(server.lastRequest("/a")?.disconnected.isOpen == false)
        }
    }

    @Test("A declared length need not be true") func declaredLength() async throws {
        try await withServer { server in
            server.route("/long", letters.with { $0.headers["Content-Length"] = "1073741824" })
            let long = try await RawClient.get("/long", from: server)
            #expect(long.text.contains("Content-Length: 1073741824\r\n"))
            #expect(long.text.hasSuffix("\r\n\r\n\(alphabet)"))
            #expect(long.end == .closed)

            server.route("/short", letters.with { $0.headers["content-length"] = "5" })
            let client = try RawClient(server)
            client.get("/short")
            let short = await client.read(until: "z")
            #expect(short.contains("content-length: 5\r\n") && short.hasSuffix("\r\n\r\n\(alphabet)"))
            client.get("/short")
            #expect(await client.read(until: "z").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("An endless body is sent until the client leaves", arguments: [TestResponse.Framing.contentLength, .chunked])
    func endless(framing: TestResponse.Framing) async throws {
        try await withServer { server in
            let response = letters.with {
                $0.framing = framing
                $0.interruption = .endless
            }
            server.route("/a", response)
            let client = try RawClient(server)
            client.get("/a")
            #expect(await client.read(8 << 20) == 8 << 20)
            let request = try #require(server.lastRequest("/a"))
            #expect(request.bytesSent > 7 << 20)
            #expect(!request.disconnected.isOpen)
            client.close()
            await request.disconnected.wait()
        }
    }

    @Test("A raw response is sent without any other bytes") func rawBytes() async throws {
        try await withServer { server in
            server.route("/garbage", .raw(Data("garbage".utf8)))
            let garbage = try await RawClient.get("/garbage", from: server)
            #expect(garbage == ("garbage", .closed))

            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
            server.route("/twice", .raw(Data((answer + answer).utf8), closes: false))
            let client = try RawClient(server)
            for _ in 0..<2 {
                client.get("/twice")
                #expect(await client.read(until: answer + answer) == answer + answer)
            }
        }
    }

    @Test("A connection is closed when more requests arrive than it takes") func requestsPerConnection() async throws {
        try await withServer { server in
            server.route("/a", letters)
            server.requestsPerConnection = 2
            let client = try RawClient(server)
            for _ in 0..<2 {
                client.get("/a")
                #expect(await client.read(until: "z").hasSuffix(alphabet))
            }
            client.get("/a")
            let rest = await client.rest()
            #expect(rest == ("", .closed))
            #expect(server.count("/a") == 3)
            #expect(server.requests.map(\.connection) == [1, 1, 1])
        }
    }

    @Test("A trickling body arrives whole") func trickle() async throws {
        try await withServer { server in
            let response = letters.with {
                $0.framing = .chunked
                $0.pieceSize = 10
                $0.pause = .milliseconds(5)
            }
            server.route("/a", response)
            let client = try RawClient(server)
            client.get("/a")
            let text = await client.read(until: "0\r\n\r\n")
            #expect(text.hasSuffix("\r\n\r\na\r\nabcdefghij\r\na\r\nklmnopqrst\r\n6\r\nuvwxyz\r\n0\r\n\r\n"))
        }
    }

    @Test("The server notices that a client left, whatever the response waits for") func leavingClients() async throws {
        try await withServer { server in
            let never = Gate()
            server.route("/gate", letters.with { $0.gate = never })
            server.route("/delay", letters.with { $0.delay = .seconds(3_600) })
            server.route("/hold", letters.with { $0.interruption = .hold(after: 3, until: never) })
            server.route("/stall", letters.with { $0.interruption = .stall(after: 3) })
            server.route("/idle", letters)
            server.route("/computed") { _ in
                await never.wait()
                return letters
            }
            for path in ["/gate", "/delay", "/hold", "/stall", "/idle", "/computed"] {
                let client = try RawClient(server)
                client.get(path)
                await server.waitForRequests(to: path)
                let request = try #require(server.lastRequest(path))
                #expect(!request.disconnected.isOpen)
                client.close()
                await request.disconnected.wait()
            }
            never.open()
        }
    }
}

struct TestServerRequestTests {
    @Test("Bodies of requests arrive, in pieces and in chunks") func requestBodies() async throws {
        try await withServer { server in
            server.route("/a") { request in .data(Data("<\(String(decoding: request.body, as: UTF8.self))>".utf8)) }
            let client = try RawClient(server)
            client.send("PUT /a HTTP/1.1\r\nContent-Le")
            client.send("ngth: 5\r\n\r\nhe")
            client.send("llo")
            #expect(await client.read(until: ">").hasSuffix("\r\n\r\n<hello>"))
            client.send("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;b=c\r\n0123456789\r\n")
            client.send("0\r\nTrailer: x\r\n\r\n")
            #expect(await client.read(until: ">").hasSuffix("\r\n\r\n<abc0123456789>"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test("A client that waits for permission to send its body gets it") func expectContinue() async throws {
        try await withServer { server in
            let client = try RawClient(server)
            client.send("POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
            #expect(await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send("x")
            #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        }
    }

    @Test("Pipelined requests get their responses in order") func pipelining() async throws {
        try await withServer { server in
            server.route("/a") { request in .data(Data("<\(request.query ?? "")>".utf8)) }
            let client = try RawClient(server)
            client.send("GET /a?1 HTTP/1.1\r\n\r\nGET /a?2 HTTP/1.1\r\nConnection: close\r\n\r\n")
            let (text, end) = await client.rest()
            #expect(text.contains("<1>HTTP/1.1 200 OK\r\n") && text.hasSuffix("<2>"))
            #expect(end == .closed)
        }
    }

    @Test("Bytes that are not a request get a 400, and the connection is closed") func badRequest() async throws {
        try await withServer { server in
            let client = try RawClient(server)
            client.send("hello\r\n\r\n")
            let (text, end) = await client.rest()
            #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(end == .closed)
            #expect(server.requests.isEmpty)
        }
    }
}
