// The help: examples that are accepted, and what is told where.

import Foundation
import KFImaging
import Testing

@testable import kf

@Suite(.tags(.processes)) struct HelpTests {
    private static let commands = [
        "fetch", "prefetch", "info", "process", "variants", "compare", "sheet", "show", "hash", "dupes",
        "cache",
    ]

    @Test("Help begins with examples that fit a terminal, and that the tool accepts", arguments: [""] + commands)
    func examples(command: String) async throws {
        let result = try await TestDirectory().kf(command.isEmpty ? ["--help"] : ["help", command])
        let overview = result.output.prefix(upTo: try #require(result.output.range(of: "USAGE:")).lowerBound)
        let text = overview.split(separator: "\n\n", maxSplits: 1)
        let examples = try #require(text.last).split(separator: "\n").prefix { $0.hasPrefix("  kf \(command)") }
        #expect(examples.count >= 2 || command == "")
        for example in examples {
            #expect(example.count <= 74, "\(example)")
            ExampleLine.check(ExampleLine.words(example.dropFirst(2)))
        }
    }

    @Test("The tool accepts the examples of its page") func pageExamples() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/kf.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let examples = lines.filter { $0.hasPrefix("kf ") && !$0.contains("--generate-completion-script") }
        #expect(examples.count > 10)
        for example in examples { ExampleLine.check(ExampleLine.words(example)) }
    }

    @Test("The description of the Debian package names the formats that the tool writes")
    func packagedFormats() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/packages/build")
        let text = try String(contentsOf: script, encoding: .utf8)
        let list = try #require(text.firstMatch(of: /Reads and writes (?<formats>[^.]+)\./)).formats
        let named = list.replacing(" and ", with: ", ").split(separator: ", ").map(String.init)
        #expect(named.sorted() == OutputFormat.allCases.map(\.contentType.name).sorted())
    }

    @Test("Options of the network have their own section, where sources mostly are on it", arguments: commands)
    func networkOptions(command: String) async throws {
        let place = TestDirectory()
        let help = try await place.kf("help", command).output
        let isAboutNetwork = ["fetch", "prefetch"].contains(command)
        #expect(help.contains("\nNETWORK:\n") == isAboutNetwork)
        #expect(help.contains("  --proxy <url>") == isAboutNetwork)
        let all = try await place.kf(command, "--help-hidden").output
        #expect(all.contains("\nNETWORK:\n") == (command != "cache"))
    }

    @Test("The default quality is told, and true", arguments: ["jpg", "webp", "avif", "gif"])
    func defaultQuality(format: String) async throws {
        let place = TestDirectory()
        let help = try await place.kf("process", "--help").output
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let told = try #require(words.firstMatch(of: #/With a point, 0\.0 to 1\.0\. \(default: ([0-9]+)\)/#)).output.1
        try place.write(SampleImages.jpeg(), "in.jpg")
        for (name, more) in [("plain", []), ("told", ["-q", String(told)])] {
            #expect(try await place.kf(["process", "in.jpg", "-o", "\(name).\(format)"] + more).status == 0)
        }
        #expect(try place.data("plain.\(format)") == place.data("told.\(format)"))
    }

    @Test("Help says what is kept: copies in the cache, metadata, and the way up")
    func whatIsKept() async throws {
        for (command, phrases) in [
            (
                "fetch",
                ["a copy is kept in the cache for a week", "the location included", "turned upright, as their EXIF"]
            ),
            ("process", ["turned upright, as their EXIF data says, and lose it unless --keep is given"]),
        ] {
            let help = try await TestDirectory().kf("help", command).output
            let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for phrase in phrases { #expect(words.contains(phrase), "\(phrase)") }
        }
    }
}
