// Sizes and rectangles in pixels.

/// Width and height in pixels, each at least 1.
package struct PixelSize: Hashable, Sendable {
    package let width: Int
    package let height: Int

    /// Sides below 1 become 1: a bitmap without pixels does not exist.
    package init(_ width: Int, _ height: Int) {
        self.width = max(1, width)
        self.height = max(1, height)
    }

    /// The longer side.
    package var longerSide: Int { max(width, height) }

    /// How many pixels there are, `Int.max` when the number overflows.
    package var pixelCount: Int {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : count
    }

    /// The size after a quarter turn.
    package var transposed: PixelSize { PixelSize(height, width) }
}

/// How far an image reaches over rows that a decoder has made, from the upper left corner.
///
/// An image of 1309 columns that is decoded at a quarter is 327.25 columns wide: it has 328, and of the last one only
/// a quarter belongs to the image.
package struct PixelExtent: Hashable, Sendable {
    package let width: Double
    package let height: Double

    package init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// With width and height changed for one another.
    var transposed: PixelExtent { PixelExtent(width: height, height: width) }

    /// All of a size.
    package init(_ size: PixelSize) { self.init(width: Double(size.width), height: Double(size.height)) }
}

/// The size that an image is scaled to, and how much of it that shows.
///
/// Where both sides are scaled by one factor, one of them is rounded: of 211×140 pixels that become 29×19, the 19 rows
/// show 138.2 rows, around the middle, or else the image would become a little lower than it is.
package struct ScaledSize: Hashable, Sendable {
    package let size: PixelSize
    /// The shares of the width and height that are shown; above 1 the outermost pixels reach a little beyond the edges.
    package var coverage: PixelExtent
    /// Whether pixels are averaged in linear light, or as encoded sRGB.
    package let space: WorkingSpace

    /// - Parameters:
    ///   - size: The size.
    ///   - coverage: The shares of the width and height that are shown; nil is all of both.
    ///   - space: Whether pixels are averaged in linear light, or as encoded sRGB.
    package init(_ size: PixelSize, coverage: PixelExtent? = nil, in space: WorkingSpace = .encoded) {
        (self.size, self.coverage, self.space) = (size, coverage ?? PixelExtent(width: 1, height: 1), space)
    }
}

/// A rectangle within an image, in pixels.
package struct PixelRect: Hashable, Sendable {
    package let x: Int
    package let y: Int
    package let size: PixelSize

    /// The smallest part that holds both.
    package func union(_ other: PixelRect) -> PixelRect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        let right = max(x + size.width, other.x + other.size.width)
        let bottom = max(y + size.height, other.y + other.size.height)
        return PixelRect(x: left, y: top, size: PixelSize(right - left, bottom - top))
    }
}

/// Rows of a bitmap that is being filled: BGRA, premultiplied, not initialised yet.
package struct PixelRows {
    package let base: UnsafeMutablePointer<UInt8>
    package let bytesPerRow: Int
    package let size: PixelSize

    /// The first byte of row `y`.
    package func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { base + y * bytesPerRow }

    /// Row `y` as pixels: 0xAARRGGBB each.
    package func pixels(_ y: Int) -> UnsafeMutablePointer<UInt32> {
        // Rows begin on multiples of 16 bytes.
        UnsafeMutableRawPointer(row(y)).assumingMemoryBound(to: UInt32.self)
    }

    /// Sets every byte of the rows from `first` on, padding included.
    package func fill(from first: Int = 0, with pixel: UInt32 = 0) {
        guard first < size.height else { return }
        let words = bytesPerRow / 4
        UnsafeMutableRawPointer(row(first)).assumingMemoryBound(to: UInt32.self)
            .update(repeating: pixel, count: words * (size.height - first))
    }
    /// Whether every alpha is 255.
    var isOpaque: Bool {
        for y in 0..<size.height {
            let pixels = pixels(y)
            var all: UInt32 = 0xFF00_0000
            for x in 0..<size.width { all &= pixels[x] }
            if all != 0xFF00_0000 { return false }
        }
        return true
    }
}
