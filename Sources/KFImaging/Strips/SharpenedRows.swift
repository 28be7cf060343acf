// A step in strips: unsharp masking, of as many rows as the Gaussian is high.

/// The rows of an image with its details more pronounced.
final class SharpenedRows: ImageRows {
    private let rows: any ImageRows
    private let mask: UnsharpMask
    /// Blurs side by side, of the columns that each begins at.
    private let blurs: [(left: Int, blur: RowBlur)]
    /// The rows that the Gaussian reaches from the next row on; row y is at y modulo their number.
    private let window: Buffer<UInt8>
    private let slots: Int
    private let sharp: Buffer<UInt8>
    private var received = 0
    private var given = 0

    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(_ rows: any ImageRows, _ mask: UnsharpMask) throws(ImagingError) {
        (self.rows, self.mask) = (rows, mask)
        let (size, step) = (rows.size, RowBlur.mostColumns)
        var blurs: [(left: Int, blur: RowBlur)] = []
        for left in stride(from: 0, to: size.width, by: step) {
            let blur = try RowBlur(size, sigma: mask.sigma)
            blur.start(left..<min(left + step, size.width))
            blurs.append((left, blur))
        }
        self.blurs = blurs
        slots = mask.reach + 1
        window = try Buffer(slots * size.width * 4)
        sharp = try Buffer(size.width * 4)
    }

    var size: PixelSize { rows.size }
    private var bytesPerRow: Int { size.width * 4 }

    func next() throws(ImagingError) -> UnsafePointer<UInt8> {
        while received < min(given + slots, size.height) {
            slot(received).update(from: try rows.next(), count: bytesPerRow)
            received += 1
        }
        let source = slot(given)
        for (left, blur) in blurs {
            let mean = blur.row(given) { UnsafePointer(slot($0)) }
            let count = min(RowBlur.mostColumns, size.width - left) * 4
            mask.sharpen(source + left * 4, mean, to: sharp.base + left * 4, count: count)
        }
        given += 1
        return UnsafePointer(sharp.base)
    }

    private func slot(_ y: Int) -> UnsafeMutablePointer<UInt8> { window.base + y % slots * bytesPerRow }
}
