// The tables of options and steps in docs/kf.md are made from what the parser knows, and it accepts their examples.

import Foundation
import Testing

@testable import kf

@Suite struct ReferencePageTests {
    private let page = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "docs/kf.md")

    @Test("docs/kf.md has all options and steps; `make kf-reference` writes them") func upToDate() throws {
        let text = try String(contentsOf: page, encoding: .utf8)
        let written = ReferencePart.all.reduce(text) { page, part in part.written(into: page) }
        if ProcessInfo.processInfo.environment["KF_WRITE_REFERENCE"] != nil {
            try written.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == written)
    }

    @Test("Each step's example is that step", arguments: PipelineParser.steps.map { [$0.name, $0.example] })
    func steps(step: [String]) throws {
        #expect(step[1].hasPrefix(step[0] + "("))
        #expect(try PipelineParser.parse(step[1]).count == 1)
    }

    @Test(
        "Each option with a value has an example, which names it, and which the tool accepts",
        arguments: ListedOption.all.filter(\.argument.takesValue)
    )
    func options(option: ListedOption) throws {
        let example = try #require(option.example, "OptionExamples has none")
        let words = ExampleLine.words(example)
        #expect(!Set(words).isDisjoint(with: option.names), "\(example)")
        let directory = TestDirectory()
        defer { withExtendedLifetime(directory) {} }
        // The one file that the tool looks into while it reads its arguments.
        let certificates = try directory.write(Data("-----BEGIN CERTIFICATE-----".utf8), "company.pem")
        ExampleLine.check(words.map { $0 == "company.pem" ? certificates : $0 })
    }

    @Test("There are no other examples of options") func others() {
        #expect(ListedOption.all.filter(\.argument.takesValue).count == OptionExamples.all.count)
    }
}
