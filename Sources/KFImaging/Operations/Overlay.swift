// A colour laid over the visible parts of an image, and an image laid over another one.

package import Foundation

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

extension Image {
    /// The image with another one over it.
    ///
    /// - Parameters:
    ///   - upper: The image on top, pixel by pixel; what is beyond the edges is cut off.
    ///   - anchor: Where it is, 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    ///   - opacity: The factor for its opacity, 0…1.
    /// - Returns: The new image.
    package func overlaid(with upper: Image, anchor: CGPoint, opacity: CGFloat) -> Image? {
        redrawn { bitmap throws(ImagingError) in
            guard let upper = try upper.upright().cgImage else { return bitmap }
            return try bitmap.overlaid(with: upper, anchor: anchor, opacity: Double(opacity.clampedToUnit))
        }
    }
}

extension Bitmap {
    fileprivate func overlaid(with upper: Bitmap, anchor: CGPoint, opacity: Double) throws(ImagingError) -> Bitmap {
        let (left, top) = upper.offset(in: size, anchor: anchor)
        let (columns, rows) = (max(0, left)..<min(width, left + upper.width), top..<top + upper.height)
        let share = UInt32((opacity * 255).rounded())
        return try upper.withUnsafeBytes { bytes throws(ImagingError) in
            try redrawn(hasAlpha: hasAlpha ? nil : false) { y, source, target in
                target.update(from: source, count: width)
                guard rows.contains(y), let base = bytes.baseAddress else { return }
                let line = (base + (y - top) * upper.bytesPerRow).assumingMemoryBound(to: UInt32.self)
                for x in columns { target[x] = Self.mixed(line[x - left], share, over: source[x]) }
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
