// Blurring by repeated means of squares, which comes close to a Gaussian. Lengths are in pixels.

import CKFCodecs

extension Bitmap {
    /// This bitmap, blurred like by a Gaussian of that standard deviation in pixels.
    ///
    /// Nothing is blurred by a radius that is not above 0. The time it takes does not depend on the radius. Beyond the
    /// edges lie the pixels at the edges, so nothing gets darker or transparent there.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func blurred(radius: Double) throws(ImagingError) -> Bitmap {
        guard let blur = BoxBlur(radius: radius) else { return self }
        // Sums of columns take as much as ten rows, and the rows above a pixel are kept: together they may be more than
        // the image itself.
        let isMuch = kf_box_blur_scratch(bytesPerRow, height, blur.boxRadius) > bytesPerRow * height / 2
        return isMuch ? try blurredInPieces(blur) : try blurred(blur)
    }

    /// Blurs pieces side by side, each together with the columns around it that its pixels depend on.
    private func blurredInPieces(_ blur: BoxBlur) throws(ImagingError) -> Bitmap {
        let reach = blur.passes * Int(blur.boxRadius)
        let step = max(1 << 15, 2 * reach)
        guard width > step else { return try blurred(blur) }
        return try Bitmap(size, hasAlpha: hasAlpha ? nil : false) { rows throws(ImagingError) in
            for left in stride(from: 0, to: width, by: step) {
                let right = min(left + step, width)
                let (first, end) = (max(0, left - reach), min(right + reach, width))
                let piece = try part(x: first, y: 0, PixelSize(end - first, height)).blurred(blur)
                piece.forEachRow { y, row in
                    (rows.pixels(y) + left).update(from: row + (left - first), count: right - left)
                }
            }
        }
    }

    private func blurred(_ blur: BoxBlur) throws(ImagingError) -> Bitmap {
        let scratch = try Buffer<UInt8>(kf_box_blur_scratch(bytesPerRow, height, blur.boxRadius))
        defer { withExtendedLifetime(scratch) {} }
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha ? nil : false) { rows in
                guard let source = bytes.baseAddress else { return rows.fill() }
                UnsafeMutableRawPointer(rows.base).copyMemory(from: source, byteCount: bytesPerRow * height)
                for _ in 0..<blur.passes {
                    kf_box_blur(rows.base, bytesPerRow, width, height, blur.boxRadius, scratch.base)
                }
            }
        }
    }
}

/// The squares that stand for a Gaussian.
struct BoxBlur: Equatable {
    /// Half the side of the square: a square of 2r + 1 pixels lies around a pixel.
    let boxRadius: UInt32
    /// How often the mean is taken.
    let passes: Int

    /// The size of the box that the SVG standard gives for a standard deviation, made odd; nil when there is nothing to
    /// do.
    ///
    /// Radii beyond about 34,000 count as that many: the square would not fit into the sums.
    init?(radius: Double) {
        guard radius > 0 else { return nil }
        let deviation = min(max(radius, 2), 100_000)
        let side = Int((deviation * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down))
        boxRadius = UInt32(min(side / 2, 32767))
        passes = radius < 0.5 ? 1 : radius < 1.5 ? 2 : 3
    }
}
