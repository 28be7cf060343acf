// Rounded corners, borders and backgrounds. All lengths are in pixels; callers convert points.

import Foundation

/// A line between two rounded rectangles.
struct Stroke {
    let outer: RoundedRectangle
    let inner: RoundedRectangle
    let color: Color
}

extension Bitmap {
    /// The image inside an outline, with a line drawn on it, over an optional background.
    ///
    /// Pixels that neither outline nor line touch are copied.
    ///
    /// - Parameters:
    ///   - clip: The outline; everything outside of it becomes transparent. Nil keeps everything.
    ///   - stroke: A line over the image.
    ///   - background: Laid under everything, corners included.
    /// - Returns: The new bitmap.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func shaped(clip: RoundedRectangle?, stroke: Stroke?, background: Color?) throws(ImagingError) -> Bitmap {
        let lines = try ShapeCoverage(size, clip, stroke)
        let paint = ShapePaint(stroke?.color, background)
        let isFilled = (background?.alpha ?? 0) >= 1
        let reach = lines.reach
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: isFilled || (!hasAlpha && lines.keepsAll) ? false : nil) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                for y in 0..<height {
                    let source = (base + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)
                    let target = rows.pixels(y)
                    paint.copy(source, to: target, count: width, isOpaque: !hasAlpha)
                    let isEdge = y < reach || y >= height - reach
                    lines.move(toRow: y, isEdge: isEdge)
                    for columns in lines.touched(isEdge: isEdge) {
                        paint.apply(lines, source, to: target, columns)
                    }
                }
            }
        }
    }
}

/// How much of each pixel of one row is kept, and how much of it is under the line.
private final class ShapeCoverage {
    let kept: Buffer<Float>
    let stroked: Buffer<Float>
    let reach: Int
    private let clip: RoundedRectangle?
    private let stroke: Stroke?
    /// Rows between the edges are all alike.
    private var isMiddle = false

    init(_ size: PixelSize, _ clip: RoundedRectangle?, _ stroke: Stroke?) throws(ImagingError) {
        kept = try Buffer(size.width)
        stroked = try Buffer(size.width)
        kept.base.update(repeating: 1, count: size.width)
        stroked.base.update(repeating: 0, count: size.width)
        reach = max(clip?.reach ?? 0, stroke?.outer.reach ?? 0, stroke?.inner.reach ?? 0)
        self.clip = clip
        self.stroke = stroke
    }

    var keepsAll: Bool { clip?.reach ?? 0 == 0 }

    /// The columns in which the row may be more than a copy.
    func touched(isEdge: Bool) -> [Range<Int>] {
        let width = kept.count
        if stroke != nil {
            let left = min(reach, width)
            return isEdge ? [0..<width] : [0..<left, max(left, width - reach)..<width]
        }
        guard isEdge else { return [] }
        // An outline cuts from both ends, if it cuts at all.
        let left = (0..<width).first { kept.base[$0] >= 1 } ?? width
        let right = (left..<width).last { kept.base[$0] >= 1 } ?? left - 1
        return [0..<left, right + 1..<width]
    }

    func move(toRow y: Int, isEdge: Bool) {
        guard isEdge || !isMiddle else { return }
        isMiddle = !isEdge
        if let stroke {
            stroke.inner.cover(row: y, into: kept.base)
            stroke.outer.cover(row: y, into: stroked.base)
            for x in 0..<kept.count { stroked.base[x] -= kept.base[x] }
        }
        if let clip {
            clip.cover(row: y, into: kept.base)
        } else if stroke != nil {
            kept.base.update(repeating: 1, count: kept.count)
        }
    }
}

/// The colours of the line and of the background, as numbers 0…255 with alpha multiplied in.
private struct ShapePaint {
    private let line: SIMD4<Float>
    private let ground: SIMD4<Float>
    private let hasGround: Bool

    init(_ line: Color?, _ ground: Color?) {
        self.line = SIMD4(line?.premultipliedComponents ?? [0, 0, 0, 0])
        self.ground = SIMD4(ground?.premultipliedComponents ?? [0, 0, 0, 0])
        hasGround = ground != nil
    }

    /// Copies pixels that nothing but the background touches.
    func copy(
        _ source: UnsafePointer<UInt32>,
        to target: UnsafeMutablePointer<UInt32>,
        count: Int,
        isOpaque: Bool
    ) {
        guard hasGround, !isOpaque else { return target.update(from: source, count: count) }
        for x in 0..<count { target[x] = over(SIMD4(pixel: source[x])).pixel }
    }

    /// Draws the row with the coverage that has been found.
    ///
    /// The line lies on the image before both are cut: only so is a pixel at the rim covered no more than it is
    /// inside.
    func apply(
        _ lines: ShapeCoverage,
        _ source: UnsafePointer<UInt32>,
        to target: UnsafeMutablePointer<UInt32>,
        _ columns: Range<Int>
    ) {
        let (kept, stroked) = (lines.kept.base, lines.stroked.base)
        for x in columns {
            let share = max(0, min(1, kept[x]))
            if share == 1 && stroked[x] <= 0 { continue }
            if share == 0 && !hasGround {
                target[x] = 0
                continue
            }
            var color = SIMD4<Float>(pixel: source[x])
            if stroked[x] > 0 && share > 0 {
                let cover = min(1, stroked[x] / share)
                color = color * (1 - cover * line.w / 255) + line * cover
            }
            target[x] = over(color * share).pixel
        }
    }

    private func over(_ color: SIMD4<Float>) -> SIMD4<Float> {
        hasGround ? color + ground * (1 - color.w / 255) : color
    }
}
