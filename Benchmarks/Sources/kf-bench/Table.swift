// Prints rows in columns as they are measured.

import Foundation

/// A text table whose first column is as wide as the longest name; numbers are right-aligned.
struct Table {
    private let nameWidth: Int

    init(names: [String]) { nameWidth = (names + ["work"]).map(\.count).max() ?? 0 }

    func printHeader() {
        line("work", ["ours", "baseline", "ratio", "target"], "")
        print(String(repeating: "-", count: nameWidth + 4 * 14 + 13))
    }

    func show(_ figure: Figure, named name: String) {
        let text = FigureText(figure)
        line(name, [text.ours, text.baseline, text.ratio, text.goal], text.verdict)
    }

    func show(_ error: any Error, named name: String) {
        line(name, ["–", "–", "–", "–"], "broken: \(error)")
    }

    private func line(_ name: String, _ cells: [String], _ verdict: String) {
        let padded = cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }
        let name = name + String(repeating: " ", count: nameWidth - name.count)
        print(([name] + padded + [verdict]).joined(separator: "  "))
        // The next row may take a while, and the output may be a pipe.
        fflush(nil)
    }
}
