// Images as sixels: strips of six rows, one colour after the other.

/// Draws with the graphics of DEC's terminals, which some emulators still understand.
///
/// There are at most 256 colours; if the image has more, they are chosen by median cut, and errors are diffused. Pixels
/// that are left out stay as they are.
enum Sixel {
    /// The number of rows in a strip.
    static let stripHeight = 6

    /// The whole sequence, from `ESC P` to `ESC \`.
    static func sequence(_ pixels: ShownPixels) -> [UInt8] {
        let pixels = IndexedPixels(pixels)
        // The second 1 leaves what is not drawn as it is; pixels are square.
        var bytes = Array("\u{1B}P0;1;0q\"1;1;\(pixels.width);\(pixels.height)".utf8)
        for (index, color) in pixels.palette.enumerated() {
            let color = ShownColor(color)
            let parts = [color.red, color.green, color.blue].map { "\(($0 * 100 + 127) / 255)" }
            bytes += Array("#\(index);2;\(parts.joined(separator: ";"))".utf8)
        }
        for top in stride(from: 0, to: pixels.height, by: stripHeight) {
            if top > 0 { bytes.append(UInt8(ascii: "-")) }
            add(strip(pixels, top: top), width: pixels.width, to: &bytes)
        }
        return bytes + Array("\u{1B}\\".utf8)
    }

    /// The sixels of the whole width for each colour of a strip: one bit per row, the lowest at the top.
    private static func strip(_ pixels: IndexedPixels, top: Int) -> [(index: Int, sixels: [UInt8])] {
        var rows: [[UInt8]?] = Array(repeating: nil, count: pixels.palette.count)
        for y in top..<min(top + stripHeight, pixels.height) {
            for x in 0..<pixels.width {
                let index = pixels.indices[y * pixels.width + x]
                guard index != IndexedPixels.nothing else { continue }
                if rows[index] == nil { rows[index] = [UInt8](repeating: 0, count: pixels.width) }
                rows[index]?[x] |= 1 << UInt8(y - top)
            }
        }
        return rows.enumerated().compactMap { index, sixels in sixels.map { (index, $0) } }
    }

    private static func add(_ colors: [(index: Int, sixels: [UInt8])], width: Int, to bytes: inout [UInt8]) {
        for (position, color) in colors.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: "$")) }
            bytes += Array("#\(color.index)".utf8)
            let end = (color.sixels.lastIndex { $0 != 0 } ?? -1) + 1
            var start = 0
            while start < end {
                let sixel = color.sixels[start]
                let stop = color.sixels[start..<end].firstIndex { $0 != sixel } ?? end
                let (count, character) = (stop - start, sixel + 63)
                bytes += count > 3 ? Array("!\(count)".utf8) + [character] : Array(repeating: character, count: count)
                start = stop
            }
        }
    }
}
