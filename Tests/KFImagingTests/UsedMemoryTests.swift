// Memory that is used again shows nothing of the images that were in it before: not in damaged files either, which say
// less than their size promises.

import CKFLinux
import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFImaging

private let (width, height) = (320, 240)

/// A file that lacks a part of its image, and a whole one of the same kind that must not show in it.
private struct Incomplete: Sendable {
    let name: String
    let secret: Data
    let file: Data
}

/// Noise around a colour: files of it are long, so that half of a file is about half of the image.
private func noise(_ color: UInt32) -> Bitmap {
    var generator = SeededGenerator(state: 1)
    return .of(
        (0..<height).map { _ in
            (0..<width).map { _ in 0xFF00_0000 | color ^ UInt32(truncatingIfNeeded: generator.next()) & 0x03_0303 }
        }
    )
}

private let (orange, blue): (UInt32, UInt32) = (0xE0_5A10, 0x10_30C0)

/// Whether a pixel is of the secret image: the colours of others are far from its.
private func isSecret(_ pixel: UInt32) -> Bool {
    [UInt32(16), 8, 0].allSatisfy { shift in
        let (byte, wanted) = (Int(pixel >> shift & 255), Int(orange >> shift & 255))
        return abs(byte - wanted) <= 24
    }
}

private func secretPixels(in bitmap: Bitmap) -> Int {
    bitmap.withUnsafeBytes { bytes in bytes.bindMemory(to: UInt32.self).count { isSecret($0) } }
}

private func encoded(
    _ color: UInt32,
    _ type: ImageContentType,
    _ change: (inout ImageEncodingOptions) -> Void = { _ in }
) throws -> Data {
    var options = ImageEncodingOptions()
    options.quality = 0.95
    change(&options)
    return try Codecs.encode(Image(cgImage: noise(color)), as: type, options)
}

/// The first half of a file beside a whole one.
private func half(
    _ name: String,
    _ type: ImageContentType,
    of parts: Int = 2,
    _ change: (inout ImageEncodingOptions) -> Void = { _ in }
) throws -> Incomplete {
    let file = try encoded(blue, type, change)
    return Incomplete(name: name, secret: try encoded(orange, type, change), file: file.prefix(file.count / parts))
}

private func gif(_ color: UInt32) throws -> Data {
    try Codecs.encode(Frames(bitmaps: [noise(color)], delays: [0.1]), as: .gif)
}

/// A PNG whose pixels are a whole stream of half of its lines.
private func pngOfHalf() -> Data {
    var writer = PNGWriter(width, height) { x, y, component in [16, 48, 192][component] ^ (x + y) & 3 }
    writer.changeLines = { $0.removeLast($0.count / 2) }
    return writer.data
}

/// A BMP whose runs end before they have painted anything.
private func emptyRuns() -> Data {
    let rest =
        bitmapHeader(width, height, depth: 8, compression: 1, colors: 1) + littleEndian(0) + Data([0, 2, 0, 9, 0, 1])
    return Data("BM".utf8) + littleEndian(14 + rest.count) + littleEndian(0) + littleEndian(14 + 44) + rest
}

/// A GIF with a frame of one pixel.
private func pixelOnCanvas() -> Data {
    let size = littleEndian(width, 2) + littleEndian(height, 2)
    let frame = Data([0x2C, 5, 0, 5, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B])
    return Data("GIF89a".utf8) + size + Data([0x80, 0, 0, 0, 0, 0, 1, 2, 3]) + frame
}

private func incompleteFiles() throws -> [Incomplete] {
    let (png, bmp) = (try encoded(orange, .png), try encoded(orange, .bmp))
    let (secretGIF, otherGIF) = (try gif(orange), try gif(blue))
    return [
        try half("JPEG", .jpeg) { $0.encoder.isProgressive = false },
        try half("progressive JPEG", .jpeg),
        try half("JPEG with hardly a row", .jpeg, of: 40) { $0.encoder.isProgressive = false },
        try half("PNG", .png),
        try half("interlaced PNG", .png) { $0.encoder.isInterlaced = true },
        Incomplete(name: "PNG of half the lines", secret: png, file: pngOfHalf()),
        try half("WebP", .webp),
        try half("lossless WebP", .webp) { $0.lossless = true },
        try half("TIFF", .tiff),
        try half("BMP", .bmp),
        Incomplete(name: "BMP whose runs paint nothing", secret: bmp, file: emptyRuns()),
        try half("AVIF", .avif),
        Incomplete(name: "GIF", secret: secretGIF, file: otherGIF.prefix(otherGIF.count / 2)),
        Incomplete(name: "GIF of one pixel", secret: secretGIF, file: pixelOnCanvas()),
    ]
}

/// Decodes each file in full and small, right after a whole image of its kind.
private func checkFiles(_ decode: (Data, DecodingOptions) -> Bitmap?) throws {
    var shown = 0
    for incomplete in try incompleteFiles() {
        for side in [nil, 100] {
            var options = DecodingOptions(maxPixelSize: side)
            options.limits.isolation = .inProcess
            let secret = decode(incomplete.secret, options)
            #expect(secret.map { secretPixels(in: $0) == $0.width * $0.height } == true, "\(incomplete.name)")
            guard let bitmap = decode(incomplete.file, options) else { continue }
            #expect(secretPixels(in: bitmap) == 0, "\(incomplete.name), \(side.map(String.init) ?? "in full")")
            shown += 1
        }
    }
    // Others are refused.
    #expect(shown >= 16)
}

@Suite struct UsedMemoryTests {
    @Test(
        "No pixel of an image is left in what is decoded after it, in memory that is used again",
        .enabled(if: memoryIsOurs)
    )
    func inProcess() async {
        await #expect(processExitsWith: .success) {
            kf_keep_freed_memory(32 << 20)
            try checkFiles { try? Codecs.decode($0, options: $1).cgImage }
            // Memory really is used again: what a secret image has freed is there to be seen.
            let secret = try encoded(orange, .png)
            let count = try #require(Codecs.decode(secret).cgImage.map { $0.bytesPerRow * $0.height })
            let memory = try Buffer<UInt32>(count / 4)
            let pixels = UnsafeBufferPointer(start: memory.base, count: memory.count)
            #expect(pixels.count { isSecret($0) } > pixels.count / 2)
        }
    }

    @Test("Nor in a decoder process", .tags(.processes)) func inDecoder() throws {
        let program = DecoderProgram(path: try #require(ProgramFolders.own.last) + "/kf-decoder")
        let pool = DecoderPool({ program }, size: { 1 })
        try checkFiles { data, options in
            let type = ImageContentType(sniffing: data) ?? .unknown
            let file = DecoderPool.File(data: data, type: type, limits: options.limits)
            return try? pool.image(file, options).bitmap
        }
    }
}
