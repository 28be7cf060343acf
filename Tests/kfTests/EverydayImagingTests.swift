// Everyday tasks with pixels to check, done by the tool in a process of its own.

import Foundation
import KFImaging
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct EverydayImagingTests {
    let place = TestDirectory()

    /// The pixels of a file in the directory, 0xAARRGGBB, premultiplied.
    private func pixels(_ name: String) throws -> Pixels {
        Pixels(try #require(KFCrossPlatformImage(data: try place.data(name))?.cgImage))
    }

    /// Writes an image of a function as PNG.
    private func write(
        _ name: String,
        _ width: Int,
        _ height: Int,
        _ color: (_ x: Int, _ y: Int) -> UInt32
    ) throws {
        try place.write(try #require(SampleImages.drawn(width, height, color).pngData()), name)
    }

    /// Writes an image all of whose pixels differ: red is the column, green the row.
    private func writeNumbered(_ name: String, _ width: Int, _ height: Int) throws {
        try write(name, width, height) { x, y in 0xFF00_0000 | UInt32(x) << 16 | UInt32(y) << 8 }
    }

    /// Processes `in.png` to `out.png`, and returns its pixels.
    private func processed(_ pipeline: String) async throws -> Pixels {
        let result = try await place.kf("process", "in.png", "-o", "out.png", "--process", pipeline)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        return try pixels("out.png")
    }

    // MARK: Crop at a pixel

    @Test(
        "A crop at a pixel begins there, and ends at the image's edges",
        arguments: [
            ("crop(30x20,50,10)", 50, 10, 30, 20), ("crop(30x20,0,2)", 0, 2, 30, 20), ("crop(5x5,1px,1px)", 1, 1, 5, 5),
            ("crop(30x20,90,75)", 90, 75, 10, 5), ("crop(5x5,1,1)", 95, 75, 5, 5),
        ]
    )
    func crop(pipeline: String, x: Int, y: Int, width: Int, height: Int) async throws {
        try writeNumbered("in.png", 100, 80)
        let result = try await processed(pipeline)
        #expect(result.width == width && result.height == height)
        #expect(result[0, 0] == 0xFF00_0000 | UInt32(x) << 16 | UInt32(y) << 8)
        let last = result[width - 1, height - 1]
        #expect(last == 0xFF00_0000 | UInt32(x + width - 1) << 16 | UInt32(y + height - 1) << 8)
    }

    @Test("A crop outside of the image is an error that says so", arguments: ["fetch", "process"])
    func cropOutside(command: String) async throws {
        try writeNumbered("in.png", 100, 80)
        let result = try await place.kf(command, "in.png", "-o", "out.png", "--process", "crop(30x20,100,50)")
        #expect(result.status == 1)
        #expect(result.errors.contains("kf.crop(30x20,100px,50px)"), "\(result.errors)")
        #expect(result.errors.contains("crop at a pixel that is within the image (code 4001)"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: place.path("out.png")))
    }

    // MARK: Letterbox

    @Test("A padded image is fitted in, and the rest has the colour, or none") func padding() async throws {
        try write("in.png", 40, 20) { _, _ in 0xFFFF_0000 }
        let white = try await processed("pad(100x100,#fff)")
        #expect(white.width == 100 && white.height == 100)
        // 100 × 50 pixels of the image, between two white bars.
        #expect((0..<100).map { white[50, $0] } == (0..<100).map { (25..<75).contains($0) ? 0xFFFF_0000 : 0xFFFF_FFFF })
        let clear = try await processed("pad(100x100)")
        #expect(clear[50, 24] == 0 && clear[50, 25] == 0xFFFF_0000)
        let bottom = try await processed("pad(10x10,blue,0,1)")
        #expect((0..<10).map { bottom[0, $0] } == (0..<10).map { $0 < 5 ? 0xFF00_00FF : 0xFFFF_0000 })
        #expect(try await processed("pad(10x5,blue)")[9, 4] == 0xFFFF_0000)
    }

    @Test("The colour of a canvas shows through the image") func paddingBehindTransparency() async throws {
        try write("in.png", 20, 20) { x, _ in x < 10 ? 0xFFFF_0000 : 0 }
        let result = try await processed("pad(20x40,#0f0)")
        #expect(result[0, 20] == 0xFFFF_0000 && result[19, 20] == 0xFF00_FF00 && result[0, 0] == 0xFF00_FF00)
    }

    // MARK: Greys

    @Test("grayscale keeps greys as they are, and the luminance of colours") func grayscale() async throws {
        let primaries: [UInt32] = [0xFFFF_0000, 0xFF00_FF00, 0xFF00_00FF, 0xFFFF_FFFF]
        try write("in.png", 256, 2) { x, y in
            y == 0 ? 0xFF00_0000 | UInt32(x) * 0x01_0101 : primaries[x / 64]
        }
        let result = try await processed("grayscale()")
        let greys = (0..<256).map { (level: UInt32) -> UInt32 in 0xFF00_0000 | level * 0x01_0101 }
        #expect((0..<256).map { result[$0, 0] } == greys)
        // Shares of 21.26 %, 71.52 % and 7.22 % of the light, as bytes of sRGB.
        #expect([0, 64, 128, 192].map { result[$0, 1] & 0xFF } == [127, 220, 76, 255])
        // The processor of the same name in Kingfisher brightens.
        #expect(try await processed("bw()")[128, 0] & 0xFF > 150)
    }

    // MARK: Watermarks

    @Test("An image is laid over another one at its anchor, as opaque and as large as asked")
    func watermark() async throws {
        try write("in.png", 100, 50) { _, _ in 0xFFFF_FFFF }
        try write("logo.png", 20, 10) { x, _ in x < 10 ? 0xFFFF_0000 : 0 }
        let plain = try await processed("overlay(logo.png)")
        #expect((plain.width, plain.height) == (100, 50))
        // In the middle, from 40,20 on; its right half is transparent.
        #expect(plain[40, 20] == 0xFFFF_0000 && plain[49, 29] == 0xFFFF_0000 && plain[39, 20] == 0xFFFF_FFFF)
        #expect(plain[50, 20] == 0xFFFF_FFFF && plain[40, 30] == 0xFFFF_FFFF)
        let corner = try await processed("overlay(logo.png,anchor=1,1,opacity=0.4)")
        #expect(corner[80, 40] == 0xFFFF_9999 && corner[79, 40] == 0xFFFF_FFFF && corner[80, 39] == 0xFFFF_FFFF)
        let wide = try await processed("overlay(logo.png,anchor=0,0,width=40%)")
        #expect(wide[0, 19] == 0xFFFF_0000 && wide[17, 0] == 0xFFFF_0000 && wide[0, 20] == 0xFFFF_FFFF)
        let scaled = try await processed("overlay(./logo.png,anchor=0,0,scale=0.5)")
        #expect(scaled[0, 4] == 0xFFFF_0000 && scaled[0, 5] == 0xFFFF_FFFF)
        // Larger than the image: what is beyond the edges is cut off.
        let large = try await processed("overlay(logo.png,scale=10)")
        #expect((large.width, large.height) == (100, 50) && large[0, 0] == 0xFFFF_0000 && large[99, 49] == 0xFFFF_FFFF)
    }

    @Test("An overlay's colours mix with what is half transparent") func watermarkOnTransparency() async throws {
        try write("in.png", 4, 4) { x, _ in x < 2 ? 0 : 0x8000_0080 }
        try write("logo.png", 4, 4) { _, _ in 0x8080_0000 }
        let result = try await processed("overlay(logo.png)")
        #expect(result[0, 0] == 0x8080_0000)
        #expect(result[3, 0] == 0xC080_0040)
    }

    @Test("All commands say what is wrong with an overlay's file, once", arguments: ["fetch", "process", "show"])
    func watermarkErrors(command: String) async throws {
        try write("in.png", 10, 10) { _, _ in 0xFFFF_FFFF }
        try place.write(Data("hello".utf8), "text.png")
        let output = command == "show" ? [] : ["-o", "out.png"]
        func errors(_ file: String, _ options: [String] = []) async throws -> String {
            let result = try await place.kf([command, "in.png", "--process", "overlay(\(file))"] + output + options)
            #expect(result.status == 1 && result.errorLines.count == 1)
            return result.errors
        }
        let missing = try await errors("missing.png")
        #expect(missing == "kf: missing.png: cannot be read: No such file or directory (code 5003)\n")
        let text = try await errors("text.png")
        #expect(text.hasPrefix("kf: text.png: ") && text.contains("text") && text.hasSuffix("(code 4001)\n"))
        let remote = try await errors("https://example.com/logo.png")
        #expect(remote.contains("has to be a file on this machine"), "\(remote)")
        try write("large.png", 100, 100) { _, _ in 0xFFFF_FFFF }
        let large = try await errors("large.png", ["--max-pixels", "9999"])
        #expect(large.contains("--max-pixels 10000 allows it"), "\(large)")
    }

    @Test("The cache keeps images apart that were made with different overlays") func watermarkInCache() async throws {
        try write("in.png", 10, 10) { _, _ in 0xFFFF_FFFF }
        for color: UInt32 in [0xFFFF_0000, 0xFF00_00FF] {
            // Another length, so that the file is another one whatever the clock of the file system says.
            try write("logo.png", color == 0xFFFF_0000 ? 10 : 11, 10) { _, _ in color }
            let result = try await place.kf("fetch", "in.png", "-o", "out.png", "--process", "overlay(logo.png)")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try pixels("out.png")[5, 5] == color)
        }
    }
}

/// The pixels of a bitmap, 0xAARRGGBB, premultiplied.
private struct Pixels: Equatable {
    let width: Int
    let height: Int
    private let words: [UInt32]

    init(_ bitmap: Bitmap) {
        (width, height) = (bitmap.width, bitmap.height)
        words = bitmap.withUnsafeBytes { bytes in
            (0..<bitmap.height).flatMap { y in
                (0..<bitmap.width).map { bytes.load(fromByteOffset: y * bitmap.bytesPerRow + $0 * 4, as: UInt32.self) }
            }
        }
    }

    subscript(x: Int, y: Int) -> UInt32 { words[y * width + x] }
}
