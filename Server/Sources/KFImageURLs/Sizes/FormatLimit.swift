// The most that files of a format hold. The handlers make it, for the geometry.

/// The size that images in files of a format have at most.
package struct FormatLimit: Hashable, Sendable {
    /// The longest side, in pixels.
    package let side: Int
    /// The most pixels in all.
    package let pixelCount: Int

    package init(side: Int, pixelCount: Int) {
        (self.side, self.pixelCount) = (side, pixelCount)
    }

    /// What holds everything.
    package static let none = FormatLimit(side: .max, pixelCount: .max)

    /// Whether a file of the format holds an image of this size.
    package func holds(_ size: PixelSize) -> Bool { reduction(of: size) == nil }

    /// The factor that brings a size within the limit; nil if it is within.
    ///
    /// It takes at least one pixel off the longer side, so that few repetitions are needed despite rounding.
    func reduction(of size: PixelSize) -> Double? {
        let (width, height) = (Double(size.width), Double(size.height))
        let longer = max(width, height)
        let factor = min(Double(side) / longer, (Double(pixelCount) / (width * height)).squareRoot())
        return factor < 1 ? min(factor, 1 - 1 / longer) : nil
    }
}
