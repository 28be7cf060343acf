// The pixels a terminal shows: opaque or left out, since the colour behind them is not known.

import KFImaging

/// An image without half-transparent pixels.
struct ShownPixels: Equatable, Sendable {
    let width: Int
    let height: Int
    /// From the top left, row by row: `0xFFRRGGBB`, or 0 for a pixel that is left out.
    let colors: [UInt32]

    /// Stands for a pixel that is not drawn.
    static let nothing: UInt32 = 0

    init(width: Int, height: Int, colors: [UInt32]) {
        self.width = width
        self.height = height
        self.colors = colors
    }

    /// Leaves out pixels that are less than half opaque, and makes the others opaque.
    init(_ bitmap: Bitmap) {
        width = bitmap.width
        height = bitmap.height
        var colors: [UInt32] = []
        colors.reserveCapacity(bitmap.width * bitmap.height)
        bitmap.withUnsafeBytes { bytes in
            for y in 0..<bitmap.height {
                for offset in stride(from: y * bitmap.bytesPerRow, to: y * bitmap.bytesPerRow + bitmap.width * 4, by: 4)
                {
                    let alpha = UInt32(bytes[offset + 3])
                    let channels = (0..<3).reduce(UInt32(0)) { sum, channel in
                        let value = UInt32(bytes[offset + channel])
                        let straight = alpha == 255 ? value : min(255, (value * 255 + alpha / 2) / max(alpha, 1))
                        return sum | straight << (8 * UInt32(channel))
                    }
                    colors.append(alpha < 128 ? Self.nothing : 0xFF00_0000 | channels)
                }
            }
        }
        self.colors = colors
    }
}

/// The components of a shown colour.
struct ShownColor {
    let red: Int
    let green: Int
    let blue: Int

    init(_ color: UInt32) {
        red = Int(color >> 16 & 255)
        green = Int(color >> 8 & 255)
        blue = Int(color & 255)
    }
}
