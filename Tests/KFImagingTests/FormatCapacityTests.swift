// What files of each format hold: up to the bounds they are written and read again, beyond them they are refused.

import Foundation
@_spi(Server) import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct FormatCapacityTests {
    private func bitmap(_ size: PixelSize) throws -> Bitmap {
        try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFF33_66CC) }
    }

    private func refusal(_ type: ImageContentType, _ side: Int) -> ImagingError {
        .encodingFailed(type, detail: "\(type.name) images have at most \(side) pixels a side")
    }

    @Test(
        "Stills are read again up to the longest side of their format, and refused with the limit beyond it",
        arguments: [(ImageContentType.jpeg, 65_500), (.gif, 65_535), (.webp, 16_383), (.avif, 32_768), (.bmp, 65_535)]
    )
    func stills(type: ImageContentType, longest: Int) throws {
        for (width, height) in [(longest - 1, 1), (longest, 1), (1, longest - 1), (1, longest), (4, longest)] {
            let size = PixelSize(width, height)
            for lossless in [false, true] {
                let data = try Codecs.encode(Image(cgImage: bitmap(size)), as: type, lossless: lossless)
                let info = try ImageInfo(data: data)
                #expect(info.contentType == type && PixelSize(info.pixelWidth, info.pixelHeight) == size)
                #expect(try Codecs.decode(data).bitmap().size == size)
            }
        }
        for size in [PixelSize(longest + 1, 1), PixelSize(1, longest + 1), PixelSize(4, longest + 1)] {
            let image = Image(cgImage: try bitmap(size))
            #expect(throws: refusal(type, longest)) { try Codecs.encode(image, as: type) }
        }
    }

    @Test(
        "Animations are read again up to the longest side of their format, and refused with the limit beyond it",
        arguments: [(ImageContentType.gif, 65_535), (.webp, 16_383), (.avif, 32_768)]
    )
    func animations(type: ImageContentType, longest: Int) throws {
        for size in [PixelSize(longest - 1, 1), PixelSize(longest, 1), PixelSize(1, longest)] {
            let other = try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFFCC_6633) }
            let source = Frames(bitmaps: [try bitmap(size), other], delays: [0.1, 0.1])
            let data = try Codecs.encode(source, as: type)
            let frames = try #require(try Codecs.frameSource(of: data))
            #expect(frames.frameCount == 2 && (0..<2).allSatisfy { frames.frame(at: $0)?.size == size })
        }
        let large = try bitmap(PixelSize(1, longest + 1))
        let source = Frames(bitmaps: [large, large], delays: [0.1, 0.1])
        #expect(throws: refusal(type, longest)) { try Codecs.encode(source, as: type) }
    }

    @Test("A PNG with a side above libpng's default limit of 1,000,000 pixels is written and read")
    func longPNG() throws {
        for size in [PixelSize(1_000_001, 1), PixelSize(1, 1_000_001)] {
            let data = try Codecs.encode(Image(cgImage: bitmap(size)), as: .png)
            #expect(try Codecs.decode(data).bitmap().size == size)
        }
    }

    @Test("An icon is never refused, and holds what is too large for it in a smaller size")
    func icons() throws {
        for (side, written) in [(255, 255), (256, 256), (257, 256), (5000, 256)] {
            let icon = try Codecs.encode(Image(cgImage: bitmap(PixelSize(side, 1))), as: .ico)
            #expect(try Codecs.decode(icon).bitmap().size == PixelSize(written, 1))
        }
    }

    @Test(
        "Another program reads stills and animations up to the longest side of their format, and icons",
        .enabled(if: OtherReader.isInstalled, "\(OtherReader.advice)"),
        arguments: [
            (ImageContentType.jpeg, 65_500), (.png, 1_000_001), (.gif, 65_535), (.webp, 16_383), (.avif, 32_768),
            (.ico, 256),
        ]
    )
    func seenByOthers(type: ImageContentType, longest: Int) throws {
        var written: [(size: PixelSize, frameCount: Int, data: Data)] = []
        for (width, height) in [(longest - 1, 1), (longest, 1), (1, longest - 1), (1, longest)] {
            let (size, isLossless) = (PixelSize(width, height), height > 1)
            let still = Image(cgImage: try bitmap(size))
            written.append((size, 1, try Codecs.encode(still, as: type, lossless: isLossless)))
            guard Codecs.canEncodeAnimation(as: type) else { continue }
            let other = try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFFCC_6633) }
            let source = Frames(bitmaps: [try bitmap(size), other], delays: [0.1, 0.1])
            written.append((size, 2, try Codecs.encode(source, as: type)))
        }
        if type == .ico {
            let larger = Image(cgImage: try bitmap(PixelSize(1, longest + 1)))
            written.append((PixelSize(1, longest), 1, try Codecs.encode(larger, as: type)))
        }
        let fileExtension = try #require(type.preferredFileExtension)
        let seen = try OtherReader.read(written.map(\.data), fileExtension: fileExtension)
        for (image, sight) in zip(written, seen) {
            #expect(sight.size == [image.size.width, image.size.height] && sight.frameCount == image.frameCount)
            for color in sight.colors {
                #expect(zip(color, [0x33, 0x66, 0xCC]).allSatisfy { abs($0 - $1) <= 4 }, "\(image.size): \(color)")
            }
        }
    }

    @Test("A TIFF is read again up to its longest side, and refused with the limit beyond it") func longTIFF() throws {
        let longest = 10_000_000
        for size in [PixelSize(longest, 1), PixelSize(1, longest)] {
            let data = try Codecs.encode(Image(cgImage: bitmap(size)), as: .tiff)
            #expect(try Codecs.decode(data).bitmap().size == size)
        }
        let image = Image(cgImage: try bitmap(PixelSize(longest + 1, 1)))
        #expect(throws: refusal(.tiff, longest)) { try Codecs.encode(image, as: .tiff) }
    }

    @Test("All pixels together count, too") func pixelCount() throws {
        let capacity = ImageContentType.avif.capacity
        #expect(capacity.holds(PixelSize(16_384, 16_384)) && capacity.holds(PixelSize(32_768, 8192)))
        #expect(!capacity.holds(PixelSize(16_385, 16_384)) && !capacity.holds(PixelSize(32_768, 8193)))
        #expect(throws: ImagingError.encodingFailed(.avif, detail: "AVIF images have at most 268435456 pixels")) {
            try ImageContentType.avif.check(PixelSize(16_384, 16_385))
        }
        // Files of these formats have at most four gigabytes.
        for type in [ImageContentType.bmp, .tiff] {
            try type.check(PixelSize(50_000, 20_000))
            let refusal = ImagingError.encodingFailed(
                type,
                detail: "\(type.name) images have at most 1000000000 pixels"
            )
            #expect(throws: refusal) { try type.check(PixelSize(50_000, 20_001)) }
        }
    }
}
