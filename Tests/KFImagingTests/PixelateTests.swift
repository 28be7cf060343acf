// Squares in place of pixels, against their definition.

import KFImaging
import Testing

@Suite struct PixelateTests {
    @Test(
        "Squares have exactly the side, from the top left, and the mean of their premultiplied pixels",
        arguments: [(25, 25, 10), (25, 7, 2), (3, 40, 7), (16, 16, 16), (9, 5, 100), (1, 1, 2), (30, 20, .max)]
    )
    func squares(width: Int, height: Int, side: Int) throws {
        for isOpaque in [true, false] {
            let image = ResamplingTests.noise(width, height, opaque: isOpaque, seed: 3)
            let result = try image.pixelated(side: side)
            let (source, rows) = (image.rows, result.rows)
            for y in 0..<height {
                for x in 0..<width {
                    let side = min(side, 1000)
                    let columns = x / side * side..<min(x / side * side + side, width)
                    let square = source[y / side * side..<min(y / side * side + side, height)].flatMap { $0[columns] }
                    func mean(_ component: KeyPath<Pixel, UInt8>) -> UInt8 {
                        let sum = square.reduce(0) { $0 + Int($1[keyPath: component]) }
                        return UInt8((sum + square.count / 2) / square.count)
                    }
                    #expect(rows[y][x] == Pixel(r: mean(\.r), g: mean(\.g), b: mean(\.b), a: mean(\.a)), "\(x), \(y)")
                }
            }
            #expect(result.hasAlpha == !isOpaque)
        }
    }

    @Test("Squares of a pixel or less change nothing", arguments: [1, 0, -3, .min]) func none(side: Int) throws {
        let image = ResamplingTests.noise(5, 4)
        #expect(try image.pixelated(side: side) === image)
    }
}
