// Which file and which URL a source stands for, whatever characters its name has.

import Foundation
import Glibc
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SourceNamesTests {
    private static func bytes(_ text: String, _ more: UInt8...) -> [UInt8] { Array(text.utf8) + more }

    /// Names of files as bytes, and as they stand in the path of a request.
    private static let names: [(name: [UInt8], sent: String)] = [
        (bytes("3js 5.png"), "3js%205.png"), (bytes("3js%205.png"), "3js%25205.png"),
        (bytes("3js%25205.png"), "3js%2525205.png"), (bytes("100%.png"), "100%25.png"),
        (bytes("caf", 0xE9), "caf%e9"), (bytes("caf", 0xE8), "caf%E8"), (bytes("caf%E9"), "caf%25E9"),
        (bytes("caf\u{FFFD}"), "caf%EF%BF%BD"),
        // The same letter as one character and as two, and a mark that joins the slash before it.
        (bytes("\u{E9}.png"), "%C3%A9.png"), (bytes("e\u{301}.png"), "e%CC%81.png"),
        (bytes("\u{301}.png"), "%cc%81.png"), (bytes("a#b?c+d@e&f=g;h.png"), "a%23b%3Fc+d%40e&f=g;h.png"),
        (bytes("..png"), "..png"), (bytes("%2e%2e%2f"), "%252e%252e%252f"),
    ]

    /// Writes an image whose width tells it from others, under a name of any bytes.
    private func write(_ width: Int, as name: [UInt8], in folder: URL) throws {
        let file = folder.appendingPathComponent("new")
        try #require(Quadrants.image(width, 10).pngData()).write(to: file)
        let target: [UInt8] = Array(folder.path.utf8) + [UInt8(ascii: "/")] + name
        try #require(rename(file.path, target.map { CChar(bitPattern: $0) } + [0]) == 0)
    }

    private func width(of source: String, _ rig: RenderingRig) async throws -> Int {
        let result = try await rig.renderer.render(try rig.request("f:png", source: source))
        return try Pixels(result.image.data).size[0]
    }

    @Test("A file is the one whose name was sent, and none with a name that looks like it") func files() async throws {
        try await RenderingRig.run { rig in
            let folder = rig.directory.appendingPathComponent("files")
            for (index, file) in Self.names.enumerated() { try write(20 + index, as: file.name, in: folder) }
            for (index, file) in Self.names.enumerated() {
                #expect(try await width(of: "local:///\(file.sent)", rig) == 20 + index, "\(file.sent)")
            }
            for missing in ["100%2525.png", "caf%25e9", "caf%25EF%25BF%25BD", "e.png", "%252E%252E%252F"] {
                let error = try await rig.error(source: "local:///\(missing)")
                #expect(error?.kind == "source_not_found", "\(missing)")
            }
        }
    }

    /// Two names that are the same as text, as they stand in the path of a request.
    private static let alike = ["caf%E9", "caf%EF%BF%BD"]

    @Test("PURGE is for the file whose name was sent, and for none with a name that looks like it")
    func purged() async throws {
        try await RenderingServer.run({ $0.fleet.purgeToken = "let-me" }) { server in
            let rig = server.rig
            let folder = rig.directory.appendingPathComponent("files")
            try write(20, as: Self.bytes("caf", 0xE9), in: folder)
            try write(21, as: Self.bytes("caf\u{FFFD}"), in: folder)
            func areMade() async throws -> [Bool] {
                var areMade: [Bool] = []
                for name in Self.alike {
                    let request = try rig.request("w:9/f:png", source: "local:///\(name)")
                    areMade.append(try await rig.renderer.render(request).image.cacheType == .none)
                }
                return areMade
            }
            #expect(try await areMade() == [true, true])
            for (name, expected) in zip(Self.alike, [[true, false], [false, true]]) {
                #expect(try await areMade() == [false, false])
                let fields = ["Authorization": "Bearer let-me"]
                let answer = try await server.get("/_/plain/local:///\(name)", fields, method: "PURGE")
                #expect(answer.status == 200)
                #expect(try await areMade() == expected)
            }
        }
    }

    @Test("How much work a file is does not tell it of another one with a name that looks like it")
    func remembered() async throws {
        try await RenderingRig.run { rig in
            let folder = rig.directory.appendingPathComponent("files")
            try write(2000, as: Self.bytes("caf", 0xE9), in: folder)
            try write(20, as: Self.bytes("caf\u{FFFD}"), in: folder)
            let requests = try Self.alike.map { try rig.request("w:1900/f:avif", source: "local:///\($0)") }
            _ = try await rig.renderer.render(requests[0])
            // The first file would take seconds, the second a twentieth of one.
            let capacity = rig.renderer.capacity
            capacity.observe(Capacity.Work(format: .avif, pixels: 1), seconds: 1e-4)
            let held = capacity.admit(Capacity.Work(pixels: 1e12), within: 100)
            let made = try await rig.renderer.render(requests[1], in: nil, within: 60)
            #expect(made.image.pixelWidth == 20)
            withExtendedLifetime(held) {}
        }
    }

    @Test(
        "A source's server is asked for what the source says: escapes stay, and what must be one becomes one",
        arguments: [
            ("a%2520ä.png", "/a%20%C3%A4.png"), ("a%2520[1].png", "/a%20%5B1%5D.png"), ("x%252F1%202", "/x%2F1%202"),
            ("caf%E9%2520", "/caf%E9%20"), ("100%25", "/100%25"), ("a%252fb%20", "/a%2fb%20"),
        ]
    )
    func urls(sent: String, asked: String) async throws {
        try await RenderingRig.run { rig in
            rig.server.route(asked, try Quadrants.png())
            #expect(try await width(of: rig.server.url("/").absoluteString + sent, rig) == 200)
            #expect(rig.server.count(asked) == 1)
        }
    }
}
