// Generated images that look like a window: flat areas, lines, lettering, icons and a shadow.

import Foundation
import Kingfisher

/// Screenshot-like images, made of rectangles and letter-like strokes.
enum Screenshots {
    /// The bytes of a PNG of a mail program's window on a desktop.
    static func png(width: Int, height: Int) throws -> Data {
        var canvas = Canvas(width: width, height: height)
        canvas.drawDesktop()
        let window = Canvas.Area(x: width / 16, y: height / 14, width: width * 7 / 8, height: height * 6 / 7)
        canvas.drawShadow(around: window)
        canvas.drawWindow(window)
        return try SampleImages.png(canvas.bitmap)
    }
}

/// Opaque pixels to be drawn on.
private struct Canvas {
    struct Area {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }
    private let width: Int
    private let height: Int
    private var pixels: [UInt32]
    private var dice = Random(state: 2)

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        pixels = [UInt32](repeating: 0xFF30_3A48, count: width * height)
    }

    var bitmap: Bitmap {
        Bitmap(width: width, height: height, hasAlpha: false) { memory, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    memory.storeBytes(
                        of: pixels[y * width + x],
                        toByteOffset: y * bytesPerRow + x * 4,
                        as: UInt32.self
                    )
                }
            }
        }
    }

    /// A gradient from top to bottom, as wallpapers often are.
    mutating func drawDesktop() {
        for y in 0..<height {
            let level = UInt32(60 + 80 * y / height)
            fill(Area(x: 0, y: y, width: width, height: 1), 0xFF00_0000 | level / 2 << 16 | level << 8 | (level + 60))
        }
    }

    /// Darkens the surroundings of an area.
    mutating func drawShadow(around area: Area) {
        let reach = 24
        for y in max(0, area.y - reach)..<min(height, area.y + area.height + reach) {
            for x in max(0, area.x - reach)..<min(width, area.x + area.width + reach) {
                let outside = max(area.x - x, x - area.x - area.width, area.y - y, y - area.y - area.height, 0)
                blend(x, y, 0xFF00_0000, UInt32(max(0, reach - outside) * 5))
            }
        }
    }

    mutating func drawWindow(_ area: Area) {
        fill(area, 0xFFFF_FFFF)
        fill(Area(x: area.x, y: area.y, width: area.width, height: 40), 0xFFEB_EBED)
        for button in 0..<3 {
            disc(area.x + 20 + button * 22, area.y + 20, 7, [0xFFED_6A5E, 0xFFF4_BF4F, 0xFF61_C554][button])
        }
        write(words: 3, at: area.x + area.width / 2 - 80, area.y + 14, 0xFF3A_3A3C, upTo: area.x + area.width)
        let sidebar = Area(x: area.x, y: area.y + 40, width: area.width / 5, height: area.height - 40)
        fill(sidebar, 0xFFF4_F5F7)
        drawEntries(sidebar)
        let page = Area(
            x: area.x + sidebar.width,
            y: sidebar.y,
            width: area.width - sidebar.width,
            height: sidebar.height
        )
        drawPage(page)
    }

    /// A list: icon, two lines of text, a rule below; one entry is selected.
    private mutating func drawEntries(_ area: Area) {
        for (index, y) in stride(from: area.y, to: area.y + area.height - 56, by: 56).enumerated() {
            let selected = index == 2
            if selected { fill(Area(x: area.x, y: y, width: area.width, height: 55), 0xFF0A_60FF) }
            disc(area.x + 28, y + 28, 16, 0xFF00_0000 | UInt32.random(in: 0...0xFF_FFFF, using: &dice))
            let end = area.x + area.width - 12
            write(words: 2, at: area.x + 56, y + 10, selected ? 0xFFFF_FFFF : 0xFF1C_1C1E, upTo: end)
            write(words: 5, at: area.x + 56, y + 32, selected ? 0xFFD0_E0FF : 0xFF8E_8E93, upTo: end)
            fill(Area(x: area.x + 56, y: y + 55, width: area.width - 56, height: 1), 0xFFE1_E2E4)
        }
    }

    /// Paragraphs of text with headings, and a bar chart.
    private mutating func drawPage(_ area: Area) {
        var y = area.y + 32
        while y < area.y + area.height - 40 {
            write(words: 4, at: area.x + 40, y, 0xFF11_1111, upTo: area.x + area.width - 40)
            y += 30
            for _ in 0..<Int.random(in: 3...6, using: &dice) where y < area.y + area.height - 30 {
                write(words: 30, at: area.x + 40, y, 0xFF33_3336, upTo: area.x + area.width - 40)
                y += 22
            }
            y += 20
        }
        let chart = Area(
            x: area.x + area.width * 5 / 8,
            y: area.y + area.height / 2,
            width: area.width / 3,
            height: 260
        )
        fill(chart, 0xFFF9_FAFB)
        for bar in 0..<(chart.width / 30) {
            let height = Int.random(in: 20...230, using: &dice)
            let area = Area(x: chart.x + 10 + bar * 30, y: chart.y + 250 - height, width: 20, height: height)
            fill(area, bar % 3 == 0 ? 0xFFFF_9F0A : 0xFF34_7AE2)
        }
    }

    /// Letters of strokes with soft edges; each of the 26 looks the same everywhere, as in a font.
    private mutating func write(words: Int, at x: Int, _ y: Int, _ color: UInt32, upTo end: Int) {
        var x = x
        for _ in 0..<words {
            for _ in 0..<Int.random(in: 2...9, using: &dice) {
                guard x + 9 < end else { return }
                drawLetter(UInt64.random(in: 0..<26, using: &dice), x, y, color)
                x += 9
            }
            x += 6
        }
    }

    private mutating func drawLetter(_ letter: UInt64, _ x: Int, _ y: Int, _ color: UInt32) {
        var shape = Random(state: letter + 1000)
        let bits = shape.next()
        // A stroke down, and up to three across; soft on one side.
        for row in 0..<12 {
            blend(x + 1, y + row, color, 230)
            blend(x + 2, y + row, color, UInt32(40 + (bits >> UInt64(row) & 7) * 12))
            if bits >> 20 & 1 == 1 { blend(x + 6, y + row, color, row > 4 ? 220 : 30) }
        }
        for (stroke, row) in [0, 5, 11].enumerated() where bits >> UInt64(30 + stroke) & 1 == 1 {
            for column in 2..<7 {
                blend(x + column, y + row, color, 210)
                blend(x + column, y + min(row + 1, 11), color, UInt32(bits >> UInt64(40 + column) & 63))
            }
        }
    }

    private mutating func fill(_ area: Area, _ color: UInt32) {
        for y in max(0, area.y)..<min(height, area.y + area.height) {
            for x in max(0, area.x)..<min(width, area.x + area.width) { pixels[y * width + x] = color }
        }
    }

    private mutating func disc(_ x: Int, _ y: Int, _ radius: Int, _ color: UInt32) {
        for row in -radius...radius {
            for column in -radius...radius {
                let distance = Double(row * row + column * column).squareRoot()
                blend(x + column, y + row, color, UInt32(min(max((Double(radius) + 0.5 - distance) * 255, 0), 255)))
            }
        }
    }

    private mutating func blend(_ x: Int, _ y: Int, _ color: UInt32, _ share: UInt32) {
        guard x >= 0, y >= 0, x < width, y < height else { return }
        let old = pixels[y * width + x]
        func mix(_ shift: UInt32) -> UInt32 {
            ((old >> shift & 255) * (255 - share) + (color >> shift & 255) * share + 127) / 255 << shift
        }
        pixels[y * width + x] = 0xFF00_0000 | mix(16) | mix(8) | mix(0)
    }
}
