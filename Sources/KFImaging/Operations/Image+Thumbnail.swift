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
        guard let whole = try? scaled(for: thumbnail), let rect = try? whole.rect(of: thumbnail),
            let result = try? whole.part(rect)
        else { return nil }
        return derived(result, scale: scale, shows: shownPart?.part(rect, of: whole.size, for: thumbnail))
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
        let whole = try bitmap.resampled(to: size)
        let rect = try whole.rect(of: thumbnail)
        return derived(try whole.part(rect), shows: shownPart?.part(rect, of: whole.size, for: thumbnail))
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
    /// The part of the scaled image that a thumbnail keeps.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func rect(of thumbnail: Thumbnail) throws(ImagingError) -> PixelRect {
        let kept = thumbnail.kept(of: size)
        switch thumbnail.anchor {
        case .smart: return try smartCropRect(of: kept)
        case .point(let anchor): return Thumbnail.place(of: kept, in: size, anchor)
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

extension ShownPart {
    /// The part in a rectangle of an image that was scaled for a thumbnail.
    func part(_ rect: PixelRect, of scaled: PixelSize, for thumbnail: Thumbnail) -> ShownPart {
        let shown = thumbnail.coverage ?? PixelExtent(width: 1, height: 1)
        let middle = CGRect(
            x: (1 - shown.width) / 2,
            y: (1 - shown.height) / 2,
            width: shown.width,
            height: shown.height
        )
        return part(middle).part(rect, of: scaled)
    }
}
