// Pixels by the names of their components.

import KFImaging
import Testing

@Suite struct BitmapPixelTests {
    @Test("Components have their names, and places outside are those at the edge")
    func reading() {
        let bitmap = Bitmap(width: 2, height: 1) { memory, _ in
            memory.copyBytes(from: [1, 2, 3, 255, 10, 20, 30, 40])
        }
        #expect(bitmap[0, 0] == Bitmap.Pixel(red: 3, green: 2, blue: 1))
        #expect(bitmap[1, 0] == Bitmap.Pixel(red: 30, green: 20, blue: 10, alpha: 40))
        #expect(bitmap[-5, 9] == bitmap[0, 0] && bitmap[9, -1] == bitmap[1, 0])
    }

    @Test("Every pixel is changed on its own; colours are never more than alpha")
    func changing() throws {
        let bitmap = Bitmap.solid(0xFF10_2030, 5, 3)
        let changed = try bitmap.mapPixels { pixel in
            pixel.red = pixel.alpha - pixel.red
            pixel.alpha = 100
            pixel.blue = 200
        }
        #expect(changed.width == 5 && changed.height == 3 && changed.hasAlpha)
        for y in 0..<3 {
            for x in 0..<5 { #expect(changed[x, y] == Bitmap.Pixel(red: 100, green: 0x20, blue: 100, alpha: 100)) }
        }
        #expect(bitmap[0, 0] == Bitmap.Pixel(red: 0x10, green: 0x20, blue: 0x30))
        #expect(try !bitmap.mapPixels { $0.green = 0 }.hasAlpha)
    }
}
