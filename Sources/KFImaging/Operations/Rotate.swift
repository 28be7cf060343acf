// Turning images by any angle.

package import Foundation

extension Bitmap {
    /// The image turned around its centre.
    ///
    /// Quarter turns only move pixels. Other angles mix the four nearest pixels, and pixels from outside are
    /// transparent.
    ///
    /// - Parameters:
    ///   - angle: In radians, counter-clockwise.
    ///   - fits: Whether the canvas gets as large as the turned image; it keeps its size otherwise, and corners are
    ///     cut off.
    /// - Returns: The turned image; the bitmap itself for whole turns.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``, and where a canvas that fits has more pixels than images may
    ///   have ``ImagingError/limitExceeded(limit:allowed:width:height:)``.
    func rotated(by angle: Double, fits: Bool) throws(ImagingError) -> Bitmap {
        switch Self.orientation(turnedBy: angle) {
        case .up?: return self
        case let quarter? where quarter.isTransposing: return try quarterTurned(quarter, fits: fits)
        case let half?: return try oriented(from: half)
        case nil: return try turned(by: Self.quarters(of: angle) * (.pi / 2), fits: fits)
        }
    }

    /// The orientation that turns an image by an angle in radians, counter-clockwise; nil unless that is a multiple of
    /// a quarter turn.
    static func orientation(turnedBy angle: Double) -> Orientation? {
        let turns = quarters(of: angle)
        // Less than a hundredth of a pixel at the rim of any image of a plausible size.
        guard abs(turns - turns.rounded()) < 1e-7 else { return nil }
        switch Int(turns.rounded()) {
        case 0: return .up
        case 1: return .left
        case -1: return .right
        default: return .down
        }
    }

    /// An angle in quarter turns, from -2 to 2.
    private static func quarters(of angle: Double) -> Double { (angle / (.pi / 2)).remainder(dividingBy: 4) }

    private func quarterTurned(_ orientation: Orientation, fits: Bool) throws(ImagingError) -> Bitmap {
        let turned = try oriented(from: orientation)
        return fits ? turned : try turned.placed(in: size)
    }

    /// The image on a canvas of another size; missing pixels are transparent.
    ///
    /// Where the margins cannot be equal, the left and the upper one are the smaller ones.
    ///
    /// - Parameters:
    ///   - canvas: The size of the canvas.
    ///   - anchor: Where on it the image is, 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    /// - Returns: The canvas; what is beyond it is cut off.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func placed(
        in canvas: PixelSize,
        anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)
    ) throws(ImagingError) -> Bitmap {
        guard canvas != size else { return self }
        let (left, top) = offset(in: canvas, anchor: anchor)
        let columns = max(0, left)..<min(canvas.width, left + width)
        let isCovered = canvas.width <= width && canvas.height <= height
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(canvas, hasAlpha: isCovered && !hasAlpha ? false : nil) { rows in
                if !isCovered { rows.fill() }
                guard let base = bytes.baseAddress else { return rows.fill() }
                for y in max(0, top)..<min(canvas.height, top + height) {
                    UnsafeMutableRawPointer(rows.pixels(y) + columns.lowerBound).copyMemory(
                        from: base + (y - top) * bytesPerRow + (columns.lowerBound - left) * 4,
                        byteCount: columns.count * 4
                    )
                }
            }
        }
    }

    /// The left and the upper margin on a canvas, rounded down; negative where the image is larger.
    func offset(in canvas: PixelSize, anchor: CGPoint) -> (left: Int, top: Int) {
        func margin(_ free: Int, _ part: CGFloat) -> Int {
            Int((Double(free) * Double(part.isNaN ? 0.5 : part.clampedToUnit)).rounded(.down))
        }
        return (margin(canvas.width - width, anchor.x), margin(canvas.height - height, anchor.y))
    }

    private func turned(by angle: Double, fits: Bool) throws(ImagingError) -> Bitmap {
        let canvas = fits ? bounds(turnedBy: angle) : size
        let limit = ImageDecodingLimits.default.maxPixelCount
        guard canvas == size || canvas.pixelCount <= limit else {
            throw .limitExceeded(limit: "maxPixelCount", allowed: limit, width: canvas.width, height: canvas.height)
        }
        let (dx, dy) = (cos(angle), sin(angle))
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(canvas, hasAlpha: nil) { rows in
                rows.fill()
                guard let base = bytes.baseAddress else { return }
                let sampler = Sampler(pixels: base, bytesPerRow: bytesPerRow, size: size)
                for y in 0..<canvas.height {
                    // Where the middles of the row's pixels come from: a line through the image, y growing downwards.
                    let (left, down) = (0.5 - Double(canvas.width) / 2, Double(y) + 0.5 - Double(canvas.height) / 2)
                    let u = dx * left - dy * down + Double(width - 1) / 2
                    let v = dy * left + dx * down + Double(height - 1) / 2
                    sampler.draw(from: (u, v), step: (dx, dy), to: rows.pixels(y), count: canvas.width)
                }
            }
        }
    }

    /// The smallest canvas that holds the turned image.
    private func bounds(turnedBy angle: Double) -> PixelSize {
        let (across, along) = (abs(sin(angle)), abs(cos(angle)))
        let (w, h) = (Double(width), Double(height))
        // Numbers slightly above a whole one are that number, computed with small errors.
        func side(_ length: Double) -> Int { Int((length - 1e-6).rounded(.up)) }
        return PixelSize(side(w * along + h * across), side(w * across + h * along))
    }
}

/// Pixels between pixels: a mixture of the nearest four, where those beyond the edges are transparent.
private struct Sampler {
    let pixels: UnsafeRawPointer
    let bytesPerRow: Int
    let size: PixelSize

    /// Draws the pixels along a line.
    ///
    /// Whole coordinates are the middles of pixels.
    func draw(
        from start: (u: Double, v: Double),
        step: (u: Double, v: Double),
        to target: UnsafeMutablePointer<UInt32>,
        count: Int
    ) {
        let across = Self.range(start.u, step.u, size.width, count)
        let range = across.clamped(to: Self.range(start.v, step.v, size.height, count))
        for x in range {
            let (u, v) = (start.u + Double(x) * step.u, start.v + Double(x) * step.v)
            let (left, top) = (u.rounded(.down), v.rounded(.down))
            let (right, bottom) = (Float(u - left), Float(v - top))
            let (column, row) = (Int(left), Int(top))
            let upper = pixel(column, row) * (1 - right) + pixel(column + 1, row) * right
            let lower = pixel(column, row + 1) * (1 - right) + pixel(column + 1, row + 1) * right
            target[x] = (upper * (1 - bottom) + lower * bottom).pixel
        }
    }

    private func pixel(_ column: Int, _ row: Int) -> SIMD4<Float> {
        guard column >= 0, row >= 0, column < size.width, row < size.height else { return .zero }
        let offset = row &* bytesPerRow &+ column &* 4
        return SIMD4(pixel: pixels.load(fromByteOffset: offset, as: UInt32.self))
    }

    /// The steps at which a coordinate is within one pixel of 0..<limit.
    private static func range(_ start: Double, _ step: Double, _ limit: Int, _ count: Int) -> Range<Int> {
        guard abs(step) > 1e-12 else { return start > -1 && start < Double(limit) ? 0..<count : 0..<0 }
        let ends = [(-1 - start) / step, (Double(limit) - start) / step]
        let first = max(0, min(ends[0], ends[1]).rounded(.down))
        let last = min(Double(count), max(ends[0], ends[1]).rounded(.up) + 1)
        return first < last ? Int(first)..<Int(last) : 0..<0
    }
}
