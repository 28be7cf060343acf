// Squares of one colour in place of pixels. For the image server.

extension Image {
    /// The displayed image as squares, each of which has one colour: the mean of its premultiplied pixels.
    ///
    /// - Parameter side: In pixels, from the top left corner; at the right and bottom edges squares are cut off. Up to
    ///   1 nothing changes.
    /// - Returns: The image; nil without memory for it.
    @_spi(Server) public func pixelated(side: Int) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.pixelated(side: side) }
    }
}

extension Bitmap {
    /// The bitmap as squares; see ``Image/pixelated(side:)``.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func pixelated(side: Int) throws(ImagingError) -> Bitmap {
        guard side > 1 else { return self }
        let side = min(side, size.longerSide)
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                for top in stride(from: 0, to: height, by: side) {
                    for left in stride(from: 0, to: width, by: side) {
                        let columns = left..<min(left + side, width)
                        let lines = top..<min(top + side, height)
                        let mean = mean(base, columns, lines)
                        for y in lines { (rows.pixels(y) + left).update(repeating: mean, count: columns.count) }
                    }
                }
            }
        }
    }

    /// The mean of the pixels of some columns and rows, rounded.
    private func mean(_ base: UnsafeRawPointer, _ columns: Range<Int>, _ lines: Range<Int>) -> UInt32 {
        var sum = SIMD4<UInt64>.zero
        for y in lines {
            let row = (base + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)
            // A row is no longer than 2²⁴ pixels can be added up.
            var part = SIMD4<UInt32>.zero
            for x in columns { part &+= SIMD4(row[x] &>> 24, row[x] &>> 16 & 255, row[x] &>> 8 & 255, row[x] & 255) }
            sum &+= SIMD4(truncatingIfNeeded: part)
        }
        let count = UInt64(columns.count * lines.count)
        let mean = (0..<4).map { UInt32((sum[$0] &+ count / 2) / count) }
        return mean[0] << 24 | mean[1] << 16 | mean[2] << 8 | mean[3]
    }
}
