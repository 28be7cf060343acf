// Columns of text that line up, for `kf cache list`.

/// A table for a terminal: words to the left, amounts to the right.
struct TextTable {
    /// The side a column's texts are aligned to.
    enum Side { case left, right }

    private let columns: [(title: String, side: Side)]
    private var rows: [[String]] = []

    init(_ columns: (String, Side)...) { self.columns = columns.map { (title: $0.0, side: $0.1) } }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; missing cells stay empty.
    mutating func add(_ cells: String...) {
        rows.append(columns.indices.map { $0 < cells.count ? cells[$0] : "" })
    }

    /// The titles, a rule and the rows, with two spaces between columns and none at the end of a line.
    var lines: [String] {
        let titles = columns.map(\.title)
        let widths = columns.indices.map { column in ([titles] + rows).map { $0[column].count }.max() ?? 0 }
        let rule = widths.map { String(repeating: "-", count: $0) }
        return ([titles, rule] + rows).map { cells in
            let padded = columns.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - cells[column].count)
                return columns[column].side == .left ? cells[column] + space : space + cells[column]
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
