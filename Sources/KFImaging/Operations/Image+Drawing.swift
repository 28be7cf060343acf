// Blending, shapes and turns of whole images, for processors: points in, points out.

package import Foundation

// Every operation works on the displayed image, keeps the scale and returns orientation `.up`; nil means that there is
// not enough memory or that no bitmap can have the size. An empty image is returned unchanged, and so is an image for
// which the parameters make no sense.
extension Image {
    /// The image laid over a colour, or over nothing, in some blend mode.
    ///
    /// - Parameters:
    ///   - mode: How the two become one.
    ///   - alpha: The factor for the image's opacity, applied first; limited to 0…1, NaN counts as 1.
    ///   - background: The colour that the image is laid over.
    /// - Returns: The new image.
    package func blended(_ mode: CGBlendMode, alpha: CGFloat, background: Color?) -> Image? {
        redrawn { bitmap throws(ImagingError) in
            try bitmap.blended(mode, alpha: Double(alpha.isNaN ? 1 : alpha.clampedToUnit), background: background)
        }
    }

    /// A colour laid over the image in some blend mode.
    ///
    /// - Parameters:
    ///   - color: The colour; its alpha counts.
    ///   - mode: How the two become one: the colour is the source, the image the destination.
    /// - Returns: The new image.
    package func tinted(with color: Color, _ mode: CGBlendMode) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.tinted(with: color, mode) }
    }

    /// The image with a line drawn inside its edges.
    package func bordered(_ border: Border) -> Image? {
        let width = pixels(border.lineWidth)
        guard width > 0 else { return redrawn { $0 } }
        let radius = pixels(ofRadius: border.radius, in: size)
        return redrawn { bitmap throws(ImagingError) in
            let outer = RoundedRectangle(in: bitmap.size, radius: radius, corners: border.roundingCorners)
            // The middle of the line is what is rounded; a radius within half the line's width leaves it square.
            let isRounded = outer.radius > width / 2
            let stroke = Stroke(
                outer: isRounded ? outer : RoundedRectangle(in: bitmap.size, radius: 0, corners: []),
                inner: RoundedRectangle(
                    in: bitmap.size,
                    inset: width,
                    radius: isRounded ? outer.radius - width : 0,
                    corners: border.roundingCorners
                ),
                color: border.color
            )
            return try bitmap.shaped(clip: nil, stroke: stroke, background: nil)
        }
    }

    /// The middle of the image, as a circle.
    ///
    /// - Parameter border: A line whose middle is the rim, so that half of its width shows; its radius does not count.
    /// - Returns: The new image.
    package func circled(border: Border?) -> Image? {
        let width = border.map { pixels($0.lineWidth) } ?? 0
        return redrawn { bitmap throws(ImagingError) in
            let side = min(bitmap.width, bitmap.height)
            let square = try bitmap.part(
                x: (bitmap.width - side) / 2,
                y: (bitmap.height - side) / 2,
                PixelSize(side, side)
            )
            let circle = RoundedRectangle(in: square.size, radius: Double(side) / 2, corners: .all)
            let stroke = border.flatMap { circle.stroked($0.color, width: width) }
            return try square.shaped(clip: circle, stroke: stroke, background: nil)
        }
    }

    /// The image with a colour over what is visible of it.
    ///
    /// - Parameters:
    ///   - color: The colour; its alpha counts.
    ///   - fraction: How much of the image shows: 0 is nothing but the colour, 1 the image as it is.
    /// - Returns: The new image.
    package func overlaid(_ color: Color, fraction: CGFloat) -> Image? {
        guard !fraction.isNaN else { return redrawn { $0 } }
        let share = 1 - Double(fraction.clampedToUnit)
        return redrawn { bitmap throws(ImagingError) in try bitmap.overlaid(color, share: share) }
    }

    /// The image turned around its centre.
    ///
    /// - Parameters:
    ///   - angle: In radians, counter-clockwise.
    ///   - fits: Whether the canvas gets as large as the turned image; it keeps its size otherwise.
    /// - Returns: The new image.
    package func rotated(by angle: CGFloat, fits: Bool) -> Image? {
        guard angle.isFinite else { return redrawn { $0 } }
        let turn = Bitmap.orientation(turnedBy: Double(angle))
        return moved { bitmap, shownPart throws(ImagingError) in
            // Where the canvas keeps its shape, a quarter turn leaves parts of it empty.
            let isWhole = fits || bitmap.width == bitmap.height || turn?.isTransposing == false
            shownPart = isWhole ? turn.flatMap { shownPart?.turned(by: $0) } : nil
            return try bitmap.rotated(by: Double(angle), fits: fits)
        }
    }

    /// The image as a mirror shows it.
    package func flipped(horizontally: Bool, vertically: Bool) -> Image? {
        let orientation: Orientation =
            switch (horizontally, vertically) {
            case (false, false): .up
            case (true, false): .upMirrored
            case (false, true): .downMirrored
            case (true, true): .down
            }
        return moved { bitmap, shownPart throws(ImagingError) in
            shownPart = shownPart?.turned(by: orientation)
            return try bitmap.oriented(from: orientation)
        }
    }

    /// The image without edges that are transparent, or of the colour of its upper left corner.
    ///
    /// - Parameter tolerance: By how much a pixel may differ, 0…1.
    /// - Returns: The part that is left; the image itself when nothing is empty, or everything.
    package func trimmed(tolerance: CGFloat) -> Image? {
        cut { bitmap throws(ImagingError) in bitmap.trimmedRect(tolerance: Double(tolerance.clampedToUnit)) }
    }

    /// The part of the displayed image that trimming leaves; nil when everything is empty.
    package func trimmedRect(tolerance: CGFloat) -> PixelRect? {
        (try? upright())?.cgImage?.trimmedRect(tolerance: Double(tolerance.clampedToUnit))
    }

    /// The most interesting part of the image, `size` points large; never enlarged.
    package func smartCropped(toPoints size: CGSize) -> Image? {
        cut { bitmap throws(ImagingError) in
            guard let target = windowSize(size) else { return nil }
            return try bitmap.smartCropRect(of: target)
        }
    }

    /// The most interesting part of the displayed image; nil when none is requested, or when there is not enough memory
    /// to find it.
    package func smartCropRect(ofPoints size: CGSize) -> PixelRect? {
        windowSize(size).flatMap { try? upright().cgImage?.smartCropRect(of: $0) }
    }

    private func windowSize(_ size: CGSize) -> PixelSize? {
        let (width, height) = (pixels(size.width), pixels(size.height))
        guard width > 0, height > 0 else { return nil }
        func side(_ length: Double) -> Int { Int(min(length.rounded(), Double(Int32.max))) }
        return PixelSize(side(width), side(height))
    }

    /// A part of the displayed image, as far as it is within it.
    ///
    /// - Parameter part: The part; nil is all of it.
    /// - Returns: The part; nil when there is not enough memory.
    package func cropped(to part: PixelRect?) -> Image? {
        cut { _ throws(ImagingError) in part }
    }

    /// The image with its details more pronounced.
    ///
    /// - Parameters:
    ///   - sigma: How large details are: the standard deviation of a Gaussian, in *pixels*.
    ///   - amount: How much they are enhanced; 1 doubles them.
    /// - Returns: The new image.
    package func sharpened(sigma: CGFloat, amount: CGFloat) -> Image? {
        redrawn { bitmap throws(ImagingError) in
            try bitmap.sharpened(sigma: Double(sigma), amount: Double(amount))
        }
    }

    /// The part of the image inside a rectangle in points, made integral outwards in pixels and cut at the edges; all
    /// of it when nothing would be left.
    package func cropped(toPoints rect: CGRect) -> Image? {
        let part = CGRect(
            x: rect.origin.x * scale,
            y: rect.origin.y * scale,
            width: rect.size.width * scale,
            height: rect.size.height * scale
        )
        return cut { bitmap throws(ImagingError) in
            Geometry.pixelRect(part, within: bitmap.size).map { PixelRect(x: $0.x, y: $0.y, size: $0.size) }
        }
    }

    /// The image on a canvas of exactly `size` points: stretched, fitted with margins, or filling it and cut.
    ///
    /// - Parameters:
    ///   - canvas: The size of the canvas.
    ///   - mode: How the image is fitted to it.
    ///   - anchor: Where on it the image is, or which part of the image is on it, 0…1 on each axis.
    ///   - background: The colour of the canvas; nil is no colour.
    /// - Returns: The new image.
    package func placed(
        onPoints canvas: CGSize,
        mode: ContentMode,
        anchor: CGPoint = CGPoint(x: 0.5, y: 0.5),
        background: Color? = nil
    ) -> Image? {
        guard cgImage != nil else { return self }
        guard canvas.width > 0, canvas.height > 0, let target = Geometry.canvas(points: canvas, scale: scale) else {
            let isNonsense = canvas.width.isNaN || canvas.height.isNaN || canvas.width <= 0 || canvas.height <= 0
            return isNonsense ? redrawn { $0 } : nil
        }
        guard let resized = resized(toPoints: size.resized(to: canvas, for: mode)) else { return nil }
        return resized.moved { bitmap, shownPart throws(ImagingError) in
            let placed = try bitmap.placed(in: target, anchor: anchor)
            let (left, top) = bitmap.offset(in: target, anchor: anchor)
            let isCovered = target.width <= bitmap.width && target.height <= bitmap.height
            let part = PixelRect(x: -left, y: -top, size: target)
            shownPart = isCovered ? shownPart?.part(part, of: bitmap.size) : nil
            guard let background, placed.hasAlpha else { return placed }
            shownPart = nil
            return try placed.blended(.normal, alpha: 1, background: background)
        }
    }
}

extension RoundedRectangle {
    /// The inner half of a line whose middle is the outline; nil without a width.
    func stroked(_ color: Color, width: Double) -> Stroke? {
        guard width > 0 else { return nil }
        let inner = RoundedRectangle(in: size, inset: width / 2, radius: radius - width / 2, corners: corners)
        return Stroke(outer: self, inner: inner, color: color)
    }
}
