// Small images for the tests, drawn here, and bytes that only look like images.

import Foundation
import KFImaging
import Kingfisher
import Testing

/// The images the tests load.
enum SampleImages {
    /// An opaque image as JPEG.
    static func jpeg(_ width: Int = 60, _ height: Int = 40) throws -> Data {
        try #require(gradient(width, height).jpegData(compressionQuality: 0.9))
    }

    /// An ellipse on a transparent background as PNG.
    static func png(_ width: Int = 48, _ height: Int = 32) throws -> Data {
        let image = drawn(width, height) { x, y in
            let across = Double(2 * x + 1 - width) / Double(width)
            let down = Double(2 * y + 1 - height) / Double(height)
            return across * across + down * down < 0.8 ? color(x, y, of: (width, height), blue: 200) : 0
        }
        return try #require(image.pngData())
    }

    /// Two frames, shown for a tenth of a second each.
    static func gif(_ width: Int = 30, _ height: Int = 20) throws -> Data {
        try gif([gradient(width, height), gradient(width, height, blue: 200)])
    }

    /// An animation that repeats without end, each of its frames shown for a tenth of a second.
    static func gif(_ frames: [KFCrossPlatformImage]) throws -> Data {
        let animation = KFCrossPlatformImage.animatedImage(with: frames, duration: 0.1 * Double(frames.count))
        return try Codecs.encode(try #require(animation?.frames), as: .gif)
    }

    /// An opaque image of as many colours as pixels, up to 65,536.
    static func gradient(_ width: Int, _ height: Int, blue: Int = 80) -> KFCrossPlatformImage {
        drawn(width, height) { x, y in color(x, y, of: (width, height), blue: blue) }
    }

    /// An image whose pixels come from a function of their position; colours are premultiplied, `0xAARRGGBB`.
    static func drawn(_ width: Int, _ height: Int, _ color: (_ x: Int, _ y: Int) -> UInt32) -> KFCrossPlatformImage {
        KFCrossPlatformImage(
            cgImage: Bitmap(width: width, height: height) { rows, bytesPerRow in
                for y in 0..<height {
                    for x in 0..<width {
                        rows.storeBytes(of: color(x, y), toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                    }
                }
            }
        )
    }

    /// A PNG of less than a hundred bytes that claims 60,000 × 60,000 pixels.
    static var bombPNG: Data {
        let header: [UInt8] = [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60, 8, 6, 0, 0, 0]
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes += chunk("IHDR", header) + chunk("IDAT", [0x78, 0x9C, 0x03, 0, 0, 0, 0, 1]) + chunk("IEND", [])
        return Data(bytes)
    }

    /// A GIF that claims 65,535 × 65,535 pixels.
    static var bombGIF: Data {
        let screen: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0x44, 1, 0]
        return Data(Array("GIF89a".utf8) + screen + frame + [0x3B])
    }

    /// Arbitrary bytes, which are the same every time.
    static var noise: Data {
        var state: UInt32 = 7
        return Data(
            (0..<2000).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(state >> 24)
            }
        )
    }

    private static func color(_ x: Int, _ y: Int, of size: (width: Int, height: Int), blue: Int) -> UInt32 {
        0xFF00_0000 | UInt32(x * 255 / size.width) << 16 | UInt32(y * 255 / size.height) << 8 | UInt32(blue)
    }

    /// A chunk of a PNG.
    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return bigEndian(UInt32(data.count)) + body + bigEndian(crc(body))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~sum
    }
}
