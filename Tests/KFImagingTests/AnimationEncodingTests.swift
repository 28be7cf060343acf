// Encoding of animations, and lossless encoding.

import Foundation
import KFSupport
import Testing

@testable import KFImaging

/// Frames that are made when they are asked for, and how many of those handed out before are still there then.
private final class CountingFrames: ImageFrameSource {
    private struct Weak {
        weak var bitmap: Bitmap?
    }
    private let made = Locked<[Weak]>([])
    let mostAlive = Locked(0)
    let frameCount = 6
    let data: Data? = nil

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        let alive = made.withLock { $0.count { $0.bitmap != nil } }
        mostAlive.withLock { $0 = max($0, alive) }
        let bitmap = Bitmap.solid(0xFF00_0000 | UInt32(index * 40), 9, 9)
        made.withLock { $0.append(Weak(bitmap: bitmap)) }
        return bitmap
    }

    func duration(at index: Int) -> TimeInterval { 0.1 }
}

@Suite struct AnimationEncodingTests {
    /// A square that moves over a field with transparent and translucent parts.
    private func animation(loops: UInt = 0) -> Frames {
        let bitmaps = (0..<4).map { step in
            Bitmap.of(
                (0..<20).map { y in
                    (0..<30).map { x in
                        if abs(x - 4 - 6 * step) < 3, abs(y - 8) < 3 { return 0xFFE0_4020 }
                        return x < 15 ? 0x8040_2010 : (y < 10 ? 0 : 0xFF00_80C0)
                    }
                }
            )
        }
        return Frames(bitmaps: bitmaps, delays: [0.02, 0.1, 1.5, 0.333], loopCount: loops)
    }

    @Test(
        "Pixels that no frame covers are transparent in every reader",
        arguments: ["animated.gif", "once.gif"],
        [true, false]
    )
    func uncoveredPixels(name: String, lossless: Bool) throws {
        let source = try #require(try Codecs.frameSource(of: try fixture(name)))
        let data = try Codecs.encode(source, as: .webp, quality: 0.9, lossless: lossless)
        #expect(try ImageInfo(data: data).hasAlpha)
        // The flag of the file and the colour behind the frames, for readers that trust them.
        #expect(data[20] & 0x10 != 0)
        let background = try #require(data.range(of: Data("ANIM".utf8))).upperBound + 4
        #expect(data[background..<background + 4].allSatisfy { $0 == 0 })
        #expect(try #require(Image(data: data)).bitmap().hasAlpha)
    }

    @Test("Lossless animations are read back unchanged", arguments: [ImageContentType.webp, .png, .avif])
    func losslessRoundTrip(type: ImageContentType) throws {
        let source = animation(loops: 7)
        let data = try Codecs.encode(source, as: type, lossless: true)
        let decoder = try #require(try frames(of: data))
        // Old versions of libavif cannot write a loop count.
        #expect(decoder.loopCount == (Codecs.keepsLoopCount(as: type) ? 7 : 0) && decoder.canvas == PixelSize(30, 20))
        #expect(zip(decoder.frames, source.delays).allSatisfy { abs($0.delay - $1) < 1e-9 })
        let images = try composed(decoder)
        #expect(images.count == 4)
        for (image, original) in zip(images, source.bitmaps) {
            let pairs = zip(image.rows.joined(), try #require(original).rows.joined())
            #expect(pairs.allSatisfy { $0.isNear($1, within: $1.a == 255 ? 0 : 1) })
        }
    }

    @Test("The rounding of delays does not add up", arguments: [ImageContentType.webp, .png, .avif])
    func roundedDelays(type: ImageContentType) throws {
        let bitmaps = (0..<60).map { Bitmap.solid(0xFF00_0000 | UInt32($0 * 4) << 16, 8, 8) }
        let source = Frames(bitmaps: bitmaps, delays: Array(repeating: 1 / 60, count: 60))
        let delays = try #require(try frames(of: Codecs.encode(source, as: type, lossless: true))).frames.map(\.delay)
        #expect(delays.count == 60 && delays.allSatisfy { abs($0 - 1 / 60) < 0.001 })
        let duration = delays.reduce(0, +)
        #expect(abs(duration - 1) < 0.01)
    }

    @Test("How often an animation plays is kept from each format to each other", arguments: [UInt(0), 1, 2, 3, 65_535])
    func playsBetweenFormats(plays: UInt) throws {
        let types = [ImageContentType.gif, .webp, .png, .avif].filter { Codecs.keepsLoopCount(as: $0) }
        for type in types {
            let data = try Codecs.encode(animation(loops: plays), as: type)
            #expect(try ImageInfo(data: data).loopCount == Int(plays), "\(type.name)")
            let source = try #require(try Codecs.frameSource(of: data))
            #expect(source.loopCount == plays, "\(type.name)")
            for other in types {
                let copy = try Codecs.frameSource(of: Codecs.encode(source, as: other))
                #expect(copy?.loopCount == plays, "\(type.name) to \(other.name)")
            }
        }
    }

    @Test(
        "More plays than a format can count are endless",
        arguments: [(ImageContentType.gif, UInt(65_536)), (.webp, 65_535), (.png, 0x7FFF_FFFF)]
    )
    func tooManyPlays(type: ImageContentType, most: UInt) throws {
        for (plays, expected) in [(most, most), (most + 1, 0), (.max, 0)] {
            let data = try Codecs.encode(animation(loops: plays), as: type)
            #expect(try Codecs.frameSource(of: data)?.loopCount == expected)
        }
    }

    @Test("Encoders hold one frame at a time", arguments: [ImageContentType.gif, .webp])
    func framesInMemory(type: ImageContentType) throws {
        let source = CountingFrames()
        _ = try Codecs.encode(source, as: type)
        #expect(source.mostAlive.withLock { $0 } == 0)
    }

    @Test("Lossy animations are read back nearly unchanged", arguments: [ImageContentType.webp, .avif])
    func lossyRoundTrip(type: ImageContentType) throws {
        let images = (0..<3).map { gradient(alpha: false, shift: 60 * $0) }
        let source = Frames(bitmaps: images, delays: [0.1, 0.1, 0.1])
        let decoder = try #require(try frames(of: Codecs.encode(source, as: type, quality: 0.8)))
        #expect(decoder.frames.count == 3)
        for (image, original) in zip(try composed(decoder), images) {
            #expect(image.likeness(to: original) >= 30)
        }
    }

    /// 64 × 64 pixels that change smoothly.
    private func gradient(alpha: Bool, shift: Int = 0) -> Bitmap {
        Bitmap.of(
            (0..<64).map { y in
                (0..<64).map { x in
                    let a = alpha ? UInt32(255 - y * 3) : 255
                    let (r, g, b) = (UInt32(x * 3 + shift / 2), UInt32(y * 4), UInt32(255 - x * 2 - y - shift / 4))
                    return a << 24 | (r * a / 255) << 16 | (g * a / 255) << 8 | b * a / 255
                }
            }
        )
    }

    @Test("A frame that cannot be decoded repeats the one before; without the first one nothing is written")
    func missingFramesRepeat() throws {
        var source = animation()
        (source.bitmaps[1], source.bitmaps[2]) = (nil, nil)
        let decoder = try #require(try frames(of: Codecs.encode(source, as: .webp, lossless: true)))
        let delays = decoder.frames.map(\.delay)
        let (written, given) = (delays.reduce(0, +), source.delays.reduce(0, +))
        #expect(abs(written - given) < 1e-9)
        let last = try #require(try composed(decoder).last)
        #expect(last.rows[8][22] == Pixel(r: 0xE0, g: 0x40, b: 0x20))
        let shown = try #require(try Codecs.frameSource(of: Codecs.encode(source, as: .webp, lossless: true)))
        let first = try #require(shown.frame(at: 0)).rows
        #expect((1..<shown.frameCount - 1).allSatisfy { shown.frame(at: $0)?.rows == first })
        source.bitmaps[0] = nil
        #expect(throws: ImagingError.encodingFailed(.webp, detail: "the first frame cannot be decoded")) {
            try Codecs.encode(source, as: .webp)
        }
    }

    @Test("Frames of different sizes are refused") func mixedSizesRefused() throws {
        var source = animation()
        source.bitmaps[2] = Bitmap.solid(0xFFFF_FFFF, 3, 3)
        let detail = "frame 2 has another size than the first one"
        #expect(throws: ImagingError.encodingFailed(.webp, detail: detail)) {
            try Codecs.encode(source, as: .webp, lossless: true)
        }
        // No still is written in its place either.
        let image = try #require(Image.animated(source, options: ImageCreatingOptions()))
        #expect(image.encoded(as: .webp) == nil && image.encoded(as: .png) != nil)
    }

    @Test("Delays that make no sense are replaced or limited") func clampsDelays() throws {
        var source = animation()
        source.delays = [.nan, -1, .infinity, 1e12]
        let decoder = try #require(try frames(of: Codecs.encode(source, as: .webp, lossless: true)))
        #expect(decoder.frames.map(\.delay) == [0.1, 0.1, 0.1, 3600])
    }

    @Test("Formats without an animation encoder are refused", arguments: [ImageContentType.jpeg, .tiff, .pdf])
    func unsupportedFormats(type: ImageContentType) throws {
        #expect(!Codecs.canEncodeAnimation(as: type))
        #expect(throws: ImagingError.self) { try Codecs.encode(animation(), as: type) }
    }

    @Test(
        "Lossless stills keep every pixel at any quality",
        arguments: [ImageContentType.webp, .avif, .png],
        ["photo.png", "alpha.png", "opaque-alpha.png"]
    )
    func losslessIgnoresQuality(type: ImageContentType, name: String) throws {
        let original = try picture(name).bitmap()
        let decoded = try Codecs.decode(Codecs.encode(picture(name), as: type, quality: 0.1, lossless: true)).bitmap()
        #expect(decoded.hasAlpha == original.hasAlpha)
        let pairs = zip(decoded.rows.joined(), original.rows.joined())
        #expect(pairs.allSatisfy { $0.isNear($1, within: $1.a == 255 ? 0 : 1) })
    }

    @Test("A quality of 0.8 keeps stills at 30 dB or more", arguments: [ImageContentType.webp, .avif])
    func lossyQuality(type: ImageContentType) throws {
        for alpha in [false, true] {
            let original = gradient(alpha: alpha)
            let data = try Codecs.encode(Image(cgImage: original), as: type, quality: 0.8)
            #expect(try Codecs.decode(data).bitmap().likeness(to: original) >= 30)
        }
    }

    @Test("A higher quality gives a larger file", arguments: [ImageContentType.webp, .avif])
    func qualityDeterminesSize(type: ImageContentType) throws {
        let image = try picture("photo.png")
        let sizes = try [0, 0.5, 0.8, 1].map { try Codecs.encode(image, as: type, quality: $0).count }
        #expect(sizes == sizes.sorted() && Set(sizes).count == 4)
    }

    @Test("AVIF files declare sRGB colours with the BT.601 matrix and full range") func avifColourDescription() throws {
        let data = try Codecs.encode(picture("photo.png"), as: .avif, quality: 0.8)
        // nclx: primaries 1, transfer 13, matrix 6, full range.
        #expect(data.range(of: Data(Array("nclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80])) != nil)
    }
}
