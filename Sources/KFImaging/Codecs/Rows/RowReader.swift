// From decoded rows to a bitmap of the requested size, holding no more than a band of them.

/// A decoder that hands out its rows one after another.
protocol RowReader {
    /// Decodes the next rows as four bytes a pixel.
    ///
    /// - Returns: How many rows were decoded; fewer than `count` means that no more can be.
    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int
}

/// Decodes rows into a bitmap, resizing on the way.
struct RowDecoding {
    /// The size that the reader's rows have.
    let source: PixelSize
    /// How much of that is the image; nil when all of it is.
    var extent: PixelExtent?
    let target: PixelSize
    var filter = ResamplingFilter.automatic
    let conversion: PixelConversion
    /// Nil when the pixels must be looked at.
    let hasAlpha: Bool?
    /// The pixel that replaces those of rows that could not be decoded.
    let missing: UInt32

    /// The bitmap, and whether all of its rows could be decoded; nil when not a single one could.
    func bitmap(from reader: some RowReader) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        var decoded = 0
        let bitmap = try Bitmap(target, capacity: { $0 }) { rows, _ throws(ImagingError) in
            decoded = source == target ? fill(rows, from: reader) : try shrink(into: rows, from: reader)
            // Missing rows may be transparent.
            return hasAlpha == false && (decoded == source.height || missing >> 24 == 255) ? false : nil
        }
        return decoded > 0 ? (bitmap, decoded == source.height) : nil
    }

    /// Decodes rows of the size that the target has; returns how many there were.
    func fill(_ rows: PixelRows, from reader: some RowReader) -> Int {
        // With work to do on the rows, a few at a time stay in the cache.
        let band = conversion.isIdentity ? target.height : 16
        var done = 0
        while done < target.height {
            let wanted = min(band, target.height - done)
            let count = reader.read(into: rows.row(done), bytesPerRow: rows.bytesPerRow, count: wanted)
            if !conversion.isIdentity {
                for y in done..<done + count { conversion.apply(rows.row(y), count: target.width) }
            }
            done += count
            if count < wanted { break }
        }
        rows.fill(from: done, with: missing)
        return done
    }

    private func shrink(into rows: PixelRows, from reader: some RowReader) throws(ImagingError) -> Int {
        var resampler = try Resampler(from: source, extent: extent, to: target, filter)
        defer { withExtendedLifetime(resampler) {} }
        let bytesPerRow = resampler.bytesPerRow
        var done = 0
        var isComplete = true
        while isComplete, let space = resampler.space {
            let count = reader.read(into: space.rows, bytesPerRow: bytesPerRow, count: space.count)
            for y in 0..<count { conversion.apply(space.rows + y * bytesPerRow, count: source.width) }
            resampler.receive(count, to: rows)
            done += count
            isComplete = count == space.count
        }
        while let space = resampler.space {
            UnsafeMutableRawPointer(space.rows).bindMemory(to: UInt32.self, capacity: source.width)
                .update(repeating: missing, count: source.width)
            resampler.receive(1, to: rows)
        }
        return done
    }
}
