// Every number that is read of a request's head, at its bounds and far beyond: it is answered, and nothing traps.

import Kingfisher
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct HeaderNumberTests {
    private static let numbers = [
        "", "0", "-0", "+1", "-1", "1", "1.5", "2147483648", "4294967296", "\(Int.max)", "\(Int.min)", "\(UInt.max)",
        "18446744073709551616", "1e308", "-1e308", "0x10", "nan", "inf", "-inf", String(repeating: "9", count: 400),
    ]

    /// Fields with a number in a place.
    private static let fields: [@Sendable (String) -> (String, String)] = [
        { ("Range", "bytes=\($0)-") }, { ("Range", "bytes=0-\($0)") }, { ("If-None-Match", $0) },
        { ("If-Modified-Since", "Sun, \($0) Nov 1994 08:49:37 GMT") },
        { ("If-Modified-Since", "Sun, 06 Nov \($0) 08:49:37 GMT") }, { ("Accept", "image/webp;q=\($0)") },
        { ("Cache-Control", "max-age=\($0)") }, { ("Keep-Alive", "timeout=\($0), max=\($0)") }, { ("Age", $0) },
        { ("Max-Forwards", $0) }, { ("DPR", $0) }, { ("Width", $0) }, { ("X-Request-ID", $0) },
    ]

    @Test("Fields with any number are answered with the image", arguments: numbers)
    func images(number: String) async throws {
        try await RunningServer.with(["KF_AUTO_WEBP": "1"]) { server in
            let connection = try await RawConnection(port: server.port)
            for field in Self.fields.map({ $0(number) }) {
                try await connection.send("/_/plain/https://e.com/a", [field.0: field.1])
                let answer = try await connection.answer()
                #expect(answer.status == 200 && answer.body.count == server.renderer.image.image.data.count)
            }
            connection.leave()
        }
    }

    @Test("A body of any length that is announced purges nothing, and ends no server", arguments: numbers)
    func lengths(number: String) async throws {
        try await RunningServer.with(["KF_PURGE_TOKEN": "let-me"]) { server in
            let fields = ["Authorization": "Bearer let-me", "Content-Length": number]
            // More than is read of a body, so that none is waited for.
            let body = #"{"all": true}"# + String(repeating: " ", count: 70_000)
            let answer = try? await server.get("/purge", fields, method: "POST", body: body)
            #expect(answer.map { $0.status == 400 } ?? true)
            #expect(server.renderer.purges.isEmpty)
            #expect((try? await server.get("/health"))?.status == 200)
        }
    }
}
