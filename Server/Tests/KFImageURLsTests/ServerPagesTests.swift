// The pages about the server say what it counts, responds with and is set up by.

import Foundation
import KFImageURLs
import Testing

@Suite struct ServerPagesTests {
    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: "docs/\(name).md"), encoding: .utf8)
    }

    private static func source(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: "Server/Sources/\(path)"), encoding: .utf8)
    }

    /// The code of the server, all files as one text.
    private static func sources() throws -> String {
        let folder = root.appending(path: "Server/Sources")
        let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
        return try names.filter { $0.hasSuffix(".swift") }.map(source).joined()
    }

    @Test("Every metric is on the page about operating the server") func metrics() throws {
        let files = ["Operation/ServerMetrics.swift", "Routes/ImageRoutes.swift"]
        let code = try files.map { try Self.source("KingfisherServer/\($0)") }.joined()
        let names = Set(code.matches(of: /kf_[a-z_]{4,}/).map(\.output))
        #expect(names.count >= 9 && names.contains("kf_tier_available"))
        let page = try Self.page("server-operating")
        for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
    }

    @Test("Every kind of an error is on that page, in the row of its status") func statuses() throws {
        let rows = try Self.page("server-operating").split(separator: "\n").filter { $0.hasPrefix("| ") }
        let code = try Self.sources()
        let pairs = code.matches(of: /status: (?<status>\d{3}),\s+kind: "(?<kind>[a-z_]+)"/)
        #expect(pairs.count > 15)
        for pair in pairs {
            let row = rows.first { $0.hasPrefix("| \(pair.status)") && $0.contains("`\(pair.kind)`") }
            #expect(row != nil, "\(pair.status) \(pair.kind)")
        }
        // Those of URLs that are refused, and those whose status is that of the source's server.
        let errors = try Self.source("KFImageURLs/Paths/RequestError.swift")
        let kinds =
            errors.matches(of: /case \.\w+: "(?<kind>[a-z_]+)"/).map { String($0.kind) }
            + code.matches(of: /(?:kind|count\(error): "(?<kind>[a-z_]+)"/).map { String($0.kind) }
        #expect(kinds.count > 30)
        let page = try Self.page("server-operating")
        for kind in kinds { #expect(page.contains("`\(kind)`"), "\(kind)") }
    }

    @Test("Pages name no setting that there is not") func settings() throws {
        let known = Set(SettingsTable.all.flatMap(\.names) + ["KF_DECODER"])
        for name in ["server", "server-operating", "fleet", "imgproxy", "security"] {
            for match in try Self.page(name).matches(of: /`(?<setting>KF_[A-Z0-9_]+)\b/) {
                #expect(known.contains(String(match.setting)), "\(name): \(match.setting)")
            }
        }
    }

    @Test(
        "The defaults that the page tells in words are those of the settings",
        arguments: [
            ("KF_TIMEOUT", "10", "ten seconds in all"), ("KF_CONNECT_TIMEOUT", "3", "server three"),
            ("KF_MAX_REDIRECTS", "10", "of which ten are followed"), ("KF_MAX_SRC_FILE_SIZE", "20971520", "20 MiB"),
            ("KF_MAX_SRC_RESOLUTION", "50", "50 megapixels"), ("KF_MAX_ANIMATION_FRAMES", "100", "100 frames"),
            ("KF_SOURCE_TTL", "600", "ten minutes unless set"),
        ]
    )
    func defaults(name: String, value: String, words: String) throws {
        let setting = try #require(SettingsTable.all.first { $0.names.contains(name) })
        #expect(setting.show(ServerConfiguration()) == value)
        let page = try Self.page("server-operating").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(page.contains(words))
    }
}
