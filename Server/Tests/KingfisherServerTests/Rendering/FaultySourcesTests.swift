// Servers of sources that are slow, lie, never end or lead astray: each ends with the status that the table of codes
// says.

import Foundation
import Glibc
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FaultySourcesTests {
    private func outcome(_ error: RenderingError?) -> String { error.map { "\($0.status) \($0.kind)" } ?? "none" }

    @Test("A source that comes byte by byte, without a pause that is too long, is 504 in the end") func slow()
        async throws
    {
        try await RenderingRig.run({ $0.timeout = 1 }) { rig in
            let slow = try Quadrants.png().with { ($0.pieceSize, $0.pause) = (1, .milliseconds(50)) }
            rig.server.route("/a", slow)
            #expect(try await outcome(rig.error()) == "504 source_timeout")
            rig.server.route("/a", try Quadrants.png().with { $0.delay = .seconds(60) })
            #expect(try await outcome(rig.error()) == "504 source_timeout")
        }
    }

    @Test("A source that waits in vain for a connection to its server is 504") func noConnection() async throws {
        try await RenderingRig.run({ $0.sources.maxConnections = 1 }) { rig in
            let gate = Gate()
            rig.server.route("/a", try Quadrants.png().with { $0.gate = gate })
            async let first = outcome(rig.error())
            await rig.server.waitForRequests(1, to: "/a")
            let request = try rig.request("w:10", path: "/b")
            let error = await #expect(throws: RenderingError.self) {
                try await rig.renderer.render(request, within: 0.3)
            }
            #expect(outcome(error) == "504 source_timeout" && rig.server.count("/b") == 0)
            gate.open()
            #expect(try await first == "none")
        }
    }

    @Test("Sources that have been loaded count until their results are made") func memory() async throws {
        try await RenderingRig.run({ $0.maxSourceBytesInQueue = 10_000 }) { rig in
            let gate = Gate()
            let bytes = Data(repeating: 7, count: 30_000)
            rig.server.route("/a", .data(bytes).with { $0.interruption = .hold(after: 20_000, until: gate) })
            #expect(!rig.renderer.isMemoryFull)
            async let answer = outcome(rig.error())
            await until { rig.renderer.isMemoryFull }
            gate.open()
            let end = try await answer
            #expect(end == "422 not_an_image")
            await until { !rig.renderer.isMemoryFull }
        }
    }

    @Test("A server that cannot be connected to in time is 504") func unconnected() async throws {
        let port = try FullPort()
        try await RenderingRig.run({ $0.sources.connectTimeout = 1 }) { rig in
            let answer = try await outcome(rig.error(source: port.url))
            #expect(answer == "504 source_timeout")
        }
    }

    @Test("A length that is not that of the source is 422, and nothing is kept") func length() async throws {
        try await RenderingRig.run({ ($0.sources.maxBytes, $0.sources.damaged) = (100_000, .error) }) { rig in
            let png = try Quadrants.png()
            for (length, answer) in [
                ("\(png.body.count + 1000)", "422 damaged"), ("\(png.body.count / 2)", "422 damaged"),
                ("99999999999", "422 too_large"),
            ] {
                rig.server.route("/a", png.with { $0.headers["Content-Length"] = length })
                #expect(try await outcome(rig.error()) == answer, "\(length)")
            }
            #expect(rig.cache.memoryStorage.totalCacheCost() == 0)
        }
    }

    @Test("A length that is no number is no HTTP, or the source ends when its server closes") func noLength()
        async throws
    {
        try await RenderingRig.run({ $0.timeout = 1 }) { rig in
            for length in ["-1", "99999999999999999999999", "x"] {
                rig.server.route("/a", try Quadrants.png().with { $0.headers["Content-Length"] = length })
                let answer = try await outcome(rig.error())
                #expect(["404 source_unreachable", "504 source_timeout"].contains(answer), "\(length)")
            }
        }
    }

    @Test("A source without an end is 422 at the limit") func endless() async throws {
        try await RenderingRig.run({ $0.sources.maxBytes = 100_000 }) { rig in
            for framing in [TestResponse.Framing.chunked, .untilClose] {
                let png = try Quadrants.png()
                rig.server.route("/a", png.with { ($0.framing, $0.interruption) = (framing, .endless) })
                #expect(try await outcome(rig.error()) == "422 too_large", "\(framing)")
            }
            let zeros = TestResponse(headers: ["Content-Type": "image/png"]).with { response in
                (response.framing, response.interruption) = (.chunked, .endless)
            }
            rig.server.route("/a", zeros)
            #expect(try await outcome(rig.error()) == "422 too_large")
        }
    }

    @Test("Redirects that lead nowhere, in circles, to files or to refused addresses are 404") func redirects()
        async throws
    {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .redirect(to: "/a"))
            let circle = try await outcome(rig.error())
            #expect(circle == "404 source_redirects")
            let places = [
                "file:///etc/hostname", "ftp://127.0.0.1/a", "data:image/png;base64,AAAA", "local:///a.png",
                "http://10.0.0.1/a", "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/a",
                "gopher://127.0.0.1/",
            ]
            for place in places {
                rig.server.route("/a", .redirect(to: place))
                let error = try await rig.error()
                #expect(error?.status == 404, "\(place)")
            }
            rig.server.route("/a", TestResponse(status: 302))
            let nowhere = try await outcome(rig.error())
            #expect(nowhere == "404 source_status")
        }
    }

    @Test("What is no HTTP is 404, what breaks off is 422") func noHTTP() async throws {
        try await RenderingRig.run { rig in
            let png = try Quadrants.png()
            let faults: [(TestResponse, String)] = [
                (.raw(Data("SSH-2.0-OpenSSH_9.2\r\n".utf8)), "404 source_unreachable"),
                (
                    png.with { ($0.framing, $0.interruption) = (.chunked, .badChunk(after: 40)) },
                    "404 source_unreachable"
                ),
                (.raw(Data("HTTP/1.1 ".utf8)), "422 damaged"),
                (png.with { $0.interruption = .cutBeforeHead }, "422 damaged"),
                (png.with { $0.interruption = .resetBeforeHead }, "422 damaged"),
                (png.with { $0.interruption = .reset(after: 40) }, "422 damaged"),
            ]
            for (fault, expected) in faults {
                rig.server.route("/a", fault)
                let answer = try await outcome(rig.error())
                #expect(answer == expected, "\(fault.interruption.debugDescription)")
            }
        }
    }
}

/// A port whose queue of connections is full: the system leaves further ones without an answer.
private final class FullPort {
    private var sockets: [Int32] = []
    private var number = 0

    var url: String { "http://127.0.0.1:\(number)/a" }

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        sockets.append(listener)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let listens =
                    bind(listener, address, length) == 0 && listen(listener, 0) == 0
                    && getsockname(listener, address, &length) == 0
                try #require(listens)
                // A queue of length 0 has room for one; the others are for systems that are more generous.
                for _ in 0..<4 {
                    let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
                    let client = socket(AF_INET, Int32(flags), 0)
                    sockets.append(client)
                    _ = connect(client, address, length)
                }
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { for socket in sockets { close(socket) } }
}
