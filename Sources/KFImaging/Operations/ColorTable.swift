// Up to 256 colours for all the colours of an image, and which of them is the nearest.

/// A few colours that stand for the colours of some pixels.
package struct ColorTable: Sendable {
    /// The colours as `0xFFRRGGBB`.
    package let colors: [UInt32]
    /// The colours in the order of their green.
    private let sorted: [Entry]
    /// For each green where those begin that have as much or more.
    private let starts: [Int]
    /// The results of earlier searches: a colour and its index, in the bucket of the colour's hash; 0 where there is
    /// none.
    private var known = [UInt64](repeating: 0, count: 1 << 14)

    private struct Entry {
        let color: SIMD3<Int32>
        let index: Int
    }

    /// Keeps the colours if there are few enough, and else finds others that are near.
    ///
    /// - Parameters:
    ///   - pixels: Colours as `0xFFRRGGBB`; 0 stands for a place without colour.
    ///   - limit: How many the colours may be at most, from 1 to 256.
    ///   - tolerance: How far the others may be from the pixels' own on average: fewer are taken if that suffices.
    package init(_ pixels: some Sequence<UInt32>, limit: Int, tolerance: Float = 0) {
        self.init(Self.distinct(pixels, limit: limit) ?? MedianCut(pixels).colors(limit, tolerance: tolerance))
    }

    /// All colours of some pixels; nil when they are more than `limit`.
    package init?(exactly pixels: some Sequence<UInt32>, limit: Int) {
        guard let colors = Self.distinct(pixels, limit: limit) else { return nil }
        self.init(colors)
    }

    private init(_ colors: [UInt32]) {
        self.colors = colors
        sorted = colors.enumerated().map { Entry(color: Self.channels($1), index: $0) }
            .sorted { $0.color.y < $1.color.y }
        var starts: [Int] = []
        for green in 0..<256 {
            let start = starts.last ?? 0
            starts.append(sorted[start...].firstIndex { $0.color.y >= green } ?? sorted.endIndex)
        }
        self.starts = starts
    }

    /// Red, green and blue.
    package static func channels(_ color: UInt32) -> SIMD3<Int32> {
        SIMD3(Int32(color >> 16 & 255), Int32(color >> 8 & 255), Int32(color & 255))
    }

    /// The index of the nearest of the colours, of which there must be one.
    package mutating func index(of color: UInt32) -> Int {
        let bucket = Int((color &* 0x9E37_79B1) >> 18)
        if known[bucket] >> 8 == UInt64(color) { return Int(known[bucket] & 255) }
        let index = nearest(to: Self.channels(color))
        known[bucket] = UInt64(color) << 8 | UInt64(index)
        return index
    }

    private func nearest(to color: SIMD3<Int32>) -> Int {
        var best = (place: 0, distance: Int32.max)
        let start = starts[Int(color.y)]
        sorted.withUnsafeBufferPointer { sorted in
            /// Whether colours further away in green can still be nearer.
            func look(at place: Int) -> Bool {
                let away = sorted[place].color &- color
                // Eyes distinguish shades of green best.
                let green = 4 &* away.y &* away.y
                guard green < best.distance else { return false }
                let distance = green &+ 2 &* away.x &* away.x &+ 3 &* away.z &* away.z
                if distance < best.distance { best = (place, distance) }
                return true
            }
            var (above, below) = (start, start - 1)
            while above < sorted.count, look(at: above) { above += 1 }
            while below >= 0, look(at: below) { below -= 1 }
        }
        return sorted[best.place].index
    }

    /// All colours there are, in the order they come in; nil when they are too many.
    private static func distinct(_ pixels: some Sequence<UInt32>, limit: Int) -> [UInt32]? {
        var (colors, seen) = ([UInt32](), Set<UInt32>())
        var last: UInt32 = 0
        for color in pixels where color != last && color != 0 {
            last = color
            guard seen.insert(color).inserted else { continue }
            guard colors.count < limit else { return nil }
            colors.append(color)
        }
        return colors
    }
}
