// The chart of a report: a bar for each row that has a baseline.

import Foundation

/// Bars that begin at the baseline.
///
/// To the left is less than it, to the right is more. Each line is twice the one before.
struct Chart {
    private struct Bar {
        let name: String
        /// Ours divided by the baseline's, or the other way round where more is better.
        let ratio: Double
        let isReached: Bool
    }

    private let bars: [Bar]

    init(_ rows: [Report.Row]) {
        bars = rows.compactMap { row in
            guard let figure = try? row.result.get(), let ratio = figure.timesBaseline, ratio.isFinite, ratio > 0
            else { return nil }
            // What is timed is a ratio of times already, rates too.
            let isMoreBetter = if case .atLeastTimes = figure.goal { true } else { false }
            return Bar(name: row.name, ratio: isMoreBetter ? 1 / ratio : ratio, isReached: figure.isReached)
        }
    }

    private static let (height, left, width, most) = (18, 640, 560, 5.0)

    /// Where a ratio is, in units of the drawing; ratios beyond 32 are at the edge.
    private func place(_ ratio: Double) -> Double {
        let steps = min(max(log2(ratio), -Self.most), Self.most)
        return Double(Self.left) + (steps / Self.most + 1) / 2 * Double(Self.width)
    }

    var svg: String {
        let all = bars.count * Self.height + 40
        let lines = (-5...5).map { step -> String in
            let x = place(exp2(Double(step)))
            let text = step < 0 ? "1/\(1 << -step)" : "\(1 << step)×"
            return """
                <line x1="\(x)" y1="24" x2="\(x)" y2="\(all)" stroke="\(step == 0 ? "#444" : "#ddd")"/>
                <text x="\(x)" y="16" text-anchor="middle">\(text)</text>
                """
        }
        let drawn = bars.enumerated().map { index, bar -> String in
            let (y, one, end) = (28 + index * Self.height, place(1), place(bar.ratio))
            return """
                <text x="\(Self.left - 10)" y="\(y + 11)" text-anchor="end">\(escaped(bar.name))</text>
                <rect x="\(min(one, end))" y="\(y)" width="\(max(abs(end - one), 1))" height="\(Self.height - 5)" \
                fill="\(bar.isReached ? "#2f8f6b" : "#d9822b")"/>
                """
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.left + Self.width + 30)" height="\(all + 30)" \
            font-family="sans-serif" font-size="11">
            <rect width="100%" height="100%" fill="white"/>
            \(lines.joined(separator: "\n"))
            \(drawn.joined(separator: "\n"))
            <text x="\(place(1))" y="\(all + 18)" text-anchor="middle">left of the line: less than the baseline takes; \
            orange: short of its goal</text>
            </svg>

            """
    }

    private func escaped(_ text: String) -> String {
        let short = text.count > 100 ? String(text.prefix(99)) + "…" : text
        return short.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
