// Where repeated watermarks lie, worked out by hand: the watermark within its space is laid side by side, an odd number
// of times and as often as covers the result, and the middle of that is the result.

import KFImageURLs
import Testing

@Suite struct WatermarkGeometryTests {
    /// What a URL asks for, and the copy in the middle that comes of it: x and y, width and height, steps.
    struct Case: Sendable, CustomTestStringConvertible {
        let options: String
        let own: [Int]
        let result: [Int]
        let dpr: Double
        let middle: [Int]
        let size: [Int]
        let step: [Int]

        var testDescription: String { "\(options) of \(own) on \(result), \(dpr)" }

        init(
            _ options: String,
            own: [Int] = [20, 12],
            on result: [Int] = [201, 99],
            dpr: Double = 1,
            middle: [Int],
            size: [Int]? = nil,
            step: [Int]
        ) {
            (self.options, self.own, self.result, self.dpr) = (options, own, result, dpr)
            (self.middle, self.size, self.step) = (middle, size ?? own, step)
        }
    }

    static let cases = [
        // 11 × 20 = 220, 9 on the left are cut off: 5 × 20 − 9. 9 × 12 = 108, 4 above: 4 × 12 − 4.
        Case("re", middle: [91, 44], step: [20, 12]),
        // Of 7 pixels 3 are on the left: 9 × 27 = 243, 4 × 27 − 21 + 3. Of 1 none is above: 9 × 13 = 117, 4 × 13 − 9.
        Case("re:7:1", middle: [90, 43], step: [27, 13]),
        // 14 and 2 pixels: 7 × 34 = 238, 3 × 34 − 18 + 7; 9 × 14 = 126, 4 × 14 − 13 + 1.
        Case("re:7:1", dpr: 2, middle: [91, 44], step: [34, 14]),
        // 4.5 is 4, and 7.5 is 8: 9 × 24 = 216, 4 × 24 − 7 + 2; 5 × 20 = 100, 2 × 20 + 4.
        Case("re:3:5", dpr: 1.5, middle: [91, 44], step: [24, 20]),
        // Parts of the result, whatever the ratio: 20.1 is 20, 7 × 40 = 280, 3 × 40 − 39 + 10; 4.95 is 5, 7 × 17 = 119,
        // 3 × 17 − 10 + 2.
        Case("re:0.1:0.05", dpr: 3, middle: [91, 43], step: [40, 17]),
        // Within 100×50 it is 83×50: 3 × 83 = 249, 83 − 24; 3 × 50 = 150, 50 − 25.
        Case("re:0:0:0.5", on: [200, 100], middle: [59, 25], size: [83, 50], step: [83, 50]),
        // With 10 pixels across: 3 × 93 = 279, 93 − 39 + 5.
        Case("re:10:0:0.5", on: [200, 100], middle: [59, 25], size: [83, 50], step: [93, 50]),
        // One that is larger than the result shows its middle; spaces that are, leave one.
        Case("re", own: [300, 200], on: [100, 50], middle: [-100, -75], step: [300, 200]),
        Case("re:1000", on: [200, 100], middle: [90, 44], step: [1020, 12]),
    ]

    @Test("Copies lie around the one in the middle, with the space that the URL says between them", arguments: cases)
    func tiles(_ example: Case) throws {
        for (position, isChessboard) in [("re", false), ("ch", true)] {
            let options = example.options.replacing("re", with: position)
            let geometry = WatermarkGeometry(
                try plan("wm:1:\(options)").watermark,
                own: size(example.own),
                on: size(example.result),
                dpr: example.dpr
            )
            #expect(geometry.size == size(example.size))
            let middle = PixelPoint(x: example.middle[0], y: example.middle[1])
            #expect(geometry.places == .tiled(middle, step: size(example.step), isChessboard: isChessboard))
        }
    }

    private func size(_ sides: [Int]) -> PixelSize { PixelSize(width: sides[0], height: sides[1]) }
}
