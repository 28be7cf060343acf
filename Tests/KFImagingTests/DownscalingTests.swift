// Downsampled decoding, which keeps everything in its place and looks like a resized full decode.

import Foundation
import Testing

@testable import KFImaging

@Suite struct DownscalingTests {
    /// An image of grey levels 0…255, computed by a formula from the centres of its pixels.
    private func grey(_ size: PixelSize, _ level: (_ x: Double, _ y: Double) -> Double) -> Bitmap {
        Bitmap(width: size.width, height: size.height, hasAlpha: false) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let value = UInt32(min(max(level(Double(x) + 0.5, Double(y) + 0.5), 0), 255).rounded())
                    let word = 0xFF00_0000 | value << 16 | value << 8 | value
                    memory.storeBytes(of: word.littleEndian, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
    }

    private func small(_ bitmap: Bitmap, as type: ImageContentType, _ limit: Int) throws -> Bitmap {
        let data = try Codecs.encode(Image(cgImage: bitmap), as: type, lossless: true)
        return try Codecs.decode(data, options: DecodingOptions(maxPixelSize: limit)).bitmap()
    }

    /// Sizes whose quarters and halves leave every remainder, in both directions; limits for which JPEG is decoded at
    /// 1/8, 1/4, 1/2 and in full.
    private static let sizes = (0..<4).flatMap { x in (0..<4).map { y in PixelSize(401 + x, 305 + y) } }
    private static let limits = [17, 39, 71, 190]

    @Test("A gradient keeps its formula at every size, up to where it ends at the far edges", arguments: sizes)
    func gradientPositions(size: PixelSize) throws {
        // The last 120 pixels of the width and the last 90 of the height rise from 20 to 230.
        let (left, top) = (Double(size.width - 120), Double(size.height - 90))
        let (across, down) = (
            grey(size) { x, _ in 20 + max(0, x - left) / 120 * 210 },
            grey(size) { _, y in 20 + max(0, y - top) / 90 * 210 }
        )
        for limit in Self.limits {
            for type in [ImageContentType.jpeg, .png] {
                let wide = try small(across, as: type, limit)
                let step = Double(size.width) / Double(wide.width)
                // Three pixels beyond the bend, and three from the edge, the kernel sees nothing but the straight line.
                for x in Int((left / step).rounded(.up)) + 3..<max(wide.width - 3, Int(left / step) + 4)
                where x < wide.width - 3 {
                    let expected = 20 + ((Double(x) + 0.5) * step - left) / 120 * 210
                    #expect(abs(Double(wide[x, wide.height / 2].g) - expected) < 1.5, "\(type) \(size) \(limit) x \(x)")
                }
                let high = try small(down, as: type, limit)
                let rise = Double(size.height) / Double(high.height)
                for y in Int((top / rise).rounded(.up)) + 3..<max(high.height - 3, Int(top / rise) + 4)
                where y < high.height - 3 {
                    let expected = 20 + ((Double(y) + 0.5) * rise - top) / 90 * 210
                    #expect(abs(Double(high[high.width / 2, y].g) - expected) < 1.5, "\(type) \(size) \(limit) y \(y)")
                }
            }
        }
    }

    /// The position where a row changes from black to white, in its own pixels: the sum of its black parts.
    private func edge(_ levels: [UInt8]) -> Double { levels.reduce(0) { $0 + (255 - Double($1)) / 255 } }

    @Test("A hard edge is in the same place in JPEG, in PNG and by the formula", arguments: sizes)
    func edgePositions(size: PixelSize) throws {
        let (right, bottom) = (size.width - 24, size.height - 21)
        let across = grey(size) { x, _ in x < Double(right) ? 0 : 255 }
        let down = grey(size) { _, y in y < Double(bottom) ? 0 : 255 }
        for limit in Self.limits {
            for type in [ImageContentType.jpeg, .png] {
                let wide = try small(across, as: type, limit)
                let row = (0..<wide.width).map { wide[$0, wide.height / 2].g }
                let x = Double(right) * Double(wide.width) / Double(size.width)
                #expect(abs(edge(row) - x) < 0.12, "\(type) \(size) \(limit): \(edge(row)) for \(x)")
                let high = try small(down, as: type, limit)
                let column = (0..<high.height).map { high[high.width / 2, $0].g }
                let y = Double(bottom) * Double(high.height) / Double(size.height)
                #expect(abs(edge(column) - y) < 0.12, "\(type) \(size) \(limit): \(edge(column)) for \(y)")
            }
        }
    }

    /// Waves of all lengths and directions, some of them ending at edges: about as much detail as a photo has.
    private func photo(_ size: PixelSize) -> Bitmap {
        Bitmap(width: size.width, height: size.height, hasAlpha: false) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (u, v) = (Double(x), Double(y))
                    let isInside = (u - 200) * (u - 200) + (v - 150) * (v - 150) < 9000
                    let fine = sin(u * 0.9 + v * 0.4) * 18 + sin(v * 1.3 - u * 0.2) * 14
                    let coarse = sin(u * 0.05) * 40 + sin(v * 0.08 + u * 0.02) * 40 + (isInside ? 50 : 0)
                    func byte(_ value: Double) -> UInt32 { UInt32(min(max(value, 0), 255)) }
                    let (r, g, b) = (
                        byte(120 + coarse + fine), byte(110 + coarse * 0.8 - fine), byte(90 - coarse + fine)
                    )
                    let word = 0xFF00_0000 | r << 16 | g << 8 | b
                    memory.storeBytes(of: word.littleEndian, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
    }

    @Test("Downsampled, every format looks like a full decode that was resized with Lanczos")
    func downsamplingLooksLikeResizing() throws {
        // libwebp scales while it decodes where both sides are even.
        let odd = Image(cgImage: photo(PixelSize(401, 303))), even = Image(cgImage: photo(PixelSize(402, 304)))
        for (type, bound, image) in [
            (ImageContentType.jpeg, 45.0, odd), (.jpeg, 45, even), (.png, 60, odd), (.webp, 60, odd), (.webp, 42, even),
            (.avif, 60, odd),
        ] {
            let data = try Codecs.encode(image, as: type, quality: 0.9)
            let whole = try Codecs.decode(data).bitmap()
            for limit in [30, 41, 77, 160, 300] {
                let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: limit)).bitmap()
                let expected = try whole.resampled(to: small.size, filter: .lanczos3)
                #expect(small.likeness(to: expected) > bound, "\(type.name) to \(limit)")
                // Downsampling the decoded image gives the same result.
                let other = try #require(Image(cgImage: whole).downsampled(toMaxPixelSize: limit, scale: 1)).bitmap()
                #expect(other.likeness(to: expected) == .infinity, "\(type.name) to \(limit)")
            }
        }
    }

    @Test("Transparent pixels of a WebP do not show in those beside them")
    func transparentPixelsDoNotBleed() throws {
        let image = Bitmap.of(
            (0..<64).map { _ in (0..<256).map { x in x < 101 ? 0xFF20_A040 : 0 } }
        )
        let data = try Codecs.encode(Image(cgImage: image), as: .webp, lossless: true)
        let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 16)).bitmap()
        let expected = try image.resampled(to: small.size)
        #expect(small.likeness(to: expected) > 50)
    }

    @Test("The default filter is Lanczos along an axis that is reduced, and the cubic curve along one that is enlarged")
    func automaticFilter() throws {
        let image = ResamplingTests.noise(20, 20, opaque: true)
        func likeness(_ size: PixelSize, _ filter: ResamplingFilter) throws -> Double {
            try image.resampled(to: size).likeness(to: image.resampled(to: size, filter: filter))
        }
        #expect(try likeness(PixelSize(9, 7), .lanczos3) == .infinity)
        #expect(try likeness(PixelSize(31, 40), .catmullRom) == .infinity)
        #expect(try likeness(PixelSize(9, 40), .lanczos3) < 60)
        #expect(try likeness(PixelSize(9, 40), .catmullRom) < 60)
    }
}
