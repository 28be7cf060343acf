// From decoded rows to a bitmap of the requested size, holding no more than a band of them.

/// A decoder that hands out its rows one after another.
protocol RowReader {
    /// Decodes the next rows as four bytes a pixel.
    ///
    /// - Returns: How many rows were decoded; fewer than `count` means that no more can be.
    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int
}

/// A decoder that hands out parts of rows too: for rows so long that one of them takes more memory than is right.
protocol RowPartReader: RowReader {
    /// Decodes the next pixels of a row. A row that has been begun is read to its end this way.
    ///
    /// - Parameters:
    ///   - columns: Where in the row they lie: behind those before, beginning at 0.
    ///   - pixels: Room for them, four bytes each.
    /// - Returns: Whether they could be decoded; false at the beginning of a row only.
    func readPart(_ columns: Range<Int>, into pixels: UnsafeMutablePointer<UInt8>) -> Bool
}

/// Decodes rows into a bitmap, resizing on the way.
struct RowDecoding {
    /// The size that the reader's rows have.
    let source: PixelSize
    /// How much of the bitmap is the image; nil when all of it is.
    var extent: PixelExtent?
    let target: ScaledSize
    var filter = ResamplingFilter.automatic
    let conversion: PixelConversion
    /// Nil when the pixels must be looked at.
    let hasAlpha: Bool?
    /// The pixel that replaces those of rows that could not be decoded.
    let missing: UInt32

    /// The bitmap, and whether all of its rows could be decoded; nil when not a single one could.
    func bitmap(from reader: some RowReader) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        var decoded = 0
        let bitmap = try Bitmap(target.size, capacity: { $0 }) { rows, _ throws(ImagingError) in
            decoded = source == target.size ? fill(rows, from: reader) : try resize(into: rows, from: reader)
            // Missing rows may be transparent.
            return hasAlpha == false && (decoded == source.height || missing >> 24 == 255) ? false : nil
        }
        return decoded > 0 ? (bitmap, decoded == source.height) : nil
    }

    /// Decodes rows of the size that the target has; returns how many there were.
    func fill(_ rows: PixelRows, from reader: some RowReader) -> Int {
        // With work to do on the rows, a few at a time stay in the cache.
        let target = self.target.size
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

    private func resize(into rows: PixelRows, from reader: some RowReader) throws(ImagingError) -> Int {
        if var boxes = try BoxReduction(from: source, extent: extent, to: target, filter) {
            return try reduce(&boxes, into: rows, from: reader)
        }
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

// MARK: - Large reductions

extension RowDecoding {
    /// How many pixels of a very long row are decoded at a time.
    private static let partLength = 1 << 16

    private func reduce(
        _ boxes: inout BoxReduction,
        into rows: PixelRows,
        from reader: some RowReader
    ) throws(ImagingError) -> Int {
        let done =
            if source.width > Self.partLength, let reader = reader as? any RowPartReader {
                try addParts(of: reader, to: &boxes, rows)
            } else {
                try addBands(of: reader, to: &boxes, rows)
            }
        guard done < source.height else { return done }
        let pixels = try Buffer<UInt32>(source.width)
        defer { withExtendedLifetime(pixels) {} }
        pixels.base.update(repeating: missing, count: pixels.count)
        let row = UnsafeRawPointer(pixels.base).assumingMemoryBound(to: UInt8.self)
        for _ in done..<source.height { boxes.addRow(row, to: rows) }
        return done
    }

    /// Decodes a few rows at a time; returns how many there were.
    private func addBands(
        of reader: some RowReader,
        to boxes: inout BoxReduction,
        _ rows: PixelRows
    ) throws(ImagingError) -> Int {
        let (band, bytesPerRow) = (Resampler.band(of: source), source.width * 4)
        let pixels = try Buffer<UInt8>(band * bytesPerRow)
        defer { withExtendedLifetime(pixels) {} }
        var done = 0
        while done < source.height {
            let wanted = min(band, source.height - done)
            let count = reader.read(into: pixels.base, bytesPerRow: bytesPerRow, count: wanted)
            for y in 0..<count {
                let row = pixels.base + y * bytesPerRow
                conversion.apply(row, count: source.width)
                boxes.addRow(row, to: rows)
            }
            done += count
            if count < wanted { break }
        }
        return done
    }

    /// Decodes a part of a row at a time; returns how many rows there were.
    private func addParts(
        of reader: any RowPartReader,
        to boxes: inout BoxReduction,
        _ rows: PixelRows
    ) throws(ImagingError) -> Int {
        let pixels = try Buffer<UInt8>(Self.partLength * 4)
        defer { withExtendedLifetime(pixels) {} }
        for y in 0..<source.height {
            for column in stride(from: 0, to: source.width, by: Self.partLength) {
                let count = min(Self.partLength, source.width - column)
                guard reader.readPart(column..<column + count, into: pixels.base) else { return y }
                conversion.apply(pixels.base, count: count)
                boxes.add(pixels.base, column: column, count: count)
            }
            boxes.endRow(to: rows)
        }
        return source.height
    }
}
