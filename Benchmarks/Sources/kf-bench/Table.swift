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
        let cells = [text(figure.ours), figure.baseline.map(text) ?? "–", ratio(figure), target(figure.goal)]
        let verdict = figure.isReached ? "ok" : "falls short"
        line(name, cells, ([verdict] + (figure.similarity.map { [text($0)] } ?? [])).joined(separator: "  "))
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

    private func text(_ quantity: Quantity) -> String {
        switch quantity {
        case .seconds(let seconds) where seconds < 1e-3: number(seconds * 1e6, "µs")
        case .seconds(let seconds): number(seconds * 1e3, "ms")
        case .bytes(let bytes): number(bytes / 1e6, "MB")
        case .rate(let rate): number(rate, "/s")
        case .fraction(let fraction): number(fraction * 100, "%")
        case .count(let count): String(count)
        case .average(let average): String(format: "%.2f", average)
        }
    }

    private func text(_ similarity: Similarity) -> String {
        let baseline = similarity.baseline.map { String(format: ", baseline %.1f dB", $0) } ?? ""
        return String(format: "PSNR %.1f dB", similarity.ours) + baseline
    }

    private func number(_ value: Double, _ unit: String) -> String {
        let digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3
        return String(format: "%.\(digits)f", value) + " " + unit
    }

    private func ratio(_ figure: Figure) -> String {
        guard let ratio = figure.timesBaseline else { return "–" }
        return switch figure.goal {
        case .faster: String(format: "%.2f× faster", 1 / ratio)
        case .share: String(format: "%.0f %%", 100 / ratio)
        case .atMostMore: String(format: "%+.3f µs", figure.moreThanBaseline * 1e6)
        default: String(format: "%.2f×", ratio)
        }
    }

    private func target(_ goal: Goal) -> String {
        switch goal {
        case .faster(let times): "≥ \(number(times))× faster"
        case .atMostTimes(let times): "≤ \(number(times))×"
        case .atLeastTimes(let times): "≥ \(number(times))×"
        case .shown: "–"
        case .share(let share): "≥ \(number(share * 100)) %"
        case .atMost(let limit): "≤ \(text(limit))"
        case .atMostMore(let seconds): "≤ +\(text(.seconds(seconds)))"
        case .below(let limit): "< \(text(limit))"
        case .exactly(let count): "= \(count)"
        }
    }

    private func number(_ value: Double) -> String {
        String(format: "%g", value)
    }
}
