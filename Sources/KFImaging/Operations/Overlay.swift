// A colour laid over the visible parts of an image, and an image laid over another one.

public import Foundation

extension Bitmap {
    /// The image with a colour over it; every pixel keeps its opacity.
    ///
    /// - Parameters:
    ///   - color: The colour; its alpha counts.
    ///   - share: How much of the colour is laid on, 0…1.
    /// - Returns: The new bitmap; the bitmap itself when nothing is laid on.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func overlaid(_ color: Color, share: Double) throws(ImagingError) -> Bitmap {
        let cover = Double(color.alpha.clampedToUnit) * share
        guard cover > 0 else { return self }
        // Fixed point: 255 · 2²² is the largest sum, for both weights add up to 2²².
        let one = UInt32(1) << 22
        // The little extra makes halves go up, though the weights are not exact.
        let half = one / 2 + one >> 12
        func weight(_ share: Double) -> UInt32 { UInt32((share * Double(one)).rounded()) }
        let rest = one - weight(cover)
        let red = weight(cover * Double(color.red.clampedToUnit))
        let green = weight(cover * Double(color.green.clampedToUnit))
        let blue = weight(cover * Double(color.blue.clampedToUnit))
        return try redrawn(hasAlpha: hasAlpha) { _, source, target in
            for x in 0..<width {
                let pixel = source[x]
                let alpha = pixel &>> 24
                let r = (alpha &* red &+ (pixel &>> 16 & 0xFF) &* rest &+ half) &>> 22
                let g = (alpha &* green &+ (pixel &>> 8 & 0xFF) &* rest &+ half) &>> 22
                let b = (alpha &* blue &+ (pixel & 0xFF) &* rest &+ half) &>> 22
                target[x] = alpha &<< 24 | r &<< 16 | g &<< 8 | b
            }
        }
    }
}

/// Where an image lies that is laid over another one; in pixels from the other one's top left corner.
@_spi(Server) public enum OverlayPlacement: Hashable, Sendable {
    /// Once, with its top left corner at the point; what is beyond the edges is cut off.
    case once(x: Int, y: Int)
    /// Copies all over the other image: the first at the point, further copies in steps of pixels across and down.
    ///
    /// Steps are at least as long as the image. On a chessboard those in every second square are left out.
    case tiled(x: Int, y: Int, across: Int, down: Int, isChessboard: Bool)

    /// Calls `body` with the left edge of each copy that has pixels in a row, and with the row of the copy.
    fileprivate func forEachCopy(
        of upper: PixelSize,
        inRow y: Int,
        width: Int,
        _ body: (_ left: Int, _ row: Int) -> Void
    ) {
        switch self {
        case .once(let left, let top):
            if (top..<top + upper.height).contains(y), left < width, left + upper.width > 0 { body(left, y - top) }
        case .tiled(let x, let top, let across, let down, let isChessboard):
            let (across, down) = (max(across, upper.width), max(down, upper.height))
            let (line, row) = Self.divided(y - top, by: down)
            guard row < upper.height else { return }
            // The first one that begins at the left edge or before it, and reaches furthest.
            var column = Self.divided(-x, by: across).quotient
            while x + column * across < width {
                if !isChessboard || (column + line).isMultiple(of: 2) { body(x + column * across, row) }
                column += 1
            }
        }
    }

    /// The remainder is not negative.
    private static func divided(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Image {
    /// The image with another one over it.
    ///
    /// - Parameters:
    ///   - upper: The image on top, pixel by pixel; what is beyond the edges is cut off.
    ///   - anchor: Where it is, 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    ///   - opacity: The factor for its opacity, 0…1.
    /// - Returns: The new image.
    package func overlaid(with upper: Image, anchor: CGPoint, opacity: CGFloat) -> Image? {
        overlaid(with: upper, opacity: opacity) { lower, upper in
            let (left, top) = upper.offset(in: lower.size, anchor: anchor)
            return .once(x: left, y: top)
        }
    }

    /// The image with another one over it, once or again and again; an opaque image stays opaque.
    ///
    /// - Parameters:
    ///   - upper: The image on top, pixel by pixel.
    ///   - placement: Where it is.
    ///   - opacity: The factor for its opacity, 0…1.
    /// - Returns: The new image; nil when there is not enough memory.
    @_spi(Server) public func overlaid(with upper: Image, at placement: OverlayPlacement, opacity: CGFloat) -> Image? {
        overlaid(with: upper, opacity: opacity) { _, _ in placement }
    }

    private func overlaid(
        with upper: Image,
        opacity: CGFloat,
        at placement: (_ lower: Bitmap, _ upper: Bitmap) -> OverlayPlacement
    ) -> Image? {
        redrawn { bitmap throws(ImagingError) in
            guard let upper = try upper.upright().cgImage else { return bitmap }
            let place = placement(bitmap, upper)
            return try bitmap.overlaid(with: upper, at: place, opacity: Double(opacity.clampedToUnit))
        }
    }
}

extension Bitmap {
    fileprivate func overlaid(
        with upper: Bitmap,
        at placement: OverlayPlacement,
        opacity: Double
    ) throws(ImagingError) -> Bitmap {
        let share = UInt32((opacity * 255).rounded())
        return try upper.withUnsafeBytes { bytes throws(ImagingError) in
            try redrawn(hasAlpha: hasAlpha ? nil : false) { y, source, target in
                target.update(from: source, count: width)
                guard let base = bytes.baseAddress else { return }
                placement.forEachCopy(of: upper.size, inRow: y, width: width) { left, row in
                    let line = (base + row * upper.bytesPerRow).assumingMemoryBound(to: UInt32.self)
                    let end = min(width, left + upper.width)
                    for x in max(0, left)..<max(0, left, end) {
                        target[x] = Self.mixed(line[x - left], share, over: target[x])
                    }
                }
            }
        }
    }

    /// A premultiplied pixel, its opacity reduced to a share of 255, over another one.
    @inline(__always)
    static func mixed(_ upper: UInt32, _ share: UInt32, over lower: UInt32) -> UInt32 {
        func channel(_ pixel: UInt32, _ shift: UInt32) -> UInt32 { pixel &>> shift & 0xFF }
        func part(_ value: UInt32, _ share: UInt32) -> UInt32 { (value &* share &+ 127) / 255 }
        let rest = 255 &- part(upper &>> 24, share)
        func sum(_ shift: UInt32) -> UInt32 {
            min(255, part(channel(upper, shift), share) &+ part(channel(lower, shift), rest)) &<< shift
        }
        return sum(24) | sum(16) | sum(8) | sum(0)
    }
}
