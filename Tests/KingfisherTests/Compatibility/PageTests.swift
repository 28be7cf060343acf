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

    /// The pages of the site: articles, and links to the pages of the folder docs.
    private static func articles() throws -> [String] {
        let modules = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
        return try modules.sorted().flatMap { module in
            let catalog = "Sources/\(module)/\(module).docc"
            return FileManager.default.fileExists(atPath: root.appendingPathComponent(catalog).path)
                ? try files(in: catalog, ".md") : []
        }
    }

    /// The code below each comment that names a source file.
    private static func samples() throws -> [(page: String, file: String, code: String)] {
        let sample = /<!-- (?<file>\S+\.swift) -->\n```swift\n(?<code>(?s).*?)```/
        let pages = try ["README.md"] + articles()
        return try pages.flatMap { page in
            try text(page).matches(of: sample).map { (page, String($0.file), String($0.code)) }
        }
    }

    @Test("The samples of pages that name a file are what is compiled there") func samplesAreCompiled() throws {
        let samples = try Self.samples()
        #expect(samples.count >= 3)
        for sample in samples {
            var lines = try Self.text(sample.file).split(separator: "\n", omittingEmptySubsequences: false)[...]
            if sample.file.hasPrefix("Snippets/") { lines = lines.drop { $0.hasPrefix("//") } }
            if lines.first == "#if canImport(CKFGTK4)" {
                lines = (lines.dropFirst().prefix { $0 != "#else" } + [""])[...]
            }
            #expect(sample.code == lines.joined(separator: "\n"), "\(sample.page) differs from \(sample.file)")
        }
    }

    @Test("Every snippet is shown by an article, each of its slices, too, and articles show no others")
    func snippetsAreShown() throws {
        let snippet = /@Snippet\(path: "Kingfisher\/(?<file>[^"]+)"(?:, slice: "(?<slice>[^"]+)")?\)/
        let shown = try Self.articles().flatMap { page in
            try Self.text(page).matches(of: snippet).map { match in
                match.slice.map { "\(match.file).swift, \($0)" } ?? "\(match.file).swift"
            }
        }
        let there = try Self.files(in: "Snippets", ".swift").flatMap { file in
            let slices = try Self.text(file).matches(of: /(?m)^ *\/\/ snippet\.(?<slice>(?!(?:end|hide|show)\b)\S+)/)
            return slices.isEmpty ? [file] : slices.map { "\(file), \($0.slice)" }
        }
        #expect(shown.sorted() == there.sorted())
    }

    @Test("Every page of the folder docs is on the site") func pagesAreOnTheSite() throws {
        let linked = try Self.articles().compactMap { page in
            try? FileManager.default.destinationOfSymbolicLink(atPath: Self.root.appendingPathComponent(page).path)
        }
        #expect(Set(linked) == Set(try Self.files(in: "docs", ".md").map { "../../../\($0)" }))
    }

    @Test("The article about processors has a line for each cell of the gallery") func galleryHasItsCode() throws {
        let gallery = try Self.text("Sources/kf-demo/Exhibit.swift")
        let cells = gallery.matches(of: /Exhibit\(\s*"(?<step>[^"]+)"/).map(\.step)
        let lines = try Self.text("Snippets/Processors.swift")
        #expect(cells.count >= 30)
        for step in cells { #expect(lines.contains("// \(step)"), "\(step)") }
    }

    @Test("The links of pages to files of the repository lead somewhere") func links() throws {
        let pages =
            try ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md"]
            + Self.files(in: "docs", ".md")
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

    @Test(
        "The pages that say how to begin name the packages that the scripts install and that the manifest says are missing",
        arguments: ["README.md", "Sources/Kingfisher/Kingfisher.docc/GettingStarted.md"]
    )
    func packages(page: String) throws {
        func packages(of path: String, _ pattern: Regex<(Substring, Substring)>) throws -> Set<Substring> {
            Set(try Self.text(path).matches(of: pattern).flatMap { $0.1.split { " \\\n".contains($0) } })
        }
        let named = try packages(of: page, /apt-get install ([^\n]*)/)
        let manifest = try packages(of: "Package.swift", /apt: "([^"]+)"/)
        // Those of traits.
        let optional: Set<Substring> = ["libheif-dev", "libjxl-dev"]
        #expect(named.subtracting(["pkg-config"]) == manifest.subtracting(optional))
        let script = try Self.text("Scripts/install-dependencies")
        for package in manifest { #expect(script.contains(package)) }
    }

    @Test("README.md has at most 1,400 words, ARCHITECTURE.md at most 250 lines") func lengths() throws {
        #expect(try Self.text("README.md").split(whereSeparator: \.isWhitespace).count <= 1_400)
        #expect(try Self.text("ARCHITECTURE.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 250)
    }

    @Test("The files that ARCHITECTURE.md names are there") func namedFiles() throws {
        let present = Set(
            ["Sources", "Server/Sources"].flatMap { folder in
                let files = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent(folder).path)
                return (files?.allObjects as? [String] ?? []).compactMap {
                    $0.split(separator: "/").last.map(String.init)
                }
            }
        )
        let name = /`(?:[A-Za-z0-9+_.-]+\/)*(?<file>[A-Za-z0-9+_]+\.(?:swift|c))`/
        let named = try Self.text("ARCHITECTURE.md").matches(of: name).map { String($0.file) }
        #expect(named.count > 80)
        for file in named { #expect(present.contains(file), "There is no \(file)") }
    }
}
