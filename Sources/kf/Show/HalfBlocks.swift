// Images made of the character ▀ in 24-bit colours, two pixels in each character.

/// Draws with half blocks, which every terminal with colours can show.
enum HalfBlocks {
    /// One line of text for every two rows of pixels, each ending in the terminal's own colours.
    static func lines(_ pixels: ShownPixels) -> [String] {
        stride(from: 0, to: pixels.height, by: 2).map { line(pixels, upper: $0) }
    }

    private static func line(_ pixels: ShownPixels, upper row: Int) -> String {
        var text = ""
        var pen = Pen()
        for x in 0..<pixels.width {
            let upper = pixels.colors[row * pixels.width + x]
            let lower =
                row + 1 < pixels.height ? pixels.colors[(row + 1) * pixels.width + x] : ShownPixels.nothing
            switch (upper, lower) {
            case (ShownPixels.nothing, ShownPixels.nothing): text += pen.change(background: lower) + " "
            case (ShownPixels.nothing, _): text += pen.change(foreground: lower, background: upper) + "▄"
            default: text += pen.change(foreground: upper, background: lower) + "▀"
            }
        }
        return text + pen.change(foreground: ShownPixels.nothing, background: ShownPixels.nothing)
    }

    /// The terminal's current colours, changed only where they differ.
    private struct Pen {
        private var foreground = ShownPixels.nothing
        private var background = ShownPixels.nothing

        mutating func change(foreground new: UInt32? = nil, background newBackground: UInt32) -> String {
            var codes: [String] = []
            if let new, new != foreground {
                codes.append(new == ShownPixels.nothing ? "39" : "38;2;" + Self.text(new))
                foreground = new
            }
            if newBackground != background {
                codes.append(newBackground == ShownPixels.nothing ? "49" : "48;2;" + Self.text(newBackground))
                background = newBackground
            }
            return codes.isEmpty ? "" : "\u{1B}[\(codes.joined(separator: ";"))m"
        }

        private static func text(_ color: UInt32) -> String {
            let color = ShownColor(color)
            return "\(color.red);\(color.green);\(color.blue)"
        }
    }
}
