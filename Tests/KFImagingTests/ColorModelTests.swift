// Colours, their descriptions, and the colours of images.

import Foundation
import KFImaging
import Testing

@Suite struct ColorModelTests {
    @Test("Colours of Display P3 may lie beyond 0 to 1 in sRGB") func displayP3() {
        let color = Color(displayP3Red: 0, green: 1, blue: 0, alpha: 0.8)
        let rgba = color.rgba
        #expect(abs(rgba.r + 0.5116) < 1e-3 && abs(rgba.g - 1.0183) < 1e-3 && abs(rgba.b + 0.3107) < 1e-3)
        #expect(rgba.a == 0.8)
        let white = Color(displayP3Red: 1, green: 1, blue: 1)
        #expect(abs(white.red - 1) < 1e-5 && abs(white.green - 1) < 1e-5 && abs(white.blue - 1) < 1e-5)
    }

    @Test("Named colours have the components of the table") func namedColors() {
        func rgba(_ color: Color) -> [CGFloat] { [color.red, color.green, color.blue, color.alpha] }
        let table: [(Color, [CGFloat])] = [
            (.black, [0, 0, 0, 1]), (.white, [1, 1, 1, 1]), (.clear, [0, 0, 0, 0]), (.red, [1, 0, 0, 1]),
            (.green, [0, 1, 0, 1]), (.blue, [0, 0, 1, 1]), (.cyan, [0, 1, 1, 1]), (.magenta, [1, 0, 1, 1]),
            (.yellow, [1, 1, 0, 1]), (.orange, [1, 0.5, 0, 1]), (.purple, [0.5, 0, 0.5, 1]),
            (.brown, [0.6, 0.4, 0.2, 1]), (.gray, [0.5, 0.5, 0.5, 1]),
            (.darkGray, [1.0 / 3, 1.0 / 3, 1.0 / 3, 1]), (.lightGray, [2.0 / 3, 2.0 / 3, 2.0 / 3, 1]),
        ]
        for (color, components) in table { #expect(rgba(color) == components) }
        #expect(Color(white: 0.3, alpha: 0.2) == Color(red: 0.3, green: 0.3, blue: 0.3, alpha: 0.2))
        #expect(Color.red.withAlphaComponent(0.25) == Color(red: 1, green: 0, blue: 0, alpha: 0.25))
    }

    @Test("Descriptions of colours have two decimals, identifiers more where they need them")
    func descriptions() {
        #expect(Color.red.rgbaDescription == "(1.00,0.00,0.00,1.00)")
        #expect("\(Color.brown.withAlphaComponent(0.5))" == "(0.60,0.40,0.20,0.50)")
        #expect(Color.brown.identifierText == "(0.60,0.40,0.20,1.00)")
        let (one, two) = (Color(white: 127.0 / 255), Color(white: 128.0 / 255))
        #expect(one.rgbaDescription == two.rgbaDescription && one.identifierText != two.identifierText)
        #expect(Color(white: 0.125).identifierText == "(0.12,0.12,0.12,1.00)_0.125,0.125,0.125,1.0")
        // Small differences are kept as well: the limit is 1e-6 of a hundredth.
        #expect(Color(white: 0.500_001).identifierText != Color(white: 0.5).identifierText)
        #expect(Color(white: 0.29).identifierText == "(0.29,0.29,0.29,1.00)")
    }

    @Test("A premultiplied pixel is the nearest one to its colour") func premultipliedPixel() {
        #expect(Color.red.withAlphaComponent(0.5).premultipliedPixel == 0x8080_0000)
        #expect(Color(displayP3Red: 0, green: 1, blue: 0).premultipliedPixel == 0xFF00_FF00)
        #expect(Color(red: .nan, green: .infinity, blue: -.infinity, alpha: 5).premultipliedPixel == 0xFF00_FF00)
        #expect(Color(premultipliedPixel: 0x8040_0080) == Color(red: 0.5, green: 0, blue: 1, alpha: 128.0 / 255))
        #expect(Color(premultipliedPixel: 0) == .clear)
    }
}

@Suite struct PaletteTests {
    @Test("The average colour weighs pixels by their alpha") func averageColor() throws {
        let image = Image(cgImage: .of([[0xFFFF_0000, 0xFF00_00FF], [0, 0x8000_8000]]))
        let color = try #require(image.averageColor)
        let sum = 255.0 * 2 + 128
        #expect(abs(color.red - 255 / sum) < 1e-9 && abs(color.green - 128 / sum) < 1e-9)
        #expect(abs(color.blue - 255 / sum) < 1e-9 && abs(color.alpha - sum / 1020) < 1e-9)
        #expect(Image(cgImage: .solid(0, 3, 3)).averageColor == .clear)
        #expect(Image().averageColor == nil)
        #expect(Image(cgImage: .solid(0xFF33_6699, 640, 480)).averageColor == Color(red: 0.2, green: 0.4, blue: 0.6))
    }

    @Test("The dominant colour is the most frequent one, with its shades") func dominantColor() throws {
        // Shades of one green outnumber each of the others, but are fewer than all of them.
        let shades = (0..<12).map { 0xFF10_A010 + UInt32($0 % 4) }
        let words: [UInt32] = shades + (12..<30).map { 0xFF00_0003 + UInt32($0) * 0x08_0003 }
        let color = try #require(Image(cgImage: .of([words])).dominantColor)
        #expect(abs(color.red - 16 / 255) < 1e-3 && abs(color.green - 160 / 255) < 1e-9)
        #expect(abs(color.blue - (16 + 1.5) / 255) < 1e-9 && color.alpha == 1)
    }

    @Test("Translucent pixels count less for the dominant colour") func translucentPixels() {
        let image = Image(cgImage: .of([[0x7F00_007F, 0x7F00_007F, 0x8080_0000]]))
        #expect(image.dominantColor == .red)
        #expect(Image(cgImage: .solid(0x1010_1010, 2, 2)).dominantColor == nil)
        #expect(Image().dominantColor == nil)
    }

    @Test("Colours are picked from the upright image", arguments: Orientation.allCases)
    func pickedFromUprightImage(orientation: Orientation) throws {
        let words = (0..<3).map { y in (0..<4).map { (x: Int) -> UInt32 in 0xFF00_0000 | UInt32(y * 4 + x) } }
        let image = Image(cgImage: .of(words), scale: 2, orientation: orientation)
        let upright = try image.bitmap()
        for y in 0..<upright.height {
            for x in 0..<upright.width {
                let point = CGPoint(x: (CGFloat(x) + 0.4) / 2, y: CGFloat(y) / 2)
                #expect(image.color(at: point)?.blue == CGFloat(upright[x, y].b) / 255)
            }
        }
        let all = image.colors(in: CGRect(x: -9, y: -9, width: 99, height: 99))
        #expect(all.map(\.blue) == upright.rows.joined().map { CGFloat($0.b) / 255 })
        #expect(image.colors(in: CGRect(x: 0.5, y: 0, width: 0.5, height: 1)).count == 2)
    }

    @Test(
        "Outside the image there is no colour",
        arguments: [(-0.1, 0), (4, 0), (0, 3), (CGFloat.nan, 0), (.infinity, 0), (0, -.infinity), (1e300, 1)]
            as [(CGFloat, CGFloat)]
    )
    func noColorOutside(x: CGFloat, y: CGFloat) {
        let image = Image(cgImage: .solid(0xFF00_00FF, 4, 3))
        #expect(image.color(at: CGPoint(x: x, y: y)) == nil)
        #expect(image.colors(in: CGRect(x: 4, y: 0, width: 1, height: 1)).isEmpty)
        #expect(Image().color(at: .zero) == nil)
    }
}
