// Blurring by repeated means of squares, which comes close to a Gaussian. Lengths are in pixels.

import CKFCodecs

extension Bitmap {
    /// This bitmap, blurred like by a Gaussian of that standard deviation in pixels, two at least: Kingfisher's rule.
    ///
    /// Nothing is blurred by a radius that is not above 0. The time it takes does not depend on the radius. Beyond the
    /// edges lie the pixels at the edges, so nothing gets darker or transparent there.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func blurred(radius: Double) throws(ImagingError) -> Bitmap {
        guard let blur = BoxBlur(radius: radius) else { return self }
        return try blurred(blur)
    }

    /// This bitmap, blurred by a Gaussian of a standard deviation in pixels, which is kept within a twentieth.
    ///
    /// Below a tenth of a pixel nothing changes.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func gaussianBlurred(sigma: Double) throws(ImagingError) -> Bitmap {
        guard sigma >= 0.1 else { return self }
        if sigma > 4 { return try blurred(BoxBlur(sigma: sigma)) }
        return try blurred(RowBlur(size, sigma: sigma))
    }

    func blurred(_ blur: RowBlur) throws(ImagingError) -> Bitmap {
        try combined(with: blur) { _, mean, target, count in
            for index in 0..<count { target[index] = UInt8(min(mean[index] + 0.5, 255)) }
        }
    }

    func blurred(_ blur: BoxBlur) throws(ImagingError) -> Bitmap {
        // Sums of columns take as much as ten rows, and the rows above a pixel are kept: together they may be more than
        // the image itself.
        let isMuch = kf_box_blur_scratch(bytesPerRow, height, blur.widest) > bytesPerRow * height / 2
        return isMuch ? try blurredInPieces(blur) : try blurredAtOnce(blur)
    }

    /// Blurs pieces side by side, each together with the columns around it that its pixels depend on.
    private func blurredInPieces(_ blur: BoxBlur) throws(ImagingError) -> Bitmap {
        let reach = blur.radii.reduce(0) { $0 + Int($1) }
        let step = max(1 << 15, 2 * reach)
        guard width > step else { return try blurredAtOnce(blur) }
        return try Bitmap(size, hasAlpha: hasAlpha ? nil : false) { rows throws(ImagingError) in
            for left in stride(from: 0, to: width, by: step) {
                let right = min(left + step, width)
                let (first, end) = (max(0, left - reach), min(right + reach, width))
                let piece = try part(x: first, y: 0, PixelSize(end - first, height)).blurredAtOnce(blur)
                piece.forEachRow { y, row in
                    (rows.pixels(y) + left).update(from: row + (left - first), count: right - left)
                }
            }
        }
    }

    private func blurredAtOnce(_ blur: BoxBlur) throws(ImagingError) -> Bitmap {
        let scratch = try Buffer<UInt8>(kf_box_blur_scratch(bytesPerRow, height, blur.widest))
        defer { withExtendedLifetime(scratch) {} }
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha ? nil : false) { rows in
                guard let source = bytes.baseAddress else { return rows.fill() }
                UnsafeMutableRawPointer(rows.base).copyMemory(from: source, byteCount: bytesPerRow * height)
                for radius in blur.radii {
                    kf_box_blur(rows.base, bytesPerRow, width, height, radius, scratch.base)
                }
            }
        }
    }
}

/// The squares that stand for a Gaussian.
struct BoxBlur: Equatable {
    /// Half the side of each square whose mean is taken: a square of 2r + 1 pixels lies around a pixel.
    let radii: [UInt32]

    var widest: UInt32 { radii.max() ?? 0 }

    private static let largest = 32_767.0

    /// The size of the box that the SVG standard gives for a standard deviation, made odd; nil when there is nothing to
    /// do.
    ///
    /// Radii beyond about 34,000 count as that many: the square would not fit into the sums.
    init?(radius: Double) {
        guard radius > 0 else { return nil }
        let deviation = min(max(radius, 2), 100_000)
        let side = Int((deviation * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down))
        let boxRadius = UInt32(min(side / 2, Int(Self.largest)))
        radii = [UInt32](repeating: boxRadius, count: radius < 0.5 ? 1 : radius < 1.5 ? 2 : 3)
    }

    /// Three boxes that together come as close as possible to the Gaussian's variance.
    ///
    /// A box of radius r has the variance r(r + 1)/3.
    init(sigma: Double) {
        let variance = min(sigma, Self.largest) * min(sigma, Self.largest)
        let small = ((1 + 4 * variance).squareRoot() / 2 - 0.5).rounded(.down)
        // The number of boxes with a radius of r + 1; each adds 2(r + 1)/3 to the variance.
        let wider = Int(((variance - small * (small + 1)) * 3 / (2 * (small + 1))).rounded())
        radii = (0..<3).map { UInt32(min(small + ($0 < wider ? 1 : 0), Self.largest)) }
    }
}
