// The run-length encoding of Windows bitmaps, of 4, 8 and (by OS/2) 24 bits a pixel.

/// Rows of pixels stored as runs.
///
/// The runs come in the order of the file, whose last row is the uppermost one as a rule, and may leave out pixels and
/// rows. So the beginning of every row is found first; then any row can be decoded.
struct BMPRuns {
    /// A byte of the data, and the column of the pixel that it describes.
    private struct Place: BitwiseCopyable {
        var offset = 0
        var x = 0
    }

    private let bytes: UnsafeRawBufferPointer
    private let depth: Int
    private let colors: [UInt32]
    private let places: Buffer<Place>
    /// Whether the data reaches as far as the image does.
    private(set) var isComplete = false
    /// Whether there is nothing to decode.
    let isEmpty: Bool

    /// - Parameters:
    ///   - bytes: From the first run on.
    ///   - size: The size of the image.
    ///   - depth: 4, 8 or 24.
    ///   - colors: The palette of 256 colours.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(
        _ bytes: UnsafeRawBufferPointer,
        _ size: PixelSize,
        depth: Int,
        colors: [UInt32]
    ) throws(ImagingError) {
        self.bytes = bytes
        self.depth = depth
        self.colors = colors
        isEmpty = bytes.count < 2
        places = try Buffer<Place>(size.height)
        places.base.initialize(repeating: Place(offset: bytes.count), count: size.height)
        var (y, place) = (0, Place())
        while y < size.height {
            places.base[y] = place
            guard let count = walk(&place, into: nil) else { break }
            y += count
        }
        let isEnded = bytes.littleEndian(place.offset, 2) == 0x0100
        isComplete = isEnded || y >= size.height || y == size.height - 1 && place.x >= size.width
    }

    /// Writes the pixels that a row, counted as the file does, has; other pixels are left as they are.
    func read(_ y: Int, into pixels: UnsafeMutableBufferPointer<UInt32>) {
        var place = places.base[y]
        _ = walk(&place, into: pixels)
    }

    /// Goes along the runs of one row.
    ///
    /// - Returns: How many rows further the place is where that leads to; nil when the image ends, or the data does.
    private func walk(_ place: inout Place, into pixels: UnsafeMutableBufferPointer<UInt32>?) -> Int? {
        while let code = bytes.littleEndian(place.offset, 2) {
            let (count, value) = (code & 255, code >> 8)
            switch (count, value) {
            case (0, 0):
                place = Place(offset: place.offset + 2)
                return 1
            case (0, 1):
                return nil
            case (0, 2):
                guard let step = bytes.littleEndian(place.offset + 2, 2) else { return nil }
                place = Place(offset: place.offset + 4, x: place.x + step & 255)
                if step >> 8 > 0 { return step >> 8 }
            case (0, _):
                // Pixels one by one, padded to two bytes.
                let byteCount = (value * depth + 7) / 8
                put(value, isRun: false, &place, byteCount, into: pixels)
                place.offset += byteCount & 1
            default:
                put(count, isRun: true, &place, max(1, depth / 8), into: pixels)
            }
        }
        return nil
    }

    /// Takes over pixels, as far as their bytes are there; a run of 4 bits a pixel has two colours that alternate.
    private func put(
        _ count: Int,
        isRun: Bool,
        _ place: inout Place,
        _ byteCount: Int,
        into pixels: UnsafeMutableBufferPointer<UInt32>?
    ) {
        let start = place.offset + (isRun ? 1 : 2)
        let available = (bytes.count - start) * 8 / depth
        let known = isRun ? (available > 0 ? count : 0) : min(count, available)
        if let pixels {
            let period = isRun ? max(1, 8 / depth) : count
            for i in 0..<max(0, min(known, pixels.count - place.x)) { pixels[place.x + i] = color(start, i % period) }
        }
        place = Place(offset: start + byteCount, x: place.x + known)
    }

    /// The colour of a pixel among those that begin at an offset.
    private func color(_ start: Int, _ index: Int) -> UInt32 {
        switch depth {
        case 4: colors[Int(index % 2 == 0 ? bytes[start + index / 2] >> 4 : bytes[start + index / 2] & 15)]
        case 8: colors[Int(bytes[start + index])]
        default: 0xFF00_0000 | UInt32(bytes.littleEndian(start + index * 3, 3) ?? 0)
        }
    }
}
