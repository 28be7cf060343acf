// The words and numbers of a row: for the table and for the report.

import Foundation

/// A row as text.
struct FigureText {
    let ours, baseline, ratio, goal, verdict: String

    init(_ figure: Figure) {
        ours = text(figure.ours)
        baseline = figure.baseline.map(text) ?? "–"
        ratio = ratioText(figure)
        goal = target(figure.goal)
        let verdict = figure.isReached ? "ok" : "falls short"
        self.verdict = ([verdict] + (figure.similarity.map { [text($0)] } ?? [])).joined(separator: "  ")
    }
}

private func text(_ quantity: Quantity) -> String {
    switch quantity {
    case .seconds(let seconds) where seconds < 1e-3: number(seconds * 1e6, "µs")
    case .seconds(let seconds): number(seconds * 1e3, "ms")
    case .bytes(let bytes) where bytes < 1e6: number(bytes / 1e3, "KB")
    case .bytes(let bytes): number(bytes / 1e6, "MB")
    case .rate(let rate): number(rate, "/s")
    case .count(let count): String(count)
    case .average(let average): String(format: "%.2f", average)
    case .score(let score): String(format: "%.1f", score)
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

private func ratioText(_ figure: Figure) -> String {
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
    case .atLeast(let limit): "≥ \(text(limit))"
    case .atMostMore(let seconds): "≤ +\(text(.seconds(seconds)))"
    case .below(let limit): "< \(text(limit))"
    case .exactly(let count): "= \(count)"
    }
}

private func number(_ value: Double) -> String {
    String(format: "%g", value)
}
