// Decoding of every format, compared with one scene, and the properties of decoded images.

import Foundation
import KFImaging
import Testing

@Suite struct DecodingTests {
    @Test(
        "Every format shows the same scene",
        arguments: [
            ("photo.jpg", 30.0), ("progressive.jpg", 30), ("orientation-1.jpg", 30), ("cmyk.jpg", 28),
            ("opaque-alpha.png", .infinity), ("interlaced.png", .infinity), ("palette.png", 28), ("photo.gif", 28),
            ("plain.gif", 28), ("photo.webp", 30), ("photo.avif", 30), ("deep.avif", 30), ("rotated.avif", 30),
            ("mirrored.avif", 30),
        ]
    )
    func everyFormat(name: String, bound: Double) throws {
        let image = try picture(name)
        #expect(image.size == CGSize(width: 96, height: 64))
        #expect(image.scale == 1)
        #expect(!image.hasAlpha)
        let likeness = try image.bitmap().likeness(to: picture("photo.png").bitmap())
        #expect(likeness >= bound, "\(name): \(likeness) dB")
    }

    @Test(
        "A downsampled decode looks like the resized whole image",
        arguments: [
            "photo.jpg", "photo.png", "interlaced.png", "alpha.png", "photo.gif", "photo.webp", "alpha.webp",
            "photo.avif", "cmyk.jpg", "rotated.avif",
        ]
    )
    func downsampledDecoding(name: String) throws {
        let whole = try picture(name).bitmap()
        for (limit, width, height) in [(48, 48, 32), (33, 33, 22), (10, 10, 7), (95, 95, 63)] {
            let small = try picture(name, maxPixelSize: limit)
            #expect(small.pixelWidth == width && small.pixelHeight == height)
            let likeness = try small.bitmap().likeness(to: whole.resampled(to: PixelSize(width, height)))
            #expect(likeness > 26, "\(name) at \(limit): \(likeness) dB")
        }
    }

    @Test("Decoding never enlarges an image") func noEnlarging() throws {
        for limit in [0, -5, 96, 500] {
            let image = try picture("photo.jpg", maxPixelSize: limit)
            #expect(image.pixelWidth == 96 && image.pixelHeight == 64)
        }
    }

    @Test("A PNG downsampled while it is read equals the resampled whole") func streamedDownsampling() throws {
        let small = try picture("photo.png", maxPixelSize: 37).bitmap()
        let whole = try picture("photo.png").bitmap().resampled(to: PixelSize(37, 25))
        #expect(small.rows == whole.rows)
    }

    @Test(
        "Grey images have equal components and are opaque",
        arguments: [
            ("grey.png", Double.infinity), ("grey-alpha.png", .infinity), ("grey.jpg", 35), ("grey16.png", 45),
        ]
    )
    func grey(name: String, bound: Double) throws {
        let bitmap = try picture(name).bitmap()
        #expect(bitmap.rows.joined().allSatisfy { $0.r == $0.g && $0.g == $0.b && $0.a == 255 })
        #expect(!bitmap.hasAlpha)
        #expect(try bitmap.likeness(to: picture("grey.png").bitmap()) >= bound)
    }

    @Test("16 bits are rounded to 8, not cut off") func sixteenBitsRounded() throws {
        // The low bytes are set so that rounding gives the 8-bit image and cutting off does not.
        #expect(try picture("grey16.png").bitmap().rows == picture("grey.png").bitmap().rows)
        #expect(try picture("alpha16.png").bitmap().likeness(to: picture("alpha.png").bitmap()) > 50)
    }

    @Test("Bilevel images are black and white") func bilevel() throws {
        let levels = Set(try picture("bilevel.png").bitmap().rows.joined().map(\.r))
        #expect(levels == [0, 255])
    }

    @Test("Pixels are premultiplied with alpha") func premultiplied() throws {
        let bitmap = try picture("alpha.png").bitmap()
        #expect(bitmap.hasAlpha)
        #expect(bitmap.rows.joined().allSatisfy { $0.r <= $0.a && $0.g <= $0.a && $0.b <= $0.a })
        #expect(bitmap[0, 5] == Pixel(r: 0, g: 0, b: 0, a: 0))
        #expect(bitmap[28, 10].a == 120)
        #expect(try picture("alpha.webp").bitmap().likeness(to: bitmap) > 45)
        #expect(try picture("alpha.avif").bitmap().likeness(to: bitmap) > 28)
    }

    @Test("Palette entries may be transparent") func transparentPalette() throws {
        let bitmap = try picture("palette-transparent.png").bitmap()
        #expect(bitmap.hasAlpha)
        #expect(Set(bitmap.rows.joined().map(\.a)) == [0, 255])
    }

    @Test("An image whose alpha channel is full is opaque") func opaqueAlphaChannel() throws {
        #expect(try picture("opaque-alpha.png").hasAlpha == false)
        #expect(try ImageInfo(data: fixture("opaque-alpha.png")).hasAlpha)
    }

    @Test("The first frame of a GIF lies in its place on the screen") func firstGIFFrame() throws {
        let image = try picture("animated.gif")
        #expect(image.pixelWidth == 40 && image.pixelHeight == 30 && image.hasAlpha)
        let bitmap = try image.bitmap()
        #expect(bitmap[4, 6] == Pixel(r: 255, g: 0, b: 0))
        #expect(bitmap[19, 15] == Pixel(r: 255, g: 0, b: 0))
        #expect(bitmap[3, 6].a == 0 && bitmap[20, 15].a == 0 && bitmap[39, 29].a == 0)
    }

    @Test("A GIF without a screen size is as large as its frames") func gifWithoutScreen() throws {
        let image = try picture("no-screen.gif")
        #expect(image.pixelWidth == 1 && image.pixelHeight == 1)
        #expect(try image.bitmap()[0, 0] == Pixel(r: 255, g: 0, b: 0))
    }

    @Test(
        "An animation keeps its data and frame count, a downsampled one does not",
        arguments: [("animated.gif", 3), ("once.gif", 2), ("animated.webp", 3), ("animated.png", 3)]
    )
    func animatedData(name: String, frames: Int) throws {
        let image = try picture(name)
        #expect(image.frameCount == frames)
        #expect(image.animatedData == (try fixture(name)))
        let small = try picture(name, maxPixelSize: 12)
        #expect(small.frameCount == nil && small.animatedData == nil)
    }

    @Test("Images of stills have no frames") func stills() throws {
        for name in ["photo.jpg", "photo.png", "photo.webp", "photo.avif"] {
            let image = try picture(name)
            #expect(image.frameCount == nil && image.animatedData == nil)
        }
    }

    @Test("A lossy WebP without alpha is opaque in every size", arguments: [nil, 40, 1])
    func opaqueLossyWebP(maxPixelSize: Int?) throws {
        let bitmap = try picture("photo.webp", maxPixelSize: maxPixelSize).bitmap()
        #expect(!bitmap.hasAlpha && bitmap.rows.joined().allSatisfy { $0.a == 255 })
    }

    @Test("The first frame of an animated WebP is decoded") func firstWebPFrame() throws {
        let bitmap = try picture("animated.webp").bitmap()
        #expect(bitmap.width == 24 && bitmap.height == 16)
        #expect(try bitmap.likeness(to: picture("animated.png").bitmap()) > 45)
    }

    @Test("Images have the content type of their data") func contentType() throws {
        #expect(try picture("photo.jpg").contentType == .jpeg)
        #expect(try picture("photo.jpg", maxPixelSize: 10).contentType == .jpeg)
        #expect(try picture("photo.avif").contentType == .avif)
    }
}

@Suite struct ColorProfileTests {
    private let patches = [(200, 100, 80), (90, 180, 110), (60, 80, 190), (128, 128, 128)]

    private func expected(_ index: Int) -> Pixel {
        func level(_ value: Int) -> CGFloat { CGFloat(value) / 255 }
        let (r, g, b) = patches[index]
        let color = Color(displayP3Red: level(r), green: level(g), blue: level(b))
        func byte(_ value: CGFloat) -> UInt8 { UInt8(min(max(value * 255, 0), 255).rounded()) }
        return Pixel(r: byte(color.red), g: byte(color.green), b: byte(color.blue))
    }

    @Test(
        "Display P3 is converted to sRGB",
        arguments: [("display-p3.png", 1), ("display-p3.webp", 1), ("display-p3.jpg", 4)]
    )
    func displayP3(name: String, tolerance: Int) throws {
        let bitmap = try picture(name).bitmap()
        for index in 0..<4 {
            let pixel = bitmap[8 + 16 * (index % 2), 8 + 16 * (index / 2)]
            #expect(pixel.isNear(expected(index), within: tolerance), "\(pixel) instead of \(expected(index))")
        }
    }

    @Test("Colours with an sRGB profile are unchanged") func sRGBProfile() throws {
        let bitmap = try picture("srgb-profile.jpg").bitmap()
        let pixel = Pixel(r: 200, g: 100, b: 80)
        #expect(bitmap[8, 8].isNear(pixel, within: 3))
    }

    @Test("Linear values are encoded with the curve of sRGB") func linearGamma() throws {
        // 64, 128 and 192 of 255, as light, in sRGB's curve.
        let pixel = try picture("gamma-linear.png").bitmap()[4, 4]
        #expect(pixel.isNear(Pixel(r: 137, g: 188, b: 225), within: 1))
    }

    @Test("The name of the profile is read") func profileNames() throws {
        #expect(try ImageInfo(data: fixture("display-p3.png")).colorProfileName == "Display P3 (test)")
        #expect(try ImageInfo(data: fixture("display-p3.jpg")).colorProfileName == "Display P3 (test)")
        #expect(try ImageInfo(data: fixture("display-p3.webp")).colorProfileName == "Display P3 (test)")
        #expect(try ImageInfo(data: fixture("photo.jpg")).colorProfileName == nil)
    }

    @Test("Conversions may run concurrently") func concurrentConversions() async throws {
        let data = try fixture("display-p3.png")
        let reference = try Codecs.decode(data).bitmap().rows
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { try Codecs.decode(data).bitmap().rows == reference } }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}

/// The alpha of an image may be apart from its colours, with other data between the two.
@Suite struct ScatteredAVIFTests {
    @Test("Data between colours and alpha is skipped") func gapBetweenItems() throws {
        let whole = try fixture("alpha.avif")
        let scattered = try #require(whole.withGapBetweenItems(of: 40))
        let (one, other) = try (Codecs.decode(whole), Codecs.decode(scattered))
        #expect(scattered.count == whole.count + 40)
        #expect(one.hasAlpha && other.hasAlpha)
        let (left, right) = (try #require(one.cgImage), try #require(other.cgImage))
        let areEqual = left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqual($0) } }
        #expect(areEqual)
    }
}

extension Data {
    private func number(at offset: Int) -> Int { self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

    private mutating func setNumber(_ value: Int, at offset: Int) {
        for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }

    /// The file, whose last box holds two items in a row, with other data between them.
    fileprivate func withGapBetweenItems(of length: Int) -> Data? {
        guard let mark = range(of: Data("mdat".utf8)) else { return nil }
        let places = (0..<mark.lowerBound - 8)
        for place in places where number(at: place) == mark.upperBound {
            let second = mark.upperBound + number(at: place + 4)
            guard let other = places.first(where: { number(at: $0) == second && second + number(at: $0 + 4) == count })
            else { continue }
            var copy = self
            copy.setNumber(second + length, at: other)
            copy.setNumber(number(at: mark.lowerBound - 4) + length, at: mark.lowerBound - 4)
            copy.insert(contentsOf: [UInt8](repeating: 0xFF, count: length), at: second)
            return copy
        }
        return nil
    }
}
