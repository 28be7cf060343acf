// What the files of each format hold, in one table: encoders refuse more, and all that choose a format ask it.

/// What the files of a format hold, as far as they are written here, and read here and elsewhere.
package struct FormatCapacity: Hashable, Sendable {
    /// The longest side in pixels.
    package var side = Int.max
    /// The most pixels in all.
    package var pixelCount = Int.max
    /// Whether pixels may be transparent.
    package var hasAlpha = true
    /// Whether there may be several frames.
    package var hasFrames = false
    /// Whether its encoder makes larger images smaller, and does not refuse them.
    package var shrinksToFit = false

    fileprivate static let table: [ImageContentType: FormatCapacity] = [
        // What libjpeg writes and reads, 35 less than the format has bits for.
        .jpeg: FormatCapacity(side: 65_500, hasAlpha: false),
        .png: FormatCapacity(side: Int(Int32.max), hasFrames: true),
        .gif: FormatCapacity(side: Int(UInt16.max), hasFrames: true),
        .webp: FormatCapacity(side: 16_383, hasFrames: true),
        // AV1 has more; programs that read with libavif refuse it.
        .avif: FormatCapacity(side: 32_768, pixelCount: 16_384 * 16_384, hasFrames: true),
        .ico: FormatCapacity(side: 256, shrinksToFit: true),
        // Browsers read no longer ones. Files of BMP and of TIFF have at most four gigabytes.
        .bmp: FormatCapacity(side: 65_535, pixelCount: 1_000_000_000),
        // libvips reads no longer ones.
        .tiff: FormatCapacity(side: 10_000_000, pixelCount: 1_000_000_000),
    ]

    /// Whether an image of this size is within the limits.
    package func holds(_ size: PixelSize) -> Bool { size.longerSide <= side && size.pixelCount <= pixelCount }
}

extension ImageContentType {
    /// What files of the format hold; of those that are not written here, no limit is known.
    package var capacity: FormatCapacity { FormatCapacity.table[self] ?? FormatCapacity() }

    /// The longest side of an image in a file of the format, in pixels.
    @_spi(Server) public var longestSide: Int { capacity.side }

    /// The most pixels of an image in a file of the format.
    @_spi(Server) public var mostPixels: Int { capacity.pixelCount }

    /// Throws when no file of the format holds an image of this size.
    func check(_ size: PixelSize) throws(ImagingError) {
        let capacity = capacity
        guard !capacity.shrinksToFit, !capacity.holds(size) else { return }
        let most = size.longerSide > capacity.side ? "\(capacity.side) pixels a side" : "\(capacity.pixelCount) pixels"
        throw .encodingFailed(self, detail: "\(name) images have at most \(most)")
    }
}
