// Bodies with content codings: members of gzip, both kinds of deflate, lists, what is damaged or cut off.

import Foundation
import FoundationNetworking
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFTransport

@Suite(.timeLimit(.minutes(5))) struct ContentDecodingTests {
    private static let text = Data("the first part, ".utf8)
    private static let more = Data("and the second".utf8)
    private static let one = text.deflated(asGzip: true)
    private static let two = one + more.deflated(asGzip: true)
    /// An empty member: what `deflated` gives for no bytes.
    private static let none = Data().deflated(asGzip: true)
    private static let zlib = text.deflated(asGzip: false)
    /// Deflate without the frame of zlib's format.
    private static let raw = zlib.dropFirst(2).dropLast(4)

    struct Body: Sendable, CustomTestStringConvertible {
        let name: String
        let coding: String
        let bytes: Data
        let decoded: Data
        var testDescription: String { name }

        init(_ name: String, _ coding: String, _ bytes: Data, _ decoded: Data) {
            (self.name, self.coding, self.bytes, self.decoded) = (name, coding, bytes, decoded)
        }
    }

    private static let whole = [
        Body("a member", "gzip", one, text),
        Body("two members", "gzip", two, text + more),
        Body("an empty member alone", "x-gzip", none, Data()),
        Body("an empty member in front", "gzip", none + two, text + more),
        Body("empty members behind", "gzip", one + none + none, text),
        Body("zeros behind", "gzip", two + Data(count: 512), text + more),
        Body("other bytes behind", "gzip", two + Data("garbage".utf8), text + more),
        Body("one byte of a member behind", "gzip", two + [0x1F], text + more),
        Body("no bytes", "gzip", Data(), Data()),
        Body("deflate in zlib's format", "deflate", zlib, text),
        Body("deflate alone", "deflate", raw, text),
        Body("deflate of nothing", "deflate", Data([3, 0]), Data()),
        Body("bytes behind deflate", "deflate", zlib + two, text),
        Body("two codings", "deflate, gzip", raw.deflated(asGzip: true), text),
        Body("gzip twice", "gzip,identity,gzip", two.deflated(asGzip: true), text + more),
    ]

    @Test("A body is what all of its coded bytes stand for", arguments: whole, [nil, 1])
    func decoded(body: Body, pieceSize: Int?) async throws {
        try await withServer { server in
            let response = TestResponse(headers: ["Content-Encoding": body.coding], body: body.bytes)
            server.route("/a", response.with { $0.pieceSize = pieceSize ?? $0.pieceSize })
            let (recorder, error) = await load(server.url("/a"))
            #expect(error == nil)
            #expect(recorder.received(body.decoded))
            #expect(recorder.log.metrics?.exchanges.last?.bytesReceived == Int64(body.decoded.count))
            #expect(server.lastRequest("/a")?.header("Accept-Encoding") == "gzip, deflate")
        }
    }

    @Test("It does not matter where the bytes are split", arguments: whole) func split(body: Body) throws {
        for place in 0...body.bytes.count {
            let decoder = try #require(ContentCoding(body.coding).decoder)
            var decoded = Data()
            for part in [body.bytes.prefix(place), body.bytes.dropFirst(place)] {
                let isTaken = part.withUnsafeBytes { bytes in
                    decoder.decode(bytes) { piece in
                        decoded.append(contentsOf: piece)
                        return true
                    }
                }
                #expect(isTaken)
            }
            #expect(decoded == body.decoded && decoder.isComplete && !decoder.isDamaged, "\(place)")
        }
    }

    @Test("A body that ends within a member is an error, whatever came before") func cut() async throws {
        try await withServer { server in
            // At the end of the first member, and a byte behind, the body is whole.
            for count in [1, 2, 3, 12, Self.one.count - 1, Self.one.count + 2, Self.one.count + 9, Self.two.count - 1] {
                server.route("/a", TestResponse(headers: ["Content-Encoding": "gzip"], body: Self.two.prefix(count)))
                let (_, error) = await load(server.url("/a"))
                #expect(error?.code == .cannotDecodeContentData, "\(count)")
                #expect(error?.message == "The compressed body ends too early.", "\(count)")
            }
            server.route("/a", TestResponse(headers: ["Content-Encoding": "deflate"], body: Self.raw.dropLast()))
            let (_, error) = await load(server.url("/a"))
            #expect(error?.message == "The compressed body ends too early.")
        }
    }

    @Test("A wrong byte in any member is an error") func damaged() async throws {
        try await withServer { server in
            // The magic number, the method, a checksum; of the second member the method and its length.
            for place in [0, 1, 2, Self.one.count - 5, Self.one.count + 2, Self.two.count - 1] {
                var bytes = [UInt8](Self.two)
                bytes[place] ^= 0x40
                server.route("/a", TestResponse(headers: ["Content-Encoding": "gzip"], body: Data(bytes)))
                let (_, error) = await load(server.url("/a"))
                #expect(error?.code == .cannotDecodeContentData, "\(place)")
                #expect(error?.message == "The compressed body is damaged.", "\(place)")
            }
        }
    }

    @Test("The members of a body count together against the limit") func limit() async throws {
        try await withServer { server in
            let member = Data(count: 3 << 20).deflated(asGzip: true)
            server.route("/a", TestResponse(headers: ["Content-Encoding": "gzip"], body: member + member))
            var policy = TransportPolicy.patient
            for (limit, code) in [(6 << 20, nil), (4 << 20, URLError.Code.dataLengthExceedsMaximum)] {
                policy.maxBodyBytes = limit
                let (recorder, error) = await load(server.url("/a"), policy: policy)
                #expect(error?.code == code)
                #expect(recorder.log.body.count <= limit)
            }
        }
    }

    @Test("The body of a redirect is not decoded") func redirect() async throws {
        try await withServer { server in
            for coding in ["gzip", "br"] {
                let fields = ["Location": "/b", "Content-Encoding": coding]
                server.route("/a", TestResponse(status: 302, headers: fields, body: Data("Moved.".utf8)))
                server.route("/b", .data(hundredKilobytes))
                let (recorder, error) = await load(server.url("/a"))
                #expect(error == nil && recorder.received(hundredKilobytes))
            }
        }
    }

    @Test("A coding that cannot be undone is named") func unknown() async throws {
        try await withServer { server in
            func error(of coding: String) async -> TransportError? {
                server.route("/a", TestResponse(headers: ["Content-Encoding": coding], body: Self.one))
                return await load(server.url("/a")).1
            }
            for coding in ["br", "gzip, zstd"] {
                let error = await error(of: coding)
                #expect(error?.code == .cannotDecodeContentData)
                #expect(error?.message.contains("\"\(coding)\", which cannot be undone") == true)
            }
            let many = await error(of: Array(repeating: "gzip", count: 6).joined(separator: ", "))
            #expect(many?.code == .cannotDecodeContentData)
        }
    }
}
