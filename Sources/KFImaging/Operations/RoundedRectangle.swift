// How much of each pixel lies inside a rectangle with rounded corners: exact areas.

import Foundation

/// A rectangle, some corners of which are quarter circles, centred in a bitmap.
struct RoundedRectangle {
    /// The bitmap's size.
    let size: PixelSize
    /// How far the rectangle's edges are from the bitmap's.
    let inset: Double
    /// The radius of the corners that are rounded.
    let radius: Double
    let corners: RectCorner

    /// Lengths are limited to what fits in the bitmap; they must not be NaN.
    init(in size: PixelSize, inset: Double = 0, radius: Double, corners: RectCorner) {
        let half = Double(min(size.width, size.height)) / 2
        self.size = size
        self.inset = min(max(inset, 0), half)
        self.radius = min(max(radius, 0), half - self.inset)
        self.corners = corners
    }

    /// How many rows and columns from each edge may hold pixels that are not wholly inside.
    var reach: Int {
        let length = corners.isDisjoint(with: .all) ? inset : inset + radius
        return Int(length.rounded(.up))
    }

    /// Writes how much of each pixel of a row is inside, 0…1.
    ///
    /// The four quarters of the bitmap are added up, for a pixel in the middle may lie in all of them.
    func cover(row y: Int, into line: UnsafeMutablePointer<Float>) {
        let (top, bottom, height) = (Double(y), Double(y + 1), Double(size.height))
        let middle = height / 2
        line.update(repeating: 0, count: size.width)
        if top < middle {
            add(from: top, to: min(bottom, middle), left: .topLeft, right: .topRight, to: line)
        }
        if bottom > middle {
            add(from: height - bottom, to: height - max(top, middle), left: .bottomLeft, right: .bottomRight, to: line)
        }
    }

    private func add(
        from near: Double,
        to far: Double,
        left: RectCorner,
        right: RectCorner,
        to line: UnsafeMutablePointer<Float>
    ) {
        let (leftRadius, rightRadius) = (corners.contains(left) ? radius : 0, corners.contains(right) ? radius : 0)
        let quarter = CornerScanline(inset, leftRadius, from: near, to: far)
        let last = size.width - 1
        let inside = Float(quarter.height)
        for x in 0...last { line[x] += inside }
        let isSymmetric = leftRadius == rightRadius
        quarter.forEachCut(before: Double(size.width) / 2) { x, cut in
            line[x] -= cut
            if isSymmetric { line[last - x] -= cut }
        }
        guard !isSymmetric else { return }
        CornerScanline(inset, rightRadius, from: near, to: far).forEachCut(before: Double(size.width) / 2) { x, cut in
            line[last - x] -= cut
        }
    }
}

/// One row of pixels through the top left quarter of a rounded rectangle, whose other edges are far away.
private struct CornerScanline {
    private let inset: Double
    private let radius: Double
    /// Where the circle's centre is, in x and in y.
    private let center: Double
    /// How far the row's edges are above the centre.
    private let near: Double
    private let far: Double
    /// How much of the row's height is below the centre.
    private let below: Double
    /// Left of the centre the arc leaves the row through its upper edge here, and enters it through the lower one
    /// there.
    private let upper: Double
    private let lower: Double
    /// The area under the whole arc between the centre and the one, and under the arc within the row up to the other.
    private let areaToUpper: Double
    private let areaToLower: Double

    init(_ inset: Double, _ radius: Double, from top: Double, to bottom: Double) {
        let (top, bottom) = (max(top, inset), max(bottom, inset))
        self.inset = inset
        self.radius = radius
        center = inset + radius
        near = max(0, center - bottom)
        far = max(0, center - top)
        below = (bottom - top) - (far - near)
        upper = max(0, radius * radius - far * far).squareRoot()
        lower = max(0, radius * radius - near * near).squareRoot()
        areaToUpper = upper > 0 ? Self.integral(upper, radius) : 0
        let toLower = lower > 0 ? Self.integral(lower, radius) : 0
        areaToLower = (far - near) * upper + toLower - areaToUpper - near * (lower - upper)
    }

    /// How much of the row is not above the rectangle.
    var height: Double { below + far - near }

    /// Calls `body` with the columns that are not wholly inside, and the missing area in each.
    ///
    /// - Parameters:
    ///   - middle: Where the quarter ends; of a column across it, only the part on this side of it counts.
    ///   - body: Gets the column, and the area of the row in it that is not inside the rectangle.
    @inline(__always)
    func forEachCut(before middle: Double, _ body: (_ column: Int, _ cut: Float) -> Void) {
        let end = min(middle, center - upper)
        var (column, left, areaBefore) = (0, 0.0, area(upTo: 0))
        while left < end {
            let right = min(Double(column + 1), middle)
            let areaHere = area(upTo: right)
            body(column, Float(height * (right - left) - (areaHere - areaBefore)))
            (left, areaBefore) = (right, areaHere)
            column += 1
        }
    }

    /// The area inside the rectangle, of the row, left of a place; counted from an arbitrary place, so only differences
    /// are meaningful.
    private func area(upTo place: Double) -> Double {
        let place = max(place, inset)
        let distance = max(0, center - place)
        // Right of the centre nothing is cut off.
        let beyond = place - (center - distance)
        return below * place + (far - near) * beyond - areaUnderArc(distance)
    }

    /// The area under the arc, of the part of the row above the centre, from the centre to some distance left of it.
    private func areaUnderArc(_ distance: Double) -> Double {
        guard distance > upper else { return (far - near) * distance }
        guard distance < lower else { return areaToLower }
        return (far - near) * upper + Self.integral(distance, radius) - areaToUpper - near * (distance - upper)
    }

    /// The area under a whole arc, from the centre to some distance.
    private static func integral(_ x: Double, _ radius: Double) -> Double {
        let height = max(0, radius * radius - x * x).squareRoot()
        return (x * height + radius * radius * asin(min(1, x / radius))) / 2
    }
}
