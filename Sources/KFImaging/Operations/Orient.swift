// Turning and mirroring whole bitmaps, and images to orientation `.up`.

extension Bitmap {
    /// The image as it is displayed, when it is stored in the given orientation.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func oriented(from orientation: Orientation) throws(ImagingError) -> Bitmap {
        guard orientation != .up else { return self }
        let display = orientation.isTransposing ? size.transposed : size
        let walk = orientation.walk(through: size)
        let stride = bytesPerRow / 4
        let stepX = walk.dx.y * stride + walk.dx.x
        let stepY = walk.dy.y * stride + walk.dy.x
        let start = walk.start.y * stride + walk.start.x
        // Transposing visits the source column by column; in small squares the lines it touches stay in the cache.
        let square = orientation.isTransposing ? 32 : display.width
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(display, hasAlpha: hasAlpha) { rows in
                guard let pixels = bytes.baseAddress?.assumingMemoryBound(to: UInt32.self) else { return rows.fill() }
                for left in Swift.stride(from: 0, to: display.width, by: square) {
                    for y in 0..<display.height {
                        let target = rows.pixels(y)
                        var place = start + y * stepY + left * stepX
                        for x in left..<min(left + square, display.width) {
                            target[x] = pixels[place]
                            place &+= stepX
                        }
                    }
                }
            }
        }
    }
}

extension Image {
    /// The same image with orientation `.up`; the image itself when there is not enough memory to turn it.
    ///
    /// A preloaded animation stays as it is: its frames have their own orientations.
    package var normalized: Image { metadata.preloaded == nil ? orientedUp : self }

    /// The image with orientation `.up`, also of a preloaded animation; the image itself when there is not enough
    /// memory.
    package var orientedUp: Image { (try? upright()) ?? self }

    /// The same image with orientation `.up`.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func upright() throws(ImagingError) -> Image {
        guard let bitmap = cgImage, imageOrientation != .up else { return self }
        return Image(
            cgImage: try bitmap.oriented(from: imageOrientation),
            scale: scale,
            orientation: .up,
            metadata: metadata
        )
    }
}

extension Image {
    /// The same pixels, taken for pixels that are stored in another orientation. (Not in Kingfisher.)
    ///
    /// - Parameter orientation: How they are to be turned for display.
    /// - Returns: The image.
    @_spi(Server) public func stored(as orientation: Orientation) -> Image {
        guard let cgImage else { return self }
        let shown = shownPart?.turned(by: imageOrientation.inverse).turned(by: orientation)
        return derived(cgImage, orientation: orientation, shows: shown)
    }
}

extension Orientation {
    /// The orientation that takes this one back.
    fileprivate var inverse: Orientation {
        switch self {
        case .left: .right
        case .right: .left
        default: self
        }
    }
}
