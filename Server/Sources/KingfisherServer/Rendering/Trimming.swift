// Finding the border of one colour that a plan trims. For PlanProcessor.

import Foundation
import KFImageURLs
import Kingfisher

extension ImagePlan.Trim {
    /// What is left of an image without its border; nil if all of it is border, or nothing is trimmed.
    ///
    /// Transparent parts count as magenta. A pixel belongs to the border if none of its components differs from the
    /// border's colour by more than the threshold (of 255). Each is the median of the nine pixels in and around the
    /// place, so that single pixels do not count.
    func part(of bitmap: Bitmap) -> CGRect? {
        guard let threshold else { return nil }
        let limit = Int(min(max(threshold, 0), 255))
        let part: Sides? = bitmap.withUnsafeBytes { bytes in
            let pixels = PixelsOnMagenta(bytes: bytes, bitmap: bitmap)
            let color = color.map { SIMD3<Int>(Int($0.blue), Int($0.green), Int($0.red)) } ?? pixels[0, 0]
            return Sides(bitmap) { x, y in pixels.isMedian(at: x, y, within: limit, of: color) }
        }
        guard var part else { return nil }
        if isEqualHorizontally { part.left = min(part.left, part.right) }
        if isEqualHorizontally { part.right = part.left }
        if isEqualVertically { part.top = min(part.top, part.bottom) }
        if isEqualVertically { part.bottom = part.top }
        return CGRect(
            x: part.left,
            y: part.top,
            width: bitmap.width - part.left - part.right,
            height: bitmap.height - part.top - part.bottom
        )
    }
}

/// The colours of a bitmap on a ground of magenta, as blue, green and red.
private struct PixelsOnMagenta {
    let bytes: UnsafeRawBufferPointer
    let bitmap: Bitmap

    subscript(x: Int, y: Int) -> SIMD3<Int> {
        let pixel = y * bitmap.bytesPerRow + x * 4
        let clear = 255 - Int(bytes[pixel + 3])
        return SIMD3(Int(bytes[pixel]) + clear, Int(bytes[pixel + 1]), Int(bytes[pixel + 2]) + clear)
    }

    /// Whether the medians around a place are that near to a colour; beyond the edges lie the pixels at the edges.
    func isMedian(at x: Int, _ y: Int, within limit: Int, of color: SIMD3<Int>) -> Bool {
        let limits = (lower: color &- limit, upper: color &+ limit)
        // The median of nine numbers is within limits if no five of them are below, and no five above.
        var (below, above) = (SIMD3<Int>.zero, SIMD3<Int>.zero)
        for row in [max(y - 1, 0), y, min(y + 1, bitmap.height - 1)] {
            for column in [max(x - 1, 0), x, min(x + 1, bitmap.width - 1)] {
                let pixel = self[column, row]
                below.replace(with: below &+ 1, where: pixel .< limits.lower)
                above.replace(with: above &+ 1, where: pixel .> limits.upper)
            }
        }
        return max(below.max(), above.max()) <= 4
    }
}

/// How much of an image is border at each side, in pixels.
private struct Sides {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int

    /// Nil if all is border.
    init?(_ bitmap: Bitmap, isBorder: (_ x: Int, _ y: Int) -> Bool) {
        let (columns, rows) = (0..<bitmap.width, 0..<bitmap.height)
        func isEmptyRow(_ y: Int) -> Bool { columns.allSatisfy { isBorder($0, y) } }
        guard let first = rows.first(where: { !isEmptyRow($0) }),
            let last = rows.last(where: { !isEmptyRow($0) })
        else { return nil }
        let kept = first...last
        // Not found only where all is border.
        func isEmptyColumn(_ x: Int) -> Bool { kept.allSatisfy { isBorder(x, $0) } }
        guard let left = columns.first(where: { !isEmptyColumn($0) }),
            let right = columns.last(where: { !isEmptyColumn($0) })
        else { return nil }
        (self.left, top) = (left, first)
        (self.right, bottom) = (bitmap.width - 1 - right, bitmap.height - 1 - last)
    }
}
