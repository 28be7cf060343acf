// A step in strips: rows of another size, made of as many rows as the kernel is high.

/// The rows of an image in another size.
final class ResizedRows: ImageRows {
    private let rows: any ImageRows
    private var resampler: Resampler
    /// The two rows that are made at a time.
    private let pair: Buffer<UInt8>
    private let target: PixelSize
    private var given = 0
    private var made = 0

    /// - Parameters:
    ///   - rows: The rows of the image.
    ///   - extent: How much of them is the image; nil when all of it is.
    ///   - target: The size to make.
    ///   - filter: The kernel.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(
        _ rows: any ImageRows,
        extent: PixelExtent? = nil,
        to target: ScaledSize,
        _ filter: ResamplingFilter
    ) throws(ImagingError) {
        self.rows = rows
        self.target = target.size
        resampler = try Resampler(from: rows.size, extent: extent, to: target, filter)
        pair = try Buffer(target.size.width * 4 * 2)
    }

    var size: PixelSize { target }

    func next() throws(ImagingError) -> UnsafePointer<UInt8> {
        let (pair, bytesPerRow) = (pair.base, target.width * 4)
        while given >= made {
            while resampler.needsRow { resampler.take(try rows.next()) }
            made = resampler.makeLines { pair + $0 % 2 * bytesPerRow }
        }
        defer { given += 1 }
        return UnsafePointer(pair + given % 2 * bytesPerRow)
    }
}

/// The rows of an image that was made smaller by so much that it is in memory.
final class ReducedRows: ImageRows {
    private let bitmap: Bitmap
    private var given = 0

    /// Nil where the kernel alone is right, as ``ResizedRows`` uses it.
    ///
    /// - Parameters:
    ///   - rows: The rows of the image, all of which are made now.
    ///   - extent: How much of them is the image; nil when all of it is.
    ///   - target: The size to make.
    ///   - filter: The kernel after the mean of boxes.
    /// - Throws: The errors of the rows, and ``ImagingError/outOfMemory(bytes:)``.
    init?(
        _ rows: any ImageRows,
        extent: PixelExtent? = nil,
        to target: ScaledSize,
        _ filter: ResamplingFilter
    ) throws(ImagingError) {
        guard var boxes = try BoxReduction(from: rows.size, extent: extent, to: target, filter) else { return nil }
        bitmap = try Bitmap(target.size, hasAlpha: false) { output throws(ImagingError) in
            for _ in 0..<rows.size.height { boxes.addRow(try rows.next(), to: output) }
        }
    }

    var size: PixelSize { bitmap.size }

    func next() -> UnsafePointer<UInt8> {
        defer { given += 1 }
        return bitmap.baseAddress + given * bitmap.bytesPerRow
    }
}
