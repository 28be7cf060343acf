// README.md and the pages: their samples are files that are compiled, and the front door stays one page.

import Foundation
import Testing

@Suite struct PageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    private static func files(in folder: String, _ ending: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The code below each comment that names a source file.
    private static func samples() throws -> [(page: String, file: String, code: String)] {
        let sample = /<!-- (?<file>\S+\.swift) -->\n```swift\n(?<code>(?s).*?)```/
        let pages =
            try ["README.md"] + files(in: "docs", ".md") + files(in: "Sources/Kingfisher/Kingfisher.docc", ".md")
        return try pages.flatMap { page in
            try text(page).matches(of: sample).map { (page, String($0.file), String($0.code)) }
        }
    }

    @Test("The samples of pages that name a file are what is compiled there") func samplesAreCompiled() throws {
        let samples = try Self.samples()
        #expect(samples.count >= 12)
        for sample in samples {
            let lines = try Self.text(sample.file).split(separator: "\n", omittingEmptySubsequences: false)
            let code = lines.drop { $0.hasPrefix("//!") }.joined(separator: "\n")
            #expect(sample.code == code, "\(sample.page) differs from \(sample.file)")
        }
    }

    @Test("Every snippet is on a page") func snippetsAreShown() throws {
        let shown = Set(try Self.samples().map(\.file))
        for snippet in try Self.files(in: "Snippets", ".swift") { #expect(shown.contains(snippet)) }
    }

    @Test("The links of pages to files of the repository lead somewhere") func links() throws {
        let pages = try ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"] + Self.files(in: "docs", ".md")
        for page in pages {
            let text = try Self.text(page)
            let targets =
                text.matches(of: /\]\((?<path>[^)\s]+)\)/).map(\.path)
                + text.matches(of: /(?m)^\[[^\]]+\]: (?<path>\S+)$/).map(\.path)
            for target in targets where !target.contains("://") && !target.hasPrefix("#") {
                let path = target.prefix { $0 != "#" }
                let file = Self.root.appendingPathComponent(page).deletingLastPathComponent()
                    .appendingPathComponent(String(path))
                #expect(FileManager.default.fileExists(atPath: file.path), "\(page) links to \(target)")
            }
        }
    }

    @Test("README.md names the packages that the scripts install and that the manifest says are missing")
    func packages() throws {
        func packages(of path: String, _ pattern: Regex<(Substring, Substring)>) throws -> Set<Substring> {
            Set(try Self.text(path).matches(of: pattern).flatMap { $0.1.split { " \\\n".contains($0) } })
        }
        let named = try packages(of: "README.md", /apt-get install ((?:-y )?pkg-config[^\n]*\\\n[^\n]*)/)
        let manifest = try packages(of: "Package.swift", /apt: "([^"]+)"/)
        let optional: Set<Substring> = ["libgtk-4-dev", "libheif-dev", "libjxl-dev"]
        #expect(named.subtracting(["-y", "pkg-config"]) == manifest.subtracting(optional))
        let script = try Self.text("Scripts/install-dependencies")
        for package in manifest { #expect(script.contains(package)) }
    }

    @Test("README.md has at most 1,400 words") func frontDoor() throws {
        #expect(try Self.text("README.md").split(whereSeparator: \.isWhitespace).count <= 1_400)
    }
}
