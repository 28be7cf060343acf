// The few colours that stand for an image, and how much of it each takes; `kf info` shows them.

/// A colour, and its share of an image.
package struct DominantColor: Sendable, Equatable {
    /// The colour as `0xRRGGBB`.
    package let color: UInt32
    /// The share of the visible pixels, 0…1.
    package let share: Double
}

extension Image {
    /// Colours that stand for all that is at least half opaque, the most frequent one first.
    ///
    /// - Parameter limit: How many there may be, 1…256; fewer are enough for images that have no more.
    /// - Returns: The colours; none for an empty image, and one that shows nothing.
    package func dominantColors(_ limit: Int) -> [DominantColor] {
        let pixels = cgImage?.visibleColors ?? []
        guard !pixels.isEmpty else { return [] }
        var table = ColorTable(pixels, limit: limit)
        var counts = [Int](repeating: 0, count: table.colors.count)
        for pixel in pixels { counts[table.index(of: pixel)] += 1 }
        return zip(table.colors, counts).filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }.map { color, count in
            DominantColor(color: color & 0xFF_FFFF, share: Double(count) / Double(pixels.count))
        }
    }
}

extension Bitmap {
    /// The pixels that are at least half opaque, as `0xFFRRGGBB`.
    fileprivate var visibleColors: [UInt32] {
        var result: [UInt32] = []
        result.reserveCapacity(size.pixelCount)
        forEachRow { _, row in
            for x in 0..<width where row[x] >> 24 >= 128 {
                let alpha = row[x] >> 24
                let straight = stride(from: UInt32(0), to: 24, by: 8).reduce(UInt32(0xFF00_0000)) { color, shift in
                    color | min(255, ((row[x] >> shift & 0xFF) * 255 + alpha / 2) / alpha) << shift
                }
                result.append(straight)
            }
        }
        return result
    }
}
