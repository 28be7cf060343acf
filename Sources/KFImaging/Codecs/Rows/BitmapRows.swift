// The rows of a bitmap in the form that encoders take.

/// Rows of a bitmap, a few at a time, converted on the way.
struct BitmapRows {
    enum Conversion {
        case none
        case straight
        case flattenedOnWhite
    }
    private let bitmap: Bitmap
    private let conversion: Conversion

    init(_ bitmap: Bitmap, _ conversion: Conversion) {
        self.bitmap = bitmap
        self.conversion = conversion
    }

    /// Calls `body` with rows, their distance in bytes and their number, until it returns false.
    ///
    /// - Returns: The last result of `body`.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)`` when there is no memory for a band.
    func forEachBand(
        height: Int = 16,
        _ body: (UnsafePointer<UInt8>, Int, Int) -> Bool
    ) throws(ImagingError) -> Bool {
        try bitmap.withUnsafeBytes { bytes throws(ImagingError) -> Bool in
            guard let start = bytes.start else { return false }
            if case .none = conversion { return body(start, bitmap.bytesPerRow, bitmap.height) }
            let band = min(height, bitmap.height)
            let buffer = try Buffer<UInt8>(band * bitmap.bytesPerRow)
            defer { withExtendedLifetime(buffer) {} }
            for first in stride(from: 0, to: bitmap.height, by: band) {
                let count = min(band, bitmap.height - first)
                convert(start + first * bitmap.bytesPerRow, to: buffer.base, rows: count)
                guard body(buffer.base, bitmap.bytesPerRow, count) else { return false }
            }
            return true
        }
    }

    /// Converts whole rows, padding included.
    private func convert(_ bytes: UnsafePointer<UInt8>, to memory: UnsafeMutableRawPointer, rows: Int) {
        let count = rows * bitmap.bytesPerRow / 4
        let source = UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt32.self)
        let target = memory.assumingMemoryBound(to: UInt32.self)
        switch conversion {
        case .none: target.update(from: source, count: count)
        case .straight: Alpha.unpremultiply(source, to: target, count: count)
        case .flattenedOnWhite: Alpha.flattenOnWhite(source, to: target, count: count)
        }
    }
}
