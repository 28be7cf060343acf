// What processors do to an image: points in, points out. Knows no processor and no option.

package import Foundation

extension Image {
    /// The displayed picture in another size in points; scale kept, orientation `.up`.
    ///
    /// - Parameter size: In points; rounded to whole pixels, at least 1 a side.
    /// - Returns: The image, or nil when no bitmap can have that size or the memory for it cannot be had. An empty image
    ///   is returned unchanged.
    package func resized(toPoints size: CGSize) -> Image? {
        guard let bitmap = cgImage else { return self }
        guard let canvas = Geometry.canvas(points: size, scale: scale) else { return nil }
        // Turning the smaller of the two pictures is less work, and the kernel is symmetric.
        let stored = imageOrientation.isTransposing ? canvas.transposed : canvas
        let result = try? bitmap.resampled(to: stored).oriented(from: imageOrientation)
        return result.map { Image(cgImage: $0, scale: scale) }
    }

    /// The displayed picture with its longer side limited to `limit` pixels, never enlarged; a limit of 0 is none.
    ///
    /// - Parameters:
    ///   - limit: In pixels.
    ///   - scale: The scale of the result.
    /// - Returns: An image with orientation `.up` and no animation, or nil when the memory for it cannot be had.
    package func downsampled(toMaxPixelSize limit: Int, scale: CGFloat) -> Image? {
        guard let bitmap = cgImage else { return self }
        let target = Geometry.thumbnail(of: bitmap.size, limit: limit)
        let result = try? bitmap.resampled(to: target).oriented(from: imageOrientation)
        return result.map { Image(cgImage: $0, scale: scale) }
    }

    /// The displayed picture, stretched to a size and with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: The radius of the corners; limited to half of the shorter side.
    ///   - targetSize: In points; nil keeps the image's own.
    ///   - corners: The corners to round.
    ///   - background: Laid under the picture, corners included.
    /// - Returns: The image, or nil when no bitmap can have that size or the memory for it cannot be had. An empty image
    ///   is returned unchanged.
    package func roundingCorners(
        radius: Radius,
        targetSize: CGSize? = nil,
        corners: RectCorner = .all,
        background: Color? = nil
    ) -> Image? {
        let target = targetSize ?? size
        guard cgImage != nil else { return self }
        guard let resized = resized(toPoints: target), let bitmap = resized.cgImage else { return nil }
        let pixels = Double(radius.compute(with: target) * scale)
        let rounded = bitmap.roundingCorners(
            radius: pixels.isFinite ? pixels : 0,
            corners: corners,
            background: background
        )
        return rounded.map { Image(cgImage: $0, scale: scale) }
    }

    /// The part of the displayed picture inside a rectangle of `size` points at a relative place; never enlarged.
    ///
    /// - Parameters:
    ///   - size: In points.
    ///   - anchor: 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    /// - Returns: The part; the image itself when nothing would be left; nil when the memory for it cannot be had.
    package func cropped(toPoints size: CGSize, anchor: CGPoint) -> Image? {
        guard let upright = try? upright() else { return nil }
        let rect = self.size.constrainedRect(for: size, anchor: anchor)
        let pixels = CGRect(
            x: rect.origin.x * scale,
            y: rect.origin.y * scale,
            width: rect.size.width * scale,
            height: rect.size.height * scale
        )
        do throws(ImagingError) {
            guard let part = try upright.cgImage?.part(pixels) else { return self }
            return Image(cgImage: part, scale: scale)
        } catch {
            return nil
        }
    }
}
