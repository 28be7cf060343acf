// Finding the border of one colour that a plan trims. For PixelSteps.

import Foundation
import KFImageURLs
import Kingfisher

extension ImagePlan.Trim {
    /// What is left of an image without its border; nil if all of it is border, or nothing is trimmed.
    ///
    /// A pixel belongs to the border if none of its components, on the image's own transparency, differs from the
    /// border's colour by more than the threshold (of 255).
    func part(of image: Image) -> CGRect? {
        guard let threshold, let bitmap = image.cgImage else { return nil }
        let limit = Int(min(max(threshold, 0), 255))
        let part: Sides? = bitmap.withUnsafeBytes { bytes in
            // Blue, green, red, alpha.
            let border =
                color.map { [Int($0.blue), Int($0.green), Int($0.red), 255] } ?? (0..<4).map { Int(bytes[$0]) }
            return Sides(bitmap) { x, y in
                let pixel = y * bitmap.bytesPerRow + x * 4
                return (0..<4).allSatisfy { abs(Int(bytes[pixel + $0]) - border[$0]) <= limit }
            }
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
