// The parts of docs/kf.md that are made from what the tool knows: the table of options, and the table of steps.

import Foundation

@testable import kf

/// A part of the page: a heading, and a table below it.
struct ReferencePart: Sendable {
    let title: String
    let columns: [String]
    let rows: [[String]]

    static let all = [
        ReferencePart(
            title: "Options",
            columns: ["option", "commands", "what it does, and an example"],
            rows: ListedOption.all.map { option in
                let example = option.exampleValue.map { " " + code($0) } ?? ""
                return [code(option.usage), option.commandList, prose(option.argument.help) + example]
            }
        ),
        ReferencePart(
            title: "Steps",
            columns: ["step", "what it does", "example"],
            rows: PipelineParser.steps.map { [code($0.usage), prose($0.meaning), code($0.example)] }
        ),
    ]

    /// The page with this part in place of the one that it has, or at its end.
    func written(into page: String) -> String {
        let heading = "## \(title)\n"
        let line = { (cells: [String]) in "| \(cells.joined(separator: " | ")) |\n" }
        let rule = "|\(columns.map { _ in "---|" }.joined())\n"
        let text = heading + "\n" + line(columns) + rule + rows.map(line).joined()
        guard let start = page.range(of: "\n" + heading) else { return page + "\n" + text }
        let rest = page[start.upperBound...]
        let next = rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex
        return String(page[..<start.lowerBound]) + "\n" + text + String(rest[next...])
    }

    /// A bar would end the cell.
    private static func code(_ text: String) -> String { "`\(text.replacing("|", with: "\\|"))`" }

    /// Elements of HTML are text here.
    private static func prose(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("<", with: "\\<")
    }
}
