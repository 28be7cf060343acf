// Writing icons: one image in its own size and smaller ones, each of them a PNG. ICOCodec reads them.

import Foundation

extension ICOCodec {
    static let canEncode = true

    /// The sides of the images that programs look for, in pixels, where the image itself is larger.
    private static let usualSides = [16, 32, 48]

    /// Encodes the image in its own size, and before it in the usual ones that are smaller.
    ///
    /// An image above 256 pixels is made smaller first. All entries keep its proportions. If the options name sides,
    /// there are only squares of these sides, with transparent margins.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        let most = contentType.capacity.side
        let named = options.iconSides?.filter { (1...most).contains($0) } ?? []
        var images: [(size: PixelSize, file: Data)] = []
        func add(_ image: Bitmap) throws(ImagingError) {
            // Some programs read no other kinds of PNG in icons.
            images.append((image.size, try PNGCodec.encodeWithAlpha(image, EncodedMetadata())))
        }
        for side in named { try add(bitmap.fitted(side).placed(in: PixelSize(side, side))) }
        if named.isEmpty {
            let whole = try bitmap.size.longerSide > most ? bitmap.fitted(most) : bitmap
            for side in usualSides where side < whole.size.longerSide { try add(bitmap.fitted(side)) }
            try add(whole)
        }
        return images.reduce(directory(images)) { $0 + $1.file }
    }

    private static func directory(_ images: [(size: PixelSize, file: Data)]) -> Data {
        // An icon, not a cursor.
        var directory = Data.littleEndian((0, 2), (1, 2), (images.count, 2))
        var offset = 6 + 16 * images.count
        for (size, file) in images {
            // 256 is written as 0; then follow the number of colours of a palette, and a reserved byte.
            directory += Data.littleEndian((size.width % 256, 1), (size.height % 256, 1), (0, 2))
            // Planes, and bits of a pixel.
            directory += Data.littleEndian((1, 2), (32, 2), (file.count, 4), (offset, 4))
            offset += file.count
        }
        return directory
    }
}

extension Bitmap {
    /// The image in the largest size of its proportions within a square of this side.
    fileprivate func fitted(_ side: Int) throws(ImagingError) -> Bitmap {
        let fitted = CGSize(width: width, height: height).constrained(CGSize(width: side, height: side))
        return try resampled(to: PixelSize(Int(fitted.width), Int(fitted.height)))
    }
}
