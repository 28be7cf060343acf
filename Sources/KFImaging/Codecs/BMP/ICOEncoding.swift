// Writing icons: one image in several sizes, each of them a PNG. ICOCodec reads them.

import Foundation

extension ICOCodec {
    static let canEncode = true

    /// The sides of the images that programs look for, in pixels.
    static let usualSides = [16, 32, 48, 256]
    /// The longest side that the directory can hold, in pixels.
    package static let longestSide = 256

    /// Encodes squares of the options' sides, or of the usual ones that are no longer than the image; the image is
    /// fitted into each, with transparent margins.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        let sides = (options.iconSides ?? usualSides.filter { $0 <= bitmap.size.longerSide }).filter {
            (1...longestSide).contains($0)
        }
        let all = sides.isEmpty ? [usualSides[0]] : sides
        var images: [Data] = []
        for side in all {
            // Some programs read no other kinds of PNG in icons.
            images.append(try PNGCodec.encodeWithAlpha(try bitmap.square(side), EncodedMetadata()))
        }
        return zip(all, images).reduce(directory(all, images)) { $0 + $1.1 }
    }

    private static func directory(_ sides: [Int], _ images: [Data]) -> Data {
        // An icon, not a cursor.
        var directory = littleEndian(0, 2) + littleEndian(1, 2) + littleEndian(sides.count, 2)
        var offset = 6 + 16 * sides.count
        for (side, image) in zip(sides, images) {
            // 256 is written as 0; then follow the number of colours of a palette, and a reserved byte.
            directory += littleEndian(side % 256, 1) + littleEndian(side % 256, 1) + littleEndian(0, 2)
            // Planes, and bits of a pixel.
            directory += littleEndian(1, 2) + littleEndian(32, 2)
            directory += littleEndian(image.count, 4) + littleEndian(offset, 4)
            offset += image.count
        }
        return directory
    }

    private static func littleEndian(_ number: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }
}

extension Bitmap {
    /// The image in the middle of a square of this side.
    fileprivate func square(_ side: Int) throws(ImagingError) -> Bitmap {
        let fitted = CGSize(width: width, height: height).constrained(CGSize(width: side, height: side))
        return try resampled(to: PixelSize(Int(fitted.width), Int(fitted.height))).placed(in: PixelSize(side, side))
    }
}
