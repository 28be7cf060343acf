// The table of steps at the end of docs/kf.md is made from the parser's table.

import Foundation
import Testing

@testable import kf

@Suite struct StepsPageTests {
    private static let heading = "## Steps\n"
    private let page = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "docs/kf.md")

    @Test("docs/kf.md ends with all steps; `make steps-page` writes them") func upToDate() throws {
        let text = try String(contentsOf: page, encoding: .utf8)
        if ProcessInfo.processInfo.environment["KF_WRITE_STEPS_PAGE"] != nil {
            let kept = text.range(of: Self.heading).map { String(text[..<$0.lowerBound]) } ?? text + "\n"
            try (kept + Self.part).write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8).hasSuffix("\n" + Self.part))
    }

    @Test("Each example is its own step", arguments: PipelineParser.steps.map { [$0.name, $0.example] })
    func examples(step: [String]) throws {
        #expect(step[1].hasPrefix(step[0] + "("))
        #expect(try PipelineParser.parse(step[1]).count == 1)
    }

    private static var part: String {
        let rows = PipelineParser.steps.map { step in
            "| `\(cell(step.usage))` | \(cell(step.meaning)) | `\(cell(step.example))` |\n"
        }
        return heading + "\n| step | what it does | example |\n|---|---|---|\n" + rows.joined()
    }

    /// A bar would end the cell.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
