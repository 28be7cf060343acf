// Faults of servers, deliberate or not: each ends a transfer once, with a code and a message that names the cause.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    /// Loads a response through a transport of its own and returns the outcome.
    private func outcome(
        of response: TestResponse,
        policy: TransportPolicy = .patient
    ) async throws -> (recorder: Recorder, error: TransportError?) {
        var result: (recorder: Recorder, error: TransportError?)?
        try await withServer { server in
            server.route("/a", response)
            result = await load(server.url("/a"), with: CurlTransport(), policy: policy)
        }
        return try #require(result)
    }

    /// Expects that a response ends in an error with this code and these words.
    private func expect(
        _ code: URLError.Code,
        saying words: String,
        of response: TestResponse,
        policy: TransportPolicy = .patient,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let (recorder, error) = try await outcome(of: response, policy: policy)
        #expect(error?.code == code, "\(error?.message ?? "success")", sourceLocation: location)
        let message = error?.message ?? "success"
        #expect(message.contains(words), sourceLocation: location)
        let delivered = recorder.log.body
        #expect(delivered.count <= response.body.count, sourceLocation: location)
        #expect(delivered == response.body.prefix(delivered.count), sourceLocation: location)
    }

    // MARK: Connections

    @Test("The error of a refused connection names the host that refused it") func refused() async throws {
        let port = try RefusingPort()
        let error = await load(port.url("/a"), with: CurlTransport()).error
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.message == "127.0.0.1:\(port.url("/").port ?? 0) refused the connection.")
        withExtendedLifetime(port) {}
    }

    @Test("The error for a host name that cannot be resolved contains the name") func unresolvedName() async throws {
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        let error = await load(url, with: CurlTransport()).error
        #expect(error?.code == .cannotFindHost)
        #expect(error?.message == "The host nowhere.invalid could not be found.")
    }

    @Test("A connection that is reset before the response is lost") func resetBeforeHead() async throws {
        let response = TestResponse.data(hundredKilobytes).with { $0.interruption = .resetBeforeHead }
        try await expect(.networkConnectionLost, saying: "was lost: Recv failure: Connection reset", of: response)
    }

    @Test("A connection that is reset after the head or in the body is lost", arguments: [0, 50_000])
    func resetInBody(count: Int) async throws {
        let response = TestResponse.data(hundredKilobytes).with { $0.interruption = .reset(after: count) }
        try await expect(.networkConnectionLost, saying: "was lost: Recv failure: Connection reset", of: response)
    }

    @Test("A connection that the server closes without a response is lost") func nothing() async throws {
        try await expect(.networkConnectionLost, saying: "closed the connection without a response", of: .raw(Data()))
    }

    @Test("A kept connection that closes during a request is replaced") func closedUnderRequest() async throws {
        try await withServer { server in
            server.requestsPerConnection = 1
            server.route("/a", .data(hundredKilobytes))
            let transport = CurlTransport()
            for _ in 0..<2 {
                let (recorder, error) = await load(server.url("/a"), with: transport)
                #expect(error == nil)
                #expect(recorder.received(hundredKilobytes))
            }
            // The second request was sent twice.
            #expect(server.count("/a") == 3)
            #expect(server.connectionCount == 2)
        }
    }

    // MARK: Time

    @Test("A transfer whose head never arrives ends by the idle limit") func stalledHead() async throws {
        let gate = Gate()
        defer { gate.open() }
        let policy = TransportPolicy(connectTimeout: 300, idleTimeout: 0.3)
        let words = "stopped responding: nothing came for 0.3 seconds."
        try await expect(.timedOut, saying: words, of: TestResponse().with { $0.gate = gate }, policy: policy)
    }

    @Test("A connection that ends within the head is lost") func brokenHead() async throws {
        let start = TestResponse.raw(Data("HTTP/1.1 200 OK\r\nContent-Le".utf8))
        try await expect(.networkConnectionLost, saying: "closed the connection in the head of its response", of: start)
    }

    @Test("A transfer whose body stalls ends by the idle limit") func stalledBody() async throws {
        let response = TestResponse.data(hundredKilobytes).with { $0.interruption = .stall(after: 1_000) }
        let policy = TransportPolicy(connectTimeout: 300, idleTimeout: 1)
        try await expect(.timedOut, saying: "nothing came for 1 second.", of: response, policy: policy)
    }

    @Test("A body that trickles byte by byte is ended by the total time limit") func trickle() async throws {
        let response = TestResponse.data(hundredKilobytes).with {
            $0.pieceSize = 1
            $0.pause = .milliseconds(20)
        }
        let policy = TransportPolicy(connectTimeout: 300, idleTimeout: 300, totalTimeout: 0.5)
        try await expect(.timedOut, saying: "took longer than 0.5 seconds in all", of: response, policy: policy)
    }

    // MARK: Lengths

    @Test(
        "A body shorter than announced, even by a gigabyte, is a lost connection",
        arguments: [100_001, 1_000_000_000]
    )
    func tooShort(announced: Int) async throws {
        let response = TestResponse.data(hundredKilobytes).with { $0.headers["Content-Length"] = "\(announced)" }
        try await expect(
            .networkConnectionLost,
            saying: "closed the connection before the whole body had come",
            of: response
        )
    }

    @Test("A gigabyte that is only announced takes no memory") func announcedGigabyte() async throws {
        await #expect(processExitsWith: .success) {
            try await withServer { server in
                server.route("/b", .data(hundredKilobytes))
                _ = await load(server.url("/b"))
                let before = ThisProcess.peakMemory
                server.route("/a", .data(hundredKilobytes).with { $0.headers["Content-Length"] = "1000000000" })
                #expect(await load(server.url("/a")).error?.code == .networkConnectionLost)
                #expect(ThisProcess.peakMemory - before < 32 << 20)
            }
        }
    }

    @Test("Bytes behind the announced length are not part of the body") func tooLong() async throws {
        let response = TestResponse.data(hundredKilobytes).with { $0.headers["Content-Length"] = "10" }
        let (recorder, error) = try await outcome(of: response)
        #expect(error == nil)
        #expect(recorder.received(hundredKilobytes.prefix(10)))
    }

    @Test("A second, unrequested response is not taken for that to the next request") func answersTwice()
        async throws
    {
        try await withServer { server in
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
            server.route("/a", .raw(Data("\(answer)one\(answer)two".utf8)))
            server.route("/b", .data(Data("three".utf8)))
            let transport = CurlTransport()
            let first = await load(server.url("/a"), with: transport)
            #expect(first.error == nil)
            #expect(first.recorder.received(Data("one".utf8)))
            let second = await load(server.url("/b"), with: transport)
            #expect(second.error == nil)
            #expect(second.recorder.received(Data("three".utf8)))
        }
    }

    @Test("A chunk without a length is a bad response") func badChunk() async throws {
        let response = TestResponse.data(hundredKilobytes).with {
            $0.framing = .chunked
            $0.interruption = .badChunk(after: 1_000)
        }
        try await expect(.badServerResponse, saying: "is damaged", of: response)
    }

    @Test("An endless body is ended by the size limit") func endless() async throws {
        var policy = TransportPolicy.patient
        policy.maxBodyBytes = 1_000_000
        let response = TestResponse.data(hundredKilobytes).with {
            $0.framing = .chunked
            $0.interruption = .endless
        }
        let (recorder, error) = try await outcome(of: response, policy: policy)
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(error?.message == "The body is longer than 1000000 bytes.")
        #expect(recorder.log.body.count <= 1_000_000)
    }

    @Test("A body that inflates to a hundred megabytes takes no more memory than its limit") func bomb() async throws {
        await #expect(processExitsWith: .success) {
            let bomb = try Self.packedZeros(megabytes: 100)
            try await withServer { server in
                server.route("/a", TestResponse(headers: ["Content-Encoding": "gzip"], body: bomb))
                server.route("/b", .data(hundredKilobytes))
                _ = await load(server.url("/b"))
                let before = ThisProcess.peakMemory
                var policy = TransportPolicy.patient
                policy.maxBodyBytes = 4 << 20
                let (recorder, error) = await load(server.url("/a"), policy: policy)
                #expect(error?.code == .dataLengthExceedsMaximum)
                #expect(error?.message == "The body is longer than 4194304 bytes.")
                #expect(recorder.log.body.count <= 4 << 20)
                // The received bytes are in the buffer and in the recorder, which copies them.
                #expect(ThisProcess.peakMemory - before < 24 << 20)
            }
        }
    }

    /// Zeros, compressed by gzip.
    static func packedZeros(megabytes: Int) throws -> Data {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "head -c \(megabytes << 20) /dev/zero | gzip -9"]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let packed = output.fileHandleForReading.readDataToEndOfFile()
        shell.waitUntilExit()
        return packed
    }

    // MARK: What is not HTTP

    @Test("A head of a megabyte is a bad response, whether in one line or in many", arguments: [1, 10_000])
    func longHead(lines: Int) async throws {
        let field = "X-Field: " + String(repeating: "a", count: 1_000_000 / lines) + "\r\n"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" + String(repeating: field, count: lines)
        let (recorder, error) = try await outcome(of: .raw(Data("\(head)\r\n1".utf8)))
        #expect(error?.code == .badServerResponse)
        #expect(error?.message.contains("head") == true, "\(error?.message ?? "success")")
        #expect(recorder.log.response == nil)
    }

    @Test("A damaged head or chunk is named as such, and is not taken for another protocol")
    func damagedParts() async throws {
        // Not as arguments of the test, which would be printed.
        let damages = [
            ("Location: /a\nb\r\nContent-Length: 0\r\n\r\n", "The head of the response"),
            ("Location: /a\0b\r\nContent-Length: 0\r\n\r\n", "The head of the response"),
            ("no field\r\nContent-Length: 0\r\n\r\n", "The head of the response"),
            ("Transfer-Encoding: chunked\r\n\r\nlong\r\nx\r\n", "The response"),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nno field\r\n\r\n", "The response"),
        ]
        try await withServer { server in
            for (rest, part) in damages {
                server.route("/a", .raw(Data("HTTP/1.1 200 OK\r\n\(rest)".utf8)))
                let error = await load(server.url("/a"), with: CurlTransport()).error
                #expect(error?.code == .badServerResponse)
                let start = "\(part) of 127.0.0.1:\(server.url("/").port ?? 0) is damaged: "
                #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "success")")
            }
        }
    }

    @Test("Too many fields are named as such, before the body and behind it", arguments: [true, false])
    func manyFields(behind: Bool) async throws {
        let start = behind ? "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" : ""
        let fields = "HTTP/1.1 200 OK\r\n\(start)X: \(String(repeating: "a", count: 20_000_000))\r\n\r\n"
        let error = try await outcome(of: .raw(Data(fields.utf8))).error
        #expect(error?.code == .badServerResponse)
        #expect(error?.message.hasSuffix("is too long.") == true, "\(error?.message ?? "success")")
    }

    @Test("A response that is not HTTP is a bad response", arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "<html></html>"])
    func garbage(text: String) async throws {
        let error = try await outcome(of: .raw(Data(text.utf8))).error
        #expect(error?.code == .badServerResponse)
        #expect(error?.message.contains("does not speak HTTP") == true, "\(error?.message ?? "success")")
    }
}
