// The ways to draw in a terminal, and the largest size of an image with each of them.

import ArgumentParser

/// A way to draw images in a terminal.
enum ShowProtocol: String, Sendable {
    case kitty, sixel, blocks
}

/// The values of `--protocol`.
enum ShowProtocolChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, kitty, sixel, blocks

    /// The protocol that was named; nil when the terminal is to be asked.
    var named: ShowProtocol? { ShowProtocol(rawValue: rawValue) }
}

/// The size of the terminal.
struct TerminalSize: Equatable, Sendable {
    var columns = 80
    /// Nil where there is no limit, as in a file.
    var rows: Int?
    /// The size of a character in pixels, if the terminal reports it.
    var cell: (width: Int, height: Int)?

    static func == (one: TerminalSize, other: TerminalSize) -> Bool {
        one.columns == other.columns && one.rows == other.rows && one.cell?.width == other.cell?.width
            && one.cell?.height == other.cell?.height
    }
}

/// The size of an image in pixels, and the lines it takes.
struct ShowLayout: Equatable, Sendable {
    let width: Int
    let height: Int
    let lines: Int

    /// Shrinks an image to the terminal without the line for the prompt; never enlarges it.
    init(width: Int, height: Int, in size: TerminalSize, columns: Int?, with form: ShowProtocol) {
        // A common size of characters, for terminals that do not report theirs.
        let cell = form == .blocks ? (width: 1, height: 2) : size.cell ?? (width: 8, height: 16)
        let room = max(1, min(columns ?? size.columns, size.rows == nil ? .max : size.columns))
        let rows = size.rows.map { max(1, $0 - 1) }
        let across = Double(room * cell.width) / Double(max(1, width))
        // A sixel strip that reaches into the last line would make some terminals scroll.
        let slack = form == .sixel ? Sixel.stripHeight - 1 : 0
        let down = rows.map { Double(max(1, $0 * cell.height - slack)) / Double(max(1, height)) } ?? 1
        let factor = min(1, across, down)
        self.width = max(1, Int((Double(width) * factor).rounded(.down)))
        self.height = max(1, Int((Double(height) * factor).rounded(.down)))
        lines = (self.height + slack + cell.height - 1) / cell.height
    }
}
