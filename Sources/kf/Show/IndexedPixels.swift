// An image as a palette of a few colours and an index for each pixel, for sixels.

import KFImaging

/// Up to 256 colours, and the colour of each pixel.
struct IndexedPixels: Equatable, Sendable {
    /// Stands for a pixel that is not drawn.
    static let nothing = -1

    let width: Int
    let height: Int
    /// The colours as `0xFFRRGGBB`.
    let palette: [UInt32]
    /// From the top left, row by row: indices of the palette, or ``nothing``.
    let indices: [Int]

    /// Keeps the colours if there are few enough; otherwise quantizes them and diffuses the errors.
    init(_ pixels: ShownPixels, limit: Int = 256) {
        width = pixels.width
        height = pixels.height
        if var table = ColorTable(exactly: pixels.colors, limit: limit) {
            palette = table.colors
            indices = pixels.colors.map { $0 == ShownPixels.nothing ? Self.nothing : table.index(of: $0) }
        } else {
            let table = ColorTable(pixels.colors, limit: limit)
            palette = table.colors
            indices = Self.diffused(pixels, table)
        }
    }

    /// Floyd and Steinberg's error diffusion.
    private static func diffused(_ pixels: ShownPixels, _ table: ColorTable) -> [Int] {
        var table = table
        let width = pixels.width
        var indices: [Int] = []
        indices.reserveCapacity(pixels.colors.count)
        // Errors of this row and the next one in sixteenths, with one more entry at both ends.
        var errors = [SIMD3<Int32>](repeating: .zero, count: width + 2)
        for y in 0..<pixels.height {
            var below = [SIMD3<Int32>](repeating: .zero, count: width + 2)
            for x in 0..<width {
                let color = pixels.colors[y * width + x]
                guard color != ShownPixels.nothing else {
                    indices.append(nothing)
                    continue
                }
                let wanted = (ColorTable.channels(color) &+ (errors[x + 1] &+ 8) / 16)
                    .clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                let index = table.index(of: 0xFF00_0000 | UInt32(wanted.x << 16 | wanted.y << 8 | wanted.z))
                indices.append(index)
                let error = wanted &- ColorTable.channels(table.colors[index])
                errors[x + 2] &+= error &* 7
                below[x] &+= error &* 3
                below[x + 1] &+= error &* 5
                below[x + 2] &+= error
            }
            errors = below
        }
        return indices
    }
}
