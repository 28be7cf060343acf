// A colour laid over the visible parts of an image.

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
