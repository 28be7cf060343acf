// The operations of processors on whole images: points in, points out.

package import Foundation

extension Image {
    /// The displayed image in another size in points; scale kept, orientation `.up`.
    ///
    /// - Parameters:
    ///   - size: In points; rounded to whole pixels, at least 1 a side.
    ///   - filter: How pixels are made out of pixels.
    ///   - space: Whether pixels are averaged in linear light, or as encoded sRGB.
    /// - Returns: The image, or nil when no bitmap can have that size or there is not enough memory. An empty
    ///   image is returned unchanged.
    package func resized(
        toPoints size: CGSize,
        filter: ResamplingFilter = .automatic,
        in space: WorkingSpace = .encoded
    ) -> Image? {
        guard let bitmap = cgImage else { return self }
        guard let canvas = Geometry.canvas(points: size, scale: scale) else { return nil }
        // Of two pixels that are equally near, it is the left or the upper one as the image is shown.
        if filter == .nearest, imageOrientation != .up {
            let result = try? bitmap.oriented(from: imageOrientation).resampled(to: canvas, filter: filter)
            return result.map { derived($0, shows: shownPart) }
        }
        // Turning the smaller of the two images is less work, and the kernel is symmetric.
        let stored = imageOrientation.isTransposing ? canvas.transposed : canvas
        let result = try? bitmap.resampled(to: stored, filter: filter, in: space).oriented(from: imageOrientation)
        return result.map { derived($0, shows: shownPart) }
    }

    /// The displayed image with its longer side limited to `limit` pixels, never enlarged; 0 is no limit.
    ///
    /// - Parameters:
    ///   - limit: In pixels.
    ///   - scale: The scale of the result.
    /// - Returns: An image with orientation `.up` and no animation, or nil when there is not enough memory.
    package func downsampled(toMaxPixelSize limit: Int, scale: CGFloat) -> Image? {
        guard let bitmap = cgImage else { return self }
        let target = Geometry.thumbnail(of: bitmap.size, limit: limit)
        let result = try? bitmap.resampled(to: target).oriented(from: imageOrientation)
        return result.map { derived($0, scale: scale, shows: shownPart) }
    }

    /// The displayed image, stretched to a size and with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: The radius of the corners; limited to half of the shorter side.
    ///   - targetSize: In points; nil keeps the image's own.
    ///   - corners: The corners to round.
    ///   - background: Laid under the image, corners included.
    ///   - border: A line whose middle is the outline, so that half of its width shows; its radius does not count.
    /// - Returns: The image, or nil when no bitmap can have that size or there is not enough memory. An empty
    ///   image is returned unchanged.
    package func roundingCorners(
        radius: Radius,
        targetSize: CGSize? = nil,
        corners: RectCorner = .all,
        background: Color? = nil,
        border: Border? = nil
    ) -> Image? {
        let target = targetSize ?? size
        guard cgImage != nil else { return self }
        let radius = pixels(ofRadius: radius, in: target)
        return resized(toPoints: target)?.redrawn { bitmap throws(ImagingError) in
            let outline = RoundedRectangle(in: bitmap.size, radius: radius, corners: corners)
            let stroke = border.flatMap { outline.stroked($0.color, width: pixels($0.lineWidth)) }
            return try bitmap.shaped(clip: outline, stroke: stroke, background: background)
        }
    }

    /// A radius in pixels, not limited in any way; 0 for NaN.
    func pixels(ofRadius radius: Radius, in size: CGSize) -> Double {
        let length = Double(radius.compute(with: size) * scale)
        return length.isNaN ? 0 : length
    }

    /// The part of the displayed image inside a rectangle of `size` points at a relative place; never enlarged.
    ///
    /// - Parameters:
    ///   - size: In points.
    ///   - anchor: 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    /// - Returns: The part; the image itself when nothing would be left; nil when there is not enough memory.
    package func cropped(toPoints size: CGSize, anchor: CGPoint) -> Image? {
        let rect = self.size.constrainedRect(for: size, anchor: anchor)
        return cropped(toPoints: rect)
    }
}
