// Small pictures for the tests, drawn here, and bytes that only look like pictures.

import Foundation
import Kingfisher
import Testing

@testable import kf

/// The pictures the tests load.
enum Pictures {
    /// An opaque landscape as JPEG.
    static func jpeg(_ width: Int = 60, _ height: Int = 40) throws -> Data {
        try #require(landscape(width, height).jpegData(compressionQuality: 0.9))
    }

    /// A bird on nothing as PNG.
    static func png(_ width: Int = 48, _ height: Int = 32) throws -> Data {
        let image = KFCrossPlatformImage(cgImage: Bird(shade: 0.5).drawn(width: width, height: height).bitmap)
        return try #require(image.pngData())
    }

    /// Two frames, shown for a tenth of a second each.
    static func gif(_ width: Int = 30, _ height: Int = 20) throws -> Data {
        try DemoGallery.gif([1, 2].map { Landscape(seed: $0).drawn(width: width, height: height) }, delay: 0.1)
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

    /// The same arbitrary bytes every time.
    static var noise: Data {
        let noise = Noise(seed: 7)
        return Data((0..<2000).map { UInt8(noise.hash(Int32($0), 1) * 255) })
    }

    private static func landscape(_ width: Int, _ height: Int) -> KFCrossPlatformImage {
        KFCrossPlatformImage(cgImage: Landscape(seed: 0).drawn(width: width, height: height).bitmap)
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return bigEndian(UInt32(data.count)) + body + bigEndian(crc(body))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
