// Thumbnails of images that are decoded already, and the cropping of those that were decoded small.

package import Foundation

extension Image {
    /// The displayed image as a thumbnail.
    ///
    /// - Parameters:
    ///   - thumbnail: The box in pixels.
    ///   - scale: The scale of the result.
    /// - Returns: An image with orientation `.up` and no animation, or nil when there is not enough memory, or the size
    ///   is not allowed. An empty image is returned unchanged.
    package func thumbnail(_ thumbnail: Thumbnail, scale: CGFloat) -> Image? {
        guard cgImage != nil else { return self }
        return (try? scaled(for: thumbnail)?.cut(to: thumbnail)).flatMap { $0.map { derived($0, scale: scale) } }
    }

    /// The thumbnail of an image that this one is the whole of, upright and in fewer pixels: as large as if it were
    /// made of that one.
    ///
    /// - Parameters:
    ///   - thumbnail: The box in pixels.
    ///   - original: The size of that image, as it is displayed.
    /// - Returns: An image without animation; an empty image is returned unchanged.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func thumbnail(_ thumbnail: Thumbnail, ofOriginal original: PixelSize) throws(ImagingError) -> Image {
        guard let bitmap = cgImage else { return self }
        let size = ScaledSize(thumbnail.scaled(original), coverage: thumbnail.coverage, in: thumbnail.space)
        return derived(try bitmap.resampled(to: size).cut(to: thumbnail))
    }

    /// A box of which ``ThumbnailAnchor/smart`` has become a place: the one that is right for this image.
    ///
    /// - Parameter thumbnail: The box in pixels.
    /// - Returns: The box; the same one when no place has to be found.
    package func resolvingSmartAnchor(of thumbnail: Thumbnail) -> Thumbnail {
        guard thumbnail.anchor == .smart, let whole = try? scaled(for: thumbnail),
            let part = try? whole.smartCropRect(of: thumbnail.kept(of: whole.size))
        else { return thumbnail }
        func place(_ position: Int, _ free: Int) -> Double { free > 0 ? Double(position) / Double(free) : 0.5 }
        var resolved = thumbnail
        resolved.anchor = .point(
            CGPoint(
                x: place(part.x, whole.width - part.size.width),
                y: place(part.y, whole.height - part.size.height)
            )
        )
        return resolved
    }

    /// All of the displayed image, in the size that a thumbnail is cut out of; nil for an empty image.
    private func scaled(for thumbnail: Thumbnail) throws(ImagingError) -> Bitmap? {
        guard let bitmap = cgImage else { return nil }
        let isTurned = imageOrientation.isTransposing
        var options = DecodingOptions()
        options.thumbnail = thumbnail
        try thumbnail.check(enlarging: isTurned ? bitmap.size.transposed : bitmap.size, options.limits)
        // Turning the smaller of the two images is less work, and the kernel is symmetric.
        return try bitmap.resampled(to: options.target(for: bitmap.size, imageOrientation))
            .oriented(from: imageOrientation)
    }
}

extension Bitmap {
    /// The part of the scaled image that a thumbnail keeps; this bitmap itself when that is all of it.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func cut(to thumbnail: Thumbnail) throws(ImagingError) -> Bitmap {
        let kept = thumbnail.kept(of: size)
        switch thumbnail.anchor {
        case .smart: return try part(smartCropRect(of: kept))
        case .point(let anchor): return try part(Thumbnail.place(of: kept, in: size, anchor))
        }
    }
}

extension Thumbnail {
    /// Where a part of a size lies in an image, at a relative place.
    static func place(of kept: PixelSize, in size: PixelSize, _ anchor: CGPoint) -> PixelRect {
        func place(_ anchor: CGFloat, _ free: Int) -> Int {
            Int((Double(free) * min(max(anchor.isNaN ? 0.5 : Double(anchor), 0), 1)).rounded())
        }
        return PixelRect(
            x: place(anchor.x, size.width - kept.width),
            y: place(anchor.y, size.height - kept.height),
            size: kept
        )
    }
}
