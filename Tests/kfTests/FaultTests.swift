// Errors of `kf fetch` when the network or a server fails: one line with the failure, the place, the cause and advice.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct FaultTests {
    /// Arguments with a timeout that no run reaches, for faults that are not about time.
    private static let patience = ["--timeout", "240"]
    /// The parts of URLs that must not be printed.
    private static let secrets = ["someone", "s3cret", "t0ken"]

    let place = TestDirectory()

    /// A fault of a server, the arguments of `kf`, and the words of its error.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        var code = 2003
        var arguments = FaultTests.patience
        let response: @Sendable () throws -> TestResponse

        init(
            _ name: String,
            _ words: String,
            code: Int = 2003,
            _ arguments: [String] = FaultTests.patience,
            _ response: @escaping @Sendable () throws -> TestResponse
        ) {
            (testDescription, self.words, self.code, self.arguments, self.response) =
                (name, words, code, arguments, response)
        }
    }

    /// Arguments with a short idle timeout, and a long one for connecting.
    private static let impatience = ["--timeout", "0.3", "--connect-timeout", "240"]

    private static func image(_ change: (inout TestResponse) -> Void) throws -> TestResponse {
        TestResponse.data(try SampleImages.png(), type: "image/png").with(change)
    }

    static let faults: [Fault] = [
        Fault("closed before the head", "closed the connection without a response; try again") {
            TestResponse().with { $0.interruption = .cutBeforeHead }
        },
        Fault("reset before the head", "was lost: ") { TestResponse().with { $0.interruption = .resetBeforeHead } },
        Fault("reset behind the head", "was lost: ") { try image { $0.interruption = .reset(after: 0) } },
        Fault("reset in the body", "was lost: ") { try image { $0.interruption = .reset(after: 100) } },
        Fault("closed in the body", "before the whole body had come") {
            try image { $0.interruption = .cut(after: 100) }
        },
        Fault(
            "closed in a chunked body",
            "before the whole body had come"
        ) { try image { ($0.framing, $0.interruption) = (.chunked, .cut(after: 100)) } },
        Fault("no head", "nothing came for 0.3 seconds; --timeout allows more", impatience) {
            TestResponse().with { $0.delay = .seconds(240) }
        },
        Fault(
            "stalled body",
            "nothing came for 0.3 seconds",
            impatience
        ) { try image { $0.interruption = .stall(after: 9) } },
        Fault(
            "trickle",
            "took longer than 0.5 seconds in all; --max-time allows more",
            patience + ["--max-time", "0.5"]
        ) { try image { ($0.pieceSize, $0.pause) = (1, .milliseconds(50)) } },
        Fault(
            "length too large",
            "before the whole body had come"
        ) { try image { $0.headers["Content-Length"] = "\($0.body.count + 1)" } },
        Fault("length too small", "PNG", code: 4001) { try image { $0.headers["Content-Length"] = "40" } },
        Fault("length that is not a number", "is damaged: ") { try image { $0.headers["Content-Length"] = "-5" } },
        Fault("bad chunk", "is damaged: ") {
            try image { ($0.framing, $0.interruption) = (.chunked, .badChunk(after: 9)) }
        },
        Fault("1 GB declared", "is larger than ", code: 2105) {
            try image { $0.headers["Content-Length"] = "1073741824" }
        },
        Fault("endless body", "is larger than ", code: 2105) { TestResponse().with { $0.interruption = .endless } },
        Fault("gzip bomb", "is larger than ", code: 2105) {
            TestResponse.data(Data(count: 210 << 20)).with { $0.compresses = true }
        },
        Fault("damaged gzip", "compressed body is damaged") { try image { $0.headers["Content-Encoding"] = "gzip" } },
        Fault("a field of 1 MB", "is too long") {
            try image { $0.headers["X"] = String(repeating: "a", count: 1 << 20) }
        },
        Fault("redirect loop", "redirects too often") { .redirect(to: "/a.png?token=t0ken") },
        Fault("redirect to a file", "redirects to file:///etc/hosts: only http and https") {
            .redirect(to: "file:///etc/hosts")
        },
        Fault(
            "a part that was not asked for",
            "HTTP status 206",
            code: 2002
        ) { try image { ($0.status, $0.headers["Content-Range"]) = (206, "bytes 100-199/400") } },
        Fault("no HTTP", "does not speak HTTP: ") { .raw(Data("220 mail.example ESMTP\r\n".utf8)) },
    ]

    @Test("A server's fault ends in one line, and leaves nothing in the cache", arguments: faults)
    func serverFaults(fault: Fault) async throws {
        let server = try await TestServer.start()
        server.route("/a.png", try fault.response())
        let url = "http://someone:s3cret@127.0.0.1:\(server.port)/a.png?token=t0ken"
        try await expectFailure(url, fault.words, code: fault.code, fault.arguments)
        await server.stop()
    }

    /// Fetches; expects one line with these words and this code, no secret, no output, and nothing in the cache.
    private func expectFailure(
        _ url: String,
        _ words: String,
        code: Int = 2003,
        _ arguments: [String] = patience,
        variables: [String: String] = [:]
    ) async throws {
        let options = ["--cache-dir", "cache", "-o", "out.png"]
        let result = try await place.kf(["fetch", url] + options + arguments, variables: variables)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains("/a.png"), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.hasSuffix("(code \(code))\n"), "\(result.errors)")
        for secret in Self.secrets { #expect(!result.errors.contains(secret), "\(result.errors)") }
        #expect(place.files("cache") == [])
        #expect(place.files("home-cache") == [])
        #expect(!FileManager.default.fileExists(atPath: place.path("out.png")))
    }

    // MARK: Connections

    @Test("The error for a refused connection names the port") func refusedConnection() async throws {
        let port = try RefusingPort()
        let url = "http://someone:s3cret@127.0.0.1:\(port.number)/a.png?token=t0ken"
        try await expectFailure(url, "127.0.0.1:\(port.number) refused the connection; is the server running")
    }

    @Test("The error for a host name that cannot be resolved contains the name") func unknownHost() async throws {
        try await expectFailure("http://nowhere.invalid/a.png", "nowhere.invalid could not be found; check the name")
    }

    @Test("A TLS handshake that never ends is limited by the time for connecting") func deafServer() async throws {
        let port = try DeafPort()
        let arguments = Self.patience + ["--connect-timeout", "0.3"]
        let words = "Connecting to 127.0.0.1:\(port.number) took too long; --connect-timeout allows more"
        try await expectFailure("https://127.0.0.1:\(port.number)/a.png", words, arguments)
    }
}

/// A port of 127.0.0.1 whose connections are made by the system and never served.
private final class DeafPort {
    let number: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        try #require(isListening)
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
