// Writing Windows bitmaps, of 24 bits a pixel or, with alpha, of 32. BMPCodec reads them.

import Foundation

extension BMPCodec {
    static let canEncode = true

    /// Encodes every pixel exactly, rows from the lowest one up, as most programs expect them.
    ///
    /// Alpha takes the header that has a mask for it; other headers have none that programs agree on. An image of which
    /// nothing is visible is taken for an opaque one by most that read it, this library included: many files leave the
    /// alpha of opaque images 0.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        let depth = bitmap.hasAlpha ? 32 : 24
        let bytesPerRow = BMPHeader.bytesPerRow(bitmap.width, depth)
        let header = header(of: bitmap.size, hasAlpha: bitmap.hasAlpha, byteCount: bytesPerRow * bitmap.height)
        // Rows end with up to three bytes that are 0.
        let file = try Buffer<UInt8>(header.count + bytesPerRow * bitmap.height, isZeroed: true)
        header.copyBytes(to: file.base, count: header.count)
        var y = bitmap.height
        let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
        _ = try rows.forEachBand { rows, stride, count in
            for row in 0..<count {
                y -= 1
                let target = file.base + header.count + y * bytesPerRow
                write(rows + row * stride, to: target, count: bitmap.width, bytesPerPixel: depth / 8)
            }
            return true
        }
        return Data(bytesNoCopy: file.base, count: file.count, deallocator: .custom { _, _ in _ = file })
    }

    /// Writes the first bytes of each of a row's pixels: blue, green, red and, if there are four, alpha.
    private static func write(
        _ pixels: UnsafePointer<UInt8>,
        to target: UnsafeMutablePointer<UInt8>,
        count: Int,
        bytesPerPixel: Int
    ) {
        guard bytesPerPixel < 4 else { return target.update(from: pixels, count: count * 4) }
        for x in 0..<count {
            for byte in 0..<3 { target[x * 3 + byte] = pixels[x * 4 + byte] }
        }
    }

    /// The header of a file and the header of its image.
    private static func header(of size: PixelSize, hasAlpha: Bool, byteCount: Int) -> Data {
        let length = hasAlpha ? 108 : 40
        let file = Data.littleEndian((14 + length + byteCount, 4), (0, 4), (14 + length, 4))
        // Planes, bits of a pixel, and whether masks say what they mean; 72 dots an inch, and no palette.
        let image = Data.littleEndian(
            (length, 4),
            (size.width, 4),
            (size.height, 4),
            (1, 2),
            (hasAlpha ? 32 : 24, 2),
            (hasAlpha ? 3 : 0, 4),
            (byteCount, 4),
            (2835, 4),
            (2835, 4),
            (0, 4),
            (0, 4)
        )
        guard hasAlpha else { return Data("BM".utf8) + file + image }
        // Red, green, blue, alpha; "sRGB", and the places of the colours and the curves, which it does without.
        let masks = Data.littleEndian((0xFF_0000, 4), (0xFF00, 4), (0xFF, 4), (0xFF00_0000, 4), (0x7352_4742, 4))
        return Data("BM".utf8) + file + image + masks + Data(count: 48)
    }
}
