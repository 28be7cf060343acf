// Sizes, points and rectangles in whole pixels, and the rounding that makes them. For the geometry.

package struct PixelSize: Hashable, Sendable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    package var longerSide: Int { max(width, height) }

    /// The larger of both widths and of both heights.
    func union(_ other: PixelSize) -> PixelSize {
        PixelSize(width: max(width, other.width), height: max(height, other.height))
    }

    /// With width and height changed for one another.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }
}

/// The distance from the top left corner.
package struct PixelPoint: Hashable, Sendable {
    package var x: Int
    package var y: Int

    package init(x: Int, y: Int) {
        (self.x, self.y) = (x, y)
    }
}

package struct PixelRect: Hashable, Sendable {
    package var origin: PixelPoint
    package var size: PixelSize

    package init(origin: PixelPoint, size: PixelSize) {
        (self.origin, self.size) = (origin, size)
    }
}

/// More than any image has at a side.
let mostPixels = 1_000_000_000

/// A number of pixels, half away from zero; what is too large for any image becomes a billion, and no number 0.
func pixels(_ length: Double) -> Int { whole(length, .toNearestOrAwayFromZero) }

/// The same, half to even: for offsets and paddings.
func pixelsToEven(_ length: Double) -> Int { whole(length, .toNearestOrEven) }

private func whole(_ length: Double, _ rule: FloatingPointRoundingRule) -> Int {
    length.isNaN ? 0 : Int(min(max(length.rounded(rule), -Double(mostPixels)), Double(mostPixels)))
}
