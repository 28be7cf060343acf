// The pixels of a bitmap by name, for programs that change or read them one by one.

extension Bitmap {
    /// One pixel, as it lies in memory: colours are multiplied by alpha, so none is more than it.
    public struct Pixel: Hashable, Sendable {
        /// The amount of blue, 0…alpha.
        public var blue: UInt8
        /// The amount of green, 0…alpha.
        public var green: UInt8
        /// The amount of red, 0…alpha.
        public var red: UInt8
        /// The opacity: 0 is nothing, 255 is opaque.
        public var alpha: UInt8

        /// A pixel of these components.
        ///
        /// - Parameters:
        ///   - red: The amount of red, multiplied by alpha.
        ///   - green: The amount of green, multiplied by alpha.
        ///   - blue: The amount of blue, multiplied by alpha.
        ///   - alpha: The opacity.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
        }
    }

    /// The pixel at a place as it is stored, from the upper left corner; outside of the bitmap, the nearest one at its
    /// edge.
    public subscript(x: Int, y: Int) -> Pixel {
        let (x, y) = (min(max(x, 0), width - 1), min(max(y, 0), height - 1))
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 4, as: Pixel.self) }
    }

    /// A bitmap with every pixel changed on its own.
    ///
    /// It runs on the caller's thread.
    ///
    /// - Parameter transform: Changes a pixel. Colours that it makes larger than alpha become alpha.
    /// - Returns: The new bitmap, of the same size.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    public func mapPixels(_ transform: (inout Pixel) -> Void) throws(ImagingError) -> Bitmap {
        try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: nil) { rows in
                for y in 0..<height {
                    rows.pixels(y).withMemoryRebound(to: Pixel.self, capacity: width) { row in
                        for x in 0..<width {
                            let place = y * bytesPerRow + x * 4
                            var pixel = bytes.loadUnaligned(fromByteOffset: place, as: Pixel.self)
                            transform(&pixel)
                            pixel.red = min(pixel.red, pixel.alpha)
                            pixel.green = min(pixel.green, pixel.alpha)
                            pixel.blue = min(pixel.blue, pixel.alpha)
                            row[x] = pixel
                        }
                    }
                }
            }
        }
    }
}
