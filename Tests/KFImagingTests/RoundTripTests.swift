// Encoding and decoding again: images are equal with lossless formats, and similar with others.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

/// Images of all shapes, from a seed.
private struct Sample: Sendable, CustomTestStringConvertible {
    let width: Int
    let height: Int
    let kind: Kind

    enum Kind: CaseIterable {
        case opaque, translucent, grey, flat, hole
    }

    var testDescription: String { "\(width)×\(height) \(kind)" }

    static let all: [Sample] = [(1, 1), (2, 1), (1, 7), (3, 3), (17, 5), (33, 31), (64, 40)].flatMap { width, height in
        Kind.allCases.map { Sample(width: width, height: height, kind: $0) }
    }

    /// Noise, premultiplied.
    func noise() -> Bitmap {
        var generator = SeededGenerator(state: UInt64(width * 1000 + height))
        return .of((0..<height).map { _ in (0..<width).map { _ in pixel(&generator) } })
    }

    private func pixel(_ generator: inout SeededGenerator) -> UInt32 {
        let noise = UInt32(truncatingIfNeeded: generator.next())
        switch kind {
        case .opaque: return noise | 0xFF00_0000
        case .grey: return 0xFF00_0000 | (noise & 255) * 0x01_0101
        case .flat: return 0xFF33_6699
        case .hole: return noise & 1 == 0 ? 0 : 0xFF11_2233
        case .translucent:
            let alpha = noise >> 24
            func part(_ shift: UInt32) -> UInt32 { ((noise >> shift & 255) * alpha + 127) / 255 << shift }
            return alpha << 24 | part(16) | part(8) | part(0)
        }
    }

    /// The same images without sharp edges, for formats that lose these.
    func gradient() -> Bitmap {
        .of(
            (0..<height).map { y in
                (0..<width).map { x in
                    let (u, v) = (UInt32(x * 200 / max(1, width - 1)), UInt32(y * 200 / max(1, height - 1)))
                    return kind == .grey
                        ? 0xFF00_0000 | (20 + u / 2 + v / 2) * 0x01_0101 : 0xFF00_0000 | u << 16 | v << 8 | 90
                }
            }
        )
    }
}

@Suite struct RoundTripTests {
    private func roundTrip(_ bitmap: Bitmap, _ type: ImageContentType, lossless: Bool = false) throws -> Bitmap {
        let data = try Codecs.encode(Image(cgImage: bitmap), as: type, lossless: lossless)
        #expect(ImageContentType(sniffing: data) == type)
        let info = try ImageInfo(data: data)
        #expect(info.pixelWidth == bitmap.width && info.pixelHeight == bitmap.height && info.frameCount == 1)
        return try #require(try Codecs.decode(data).cgImage)
    }

    @Test("PNG keeps every pixel", arguments: Sample.all)
    private func png(sample: Sample) throws {
        let bitmap = sample.noise()
        let copy = try roundTrip(bitmap, .png)
        #expect(copy.likeness(to: bitmap) == .infinity && copy.hasAlpha == bitmap.hasAlpha)
    }

    @Test("TIFF keeps every pixel, and BMP", arguments: Sample.all, [ImageContentType.tiff, .bmp])
    private func exact(sample: Sample, type: ImageContentType) throws {
        let bitmap = sample.noise()
        // A BMP in which nothing is visible is taken for an opaque one.
        let isVisible = bitmap.withUnsafeBytes { bytes in bytes.contains { $0 != 0 } }
        guard isVisible || type != .bmp else { return }
        let copy = try roundTrip(bitmap, type)
        #expect(copy.likeness(to: bitmap) == .infinity && copy.hasAlpha == bitmap.hasAlpha)
    }

    @Test("Lossless WebP keeps every pixel, and lossless AVIF", arguments: Sample.all, [ImageContentType.webp, .avif])
    private func lossless(sample: Sample, type: ImageContentType) throws {
        let bitmap = sample.noise()
        let copy = try roundTrip(bitmap, type, lossless: true)
        #expect(copy.likeness(to: bitmap) == .infinity && copy.hasAlpha == bitmap.hasAlpha)
    }

    @Test(
        "Lossy formats give similar images",
        arguments: Sample.all.filter { $0.width > 3 && ($0.kind == .opaque || $0.kind == .grey) }
    )
    private func lossyFormats(sample: Sample) async throws {
        let bitmap = sample.gradient()
        for type in [ImageContentType.jpeg, .webp, .avif] {
            let copy = try await WorkExecutor.cpu.run { try roundTrip(bitmap, type) }
            let likeness = copy.likeness(to: bitmap)
            #expect(likeness > 30, "\(type.preferredFileExtension ?? "")")
            #expect(!copy.hasAlpha)
        }
    }

    @Test(
        "Encoding an image twice gives the same bytes",
        arguments: [ImageContentType.png, .jpeg, .gif, .webp, .avif, .bmp, .tiff]
    )
    func determinism(type: ImageContentType) throws {
        let image = try picture("photo.png")
        #expect(try Codecs.encode(image, as: type, quality: 0.7) == Codecs.encode(image, as: type, quality: 0.7))
    }

    @Test("The orientation is applied to the encoded pixels", arguments: 1...8)
    func orientation(exif: Int) throws {
        let orientation = try #require(Orientation(exif: exif))
        let bitmap = Sample(width: 5, height: 3, kind: .translucent).noise()
        let image = Image(cgImage: bitmap, scale: 2, orientation: orientation)
        let copy = try Codecs.decode(try Codecs.encode(image, as: .png))
        #expect(copy.imageOrientation == .up)
        #expect(try copy.bitmap().likeness(to: image.bitmap()) == .infinity)
    }

    @Test("Lower quality never gives larger files") func quality() throws {
        let image = try picture("photo.png")
        for type in [ImageContentType.jpeg, .gif, .webp, .avif] {
            let sizes = try [0.2, 0.5, 0.8].map { try Codecs.encode(image, as: type, quality: $0).count }
            #expect(sizes == sizes.sorted())
        }
    }
}
