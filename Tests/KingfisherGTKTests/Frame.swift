// The pixels of a window or a screen. For tests of programs.

import Foundation
import KFImaging

/// The colours of an area, without their opacity.
struct Frame {
    let width: Int
    let height: Int
    private let pixels: [UInt32]

    /// The image in a file.
    init?(contentsOf file: URL) {
        guard let data = try? Data(contentsOf: file), let bitmap = Image(data: data)?.cgImage else { return nil }
        (width, height) = (bitmap.width, bitmap.height)
        pixels = bitmap.withUnsafeBytes { buffer in
            (0..<bitmap.height).flatMap { y in
                (0..<bitmap.width).map { x in
                    buffer.loadUnaligned(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: UInt32.self) & 0xFFFFFF
                }
            }
        }
    }

    /// The memory of a display, a file that ends in the pixels: four bytes each, blue first.
    init?(display file: URL, width: Int, height: Int) {
        guard let data = try? Data(contentsOf: file), data.count >= width * height * 4 else { return nil }
        (self.width, self.height) = (width, height)
        pixels = data.suffix(width * height * 4).withUnsafeBytes { buffer in
            (0..<width * height).map { buffer.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) & 0xFFFFFF }
        }
    }

    /// The colour of a pixel: red, green and blue.
    subscript(x: Int, y: Int) -> UInt32 { pixels[y * width + x] }

    /// How many pixels have a colour.
    func count(_ color: UInt32) -> Int { pixels.count { $0 == color } }

    /// The lengths of what has a colour in a row, from left to right.
    func runs(of color: UInt32, inRow y: Int) -> [Int] {
        pixels[y * width..<(y + 1) * width].split { $0 != color }.map(\.count)
    }

    /// The rows that have a color in some of the columns.
    func rows(with color: UInt32, in columns: Range<Int>) -> [Int] {
        (0..<height).filter { y in columns.contains { self[$0, y] == color } }
    }
}
