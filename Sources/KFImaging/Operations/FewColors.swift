// Whether an image has few colours, as drawings, screens and GIFs have; for encoders that can go without loss.

extension Bitmap {
    /// Whether there are no more than 256 different pixels, transparent ones counted as one.
    var hasFewColors: Bool {
        var colors: Set<UInt32> = []
        var last: UInt32?
        return withUnsafeBytes { bytes in
            for y in 0..<height {
                let row = UnsafeRawBufferPointer(rebasing: bytes[(y * bytesPerRow)...].prefix(width * 4))
                // Neighbours are mostly equal where colours are few.
                for pixel in row.bindMemory(to: UInt32.self) where pixel != last {
                    last = pixel
                    colors.insert(pixel)
                    if colors.count > 256 { return false }
                }
            }
            return true
        }
    }
}
