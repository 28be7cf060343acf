// Images laid over others: once, and again and again.

import Foundation
@_spi(Server) import KFImaging
import Testing

@Suite struct OverlayPlacementTests {
    private let lower = Image(cgImage: .solid(0xFF00_00FF, 10, 7))
    private let upper = Image(cgImage: .of([[0xFFFF_0000, 0xFF00_FF00]]))

    /// The pixels of the result: `r` and `g` of the upper image, `.` of the lower one, `?` of others.
    private func text(_ placement: OverlayPlacement, opacity: CGFloat = 1) throws -> [String] {
        let image = try #require(lower.overlaid(with: upper, at: placement, opacity: opacity))
        return try image.bitmap().rows.map { row in
            row.map { pixel in
                switch pixel {
                case Pixel(r: 255, g: 0, b: 0): "r"
                case Pixel(r: 0, g: 255, b: 0): "g"
                case Pixel(r: 0, g: 0, b: 255): "."
                default: "?"
                }
            }.joined()
        }
    }

    @Test("Once, it is cut off at the edges, and may be outside") func once() throws {
        let empty = String(repeating: ".", count: 10)
        #expect(try text(.once(x: 3, y: 2)).enumerated().allSatisfy { $1 == ($0 == 2 ? "...rg....." : empty) })
        #expect(try text(.once(x: -1, y: 0))[0] == "g.........")
        #expect(try text(.once(x: 9, y: 6))[6] == ".........r")
        for (x, y) in [(-2, 0), (10, 0), (0, -1), (0, 7), (.min / 2, 0), (.max / 2, .max / 2)] {
            #expect(try text(.once(x: x, y: y)).allSatisfy { $0 == empty })
        }
    }

    @Test("Tiled, copies are in steps to all sides; on a chessboard every second one is left out") func tiled() throws {
        func tiles(_ isChessboard: Bool, x: Int = 4, y: Int = 2) -> OverlayPlacement {
            .tiled(x: x, y: y, across: 3, down: 2, isChessboard: isChessboard)
        }
        let empty = String(repeating: ".", count: 10)
        #expect(try text(tiles(false)) == [0, 1, 2, 3, 4, 5, 6].map { $0 % 2 == 0 ? ".rg.rg.rg." : empty })
        #expect(try text(tiles(true))[2] == "....rg....")
        #expect(try text(tiles(true))[4] == ".rg....rg.")
        #expect(try text(tiles(true, x: 4 + 600, y: 2 - 400)) == text(tiles(true)))
        let far = OverlayPlacement.tiled(x: 2, y: 0, across: 5, down: 10, isChessboard: false)
        #expect(try text(far) == ["..rg...rg."] + Array(repeating: empty, count: 6))
        // Steps that are shorter than the image are as long.
        let close = OverlayPlacement.tiled(x: 0, y: 0, across: 1, down: 0, isChessboard: false)
        #expect(try text(close).allSatisfy { $0 == "rgrgrgrgrg" })
    }

    @Test("Opacity mixes, and an opaque image stays opaque") func opacity() throws {
        let image = try #require(lower.overlaid(with: upper, at: .once(x: 0, y: 0), opacity: 0.5))
        #expect(try image.bitmap()[0, 0].isNear(Pixel(r: 128, g: 0, b: 127), within: 1) && !image.hasAlpha)
        #expect(try text(.once(x: 0, y: 0), opacity: 0)[0] == "..........")
    }
}
