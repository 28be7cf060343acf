// The filters of resizing, against formulas in double precision and against Pillow.

import CKFCodecs
import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct ResamplingTests {
    /// Pixels that look random; with alpha, or opaque.
    static func noise(_ width: Int, _ height: Int, opaque: Bool = false, seed: UInt64 = 1) -> Bitmap {
        var generator = SeededGenerator(state: seed)
        return .of(
            (0..<height).map { _ in
                (0..<width).map { _ -> UInt32 in
                    let alpha = opaque ? 255 : UInt32.random(in: 0...255, using: &generator)
                    return (0..<3).reduce(alpha) { word, _ in
                        word << 8 | UInt32.random(in: 0...alpha, using: &generator)
                    }
                }
            }
        )
    }

    /// The definition: one axis of an image of numbers, no rounding.
    private func resized(
        _ line: [SIMD4<Double>],
        to count: Int,
        _ filter: ResamplingFilter,
        showing coverage: Double = 1
    ) -> [SIMD4<Double>] {
        let ratio = Double(line.count) * coverage / Double(count)
        let beginning = Double(line.count) * (1 - coverage) / 2
        let automatic: ResamplingFilter = ratio > 1 ? .lanczos3 : .catmullRom
        let filter = filter == .automatic ? automatic : filter
        return (0..<count).map { i in
            let center = beginning + (Double(i) + 0.5) * ratio
            if filter == .nearest { return line[Int(center)] }
            var (sum, total) = (SIMD4<Double>.zero, 0.0)
            for (j, value) in line.enumerated() {
                let weight = kernel(abs(Double(j) + 0.5 - center) / max(1, ratio), filter)
                sum += value * weight
                total += weight
            }
            return sum / total
        }
    }

    private func kernel(_ x: Double, _ filter: ResamplingFilter) -> Double {
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
        switch filter {
        case .nearest: return 1
        case .bilinear: return max(0, 1 - x)
        case .catmullRom:
            if x < 1 { return 1.5 * x * x * x - 2.5 * x * x + 1 }
            return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0
        case .lanczos3, .automatic: return x < 3 ? sinc(x) * sinc(x / 3) : 0
        }
    }

    private func reference(_ bitmap: Bitmap, to size: PixelSize, _ filter: ResamplingFilter) -> [[Pixel]] {
        let rows = bitmap.rows.map { row in
            resized(row.map { SIMD4(Double($0.r), Double($0.g), Double($0.b), Double($0.a)) }, to: size.width, filter)
        }
        let columns = (0..<size.width).map { x in resized(rows.map { $0[x] }, to: size.height, filter) }
        return (0..<size.height).map { y in
            (0..<size.width).map { x in
                let (pixel, alpha) = (columns[x][y], Self.byte(columns[x][y].w))
                return Pixel(
                    r: min(Self.byte(pixel.x), alpha),
                    g: min(Self.byte(pixel.y), alpha),
                    b: min(Self.byte(pixel.z), alpha),
                    a: alpha
                )
            }
        }
    }

    @Test("Every filter follows its formula", arguments: ResamplingFilter.allCases)
    func formulas(filter: ResamplingFilter) throws {
        let images = [Self.noise(23, 17), Self.noise(31, 8, opaque: true), Self.noise(1, 1), Self.noise(2, 3)]
        for image in images {
            for size in [PixelSize(7, 5), PixelSize(40, 33), PixelSize(1, 1), PixelSize(23, 3), PixelSize(1, 50)] {
                let result = try image.resampled(to: size, filter: filter)
                let isNear = zip(result.rows, reference(image, to: size, filter)).allSatisfy {
                    zip($0, $1).allSatisfy { $0.isNear($1, within: 1) }
                }
                #expect(isNear, "\(image.size) to \(size)")
                #expect(result.hasAlpha == image.hasAlpha)
            }
        }
    }

    @Test(
        "Of a side that is a little too short or too long for the proportions, the middle is shown",
        arguments: [0.93, 0.99, 1.01, 1.06]
    )
    func coverage(share: Double) throws {
        let image = Self.noise(29, 1, opaque: true)
        for count in [8, 7, 40] {
            let target = ScaledSize(PixelSize(count, 1), coverage: PixelExtent(width: share, height: 1))
            let line = image.rows[0].map { SIMD4(Double($0.r), Double($0.g), Double($0.b), Double($0.a)) }
            let expected = resized(line, to: count, .automatic, showing: share)
            let result = try image.resampled(to: target).rows[0]
            for (pixel, numbers) in zip(result, expected) {
                let near = Pixel(r: Self.byte(numbers.x), g: Self.byte(numbers.y), b: Self.byte(numbers.z))
                #expect(pixel.isNear(near, within: 1), "\(count)")
            }
            #expect(try image.resampled(to: target.size).rows[0] != result)
        }
    }

    @Test("Far beyond its edges an image looks as they do", arguments: ResamplingFilter.allCases)
    func farBeyond(filter: ResamplingFilter) throws {
        let image = Bitmap.of(100, 100) { x, _ in x < 50 ? 0xFF20_4060 : 0xFFE0_C0A0 }
        for share in [1.3, 2] {
            let target = ScaledSize(PixelSize(50, 50), coverage: PixelExtent(width: share, height: share))
            let rows = try image.resampled(to: target, filter: filter).rows
            #expect(rows[0][0] == rows[25][20] && rows[49][49] == rows[25][30] && rows[0][0] != rows[49][49])
        }
    }

    private static func byte(_ value: Double) -> UInt8 { UInt8(min(max(value, 0), 255).rounded()) }

    @Test("Resized photos look like those of the formula", arguments: [ResamplingFilter.bilinear, .lanczos3])
    func resizedPhotos(filter: ResamplingFilter) throws {
        let photo = try picture("photo.png").bitmap()
        let size = PixelSize(20, 13)
        let exact = reference(photo, to: size, filter).map { $0.map(word) }
        #expect(try photo.resampled(to: size, filter: filter).likeness(to: .of(exact)) > 60)
    }

    private func word(_ pixel: Pixel) -> UInt32 {
        UInt32(pixel.a) << 24 | UInt32(pixel.r) << 16 | UInt32(pixel.g) << 8 | UInt32(pixel.b)
    }

    /// Made with Pillow 13.
    ///
    ///     w, h = 13, 9
    ///     im = Image.new('RGB', (w, h))
    ///     im.putdata([(70 + (x * 37 + y * 11) % 110, 70 + (x * x * 5 + y * 50) % 110,
    ///                  170 if (x // 3 + y // 2) % 2 else 80)
    ///                 for y in range(h) for x in range(w)])
    ///     im.resize(size, FILTER).tobytes().hex()   # NEAREST, BILINEAR, BICUBIC, LANCZOS
    static let pillow: [(ResamplingFilter, Int, Int, String)] = [
        (
            .nearest, 5, 4,
            "767d5052a5aa5350505455aa9eafaa8c73aa689b506946aa6a4b5046a550a269507e91aa7faa5080afaa5c9baa4a5faa"
                + "94875095a0aa96a550729150"
        ),
        (
            .nearest, 19, 3,
            "517850767d50767d509b8c5052a5aa52a5aa775aaa9c87aa9c87aa5350507891507891509d6e505455aa5455aa7946aa"
                + "9eafaa9eafaa55465072a05097a55097a5504e4650735faa735faa9882aa4fafaa4fafaa747850994b50994b50509650"
                + "757daa757daa9a6eaa5169aa5169aa766e50935aaa4a5faa4a5faa6f6eaa9487509487504baa5070695070695095a0aa"
                + "4c73aa4c73aa7150aa96a55096a5504d96507291507291509796aa"
        ),
        (
            .bilinear, 5, 4,
            "6f736675798d747373777b7f7978887f838b827573826f8383777c728776827f737e76847f847880827e7b8382787e87"
                + "787e767b85817a7c7c7e7578"
        ),
        (
            .bilinear, 19, 3,
            "547772677a728179729a7072747d7f5f8388787588916e88886a81566a726f7172897b729c87736a7682676f887e7288"
                + "8e8a8877817e586e72728878858b788f8678776f7873727e7d7482966b82817e8274847f7478788d73788c7578757e79"
                + "757d7f8581829485826a828269837d768678907788807a88707f886d8988817a7b8973727481726f8572798679928688"
                + "7d8d88718388706f87898378868572737b7270787281797c947c88"
        ),
        (
            .catmullRom, 5, 4,
            "6e7060757a91757271767c7f7777897f869083746f836c8583767c708975837f707e75867f867780837e7b8383797e8a"
                + "797e747a87827a7c7c7f7378"
        ),
        (
            .catmullRom, 19, 3,
            "507773627b73817973a16c72717c7f5486887679879a6c888e6781546b73696d728d7c72a18c746477835d6b887e7087"
                + "968e8878827d526c726f877a898c7a96877a766d7a6e747e7d77809b6680837e8070887e74787a94717a92737a747a7a"
                + "717c7f8983809a8a8064868064877d788a7a9478868279866d8186698e8784777b8f6c73738174698873778879948586"
                + "7e92876c86876d6e858e84788b85737277746e737383757d987887"
        ),
        (
            .lanczos3, 5, 4,
            "6c7161767992767170777e7f77758a7e878f847370846b8584757c708975827d707d77877f877781837e7b85837a7f8e"
                + "797e717a87857a7c7c817275"
        ),
        (
            .lanczos3, 19, 3,
            "4f76735b7c73857872a66b72747a7f4c8889717a87a36b898f65815369735e6a72947d72a38d746678835365897e7287"
                + "9c8e8977827d4e6a716d877e8a8e7e9a877e786c7e68757d80777c9d657c877d7c6a8b7d74787e97707e96737e73797e"
                + "6b7b7c8f837c9b8b7c64877c60887d7a8c7e96778385778368828464908485777c926976748077618b7677887a958783"
                + "8395846686846b6f838f857a8f89767075776a717685757d9b7884"
        ),
    ]

    @Test("Results differ from those of Pillow, which rounds after each axis, by at most one", arguments: pillow)
    func pillowAgrees(filter: ResamplingFilter, width: Int, height: Int, hex: String) throws {
        let image = Bitmap.of(
            (0..<9).map { y in
                (0..<13).map { x in
                    let (red, green) = (70 + (x * 37 + y * 11) % 110, 70 + (x * x * 5 + y * 50) % 110)
                    return 0xFF00_0000 | UInt32(red << 16 | green << 8 | ((x / 3 + y / 2) % 2 == 1 ? 170 : 80))
                }
            }
        )
        let result = try image.resampled(to: PixelSize(width, height), filter: filter)
        let bytes = result.rows.joined().flatMap { [Int($0.r), Int($0.g), Int($0.b)] }
        let digits = hex.compactMap(\.hexDigitValue)
        let expected = stride(from: 0, to: digits.count, by: 2).map { (place: Int) -> Int in
            digits[place] * 16 + digits[place + 1]
        }
        #expect(bytes.count == expected.count)
        #expect(zip(bytes, expected).allSatisfy { abs($0 - $1) <= (filter == .nearest ? 0 : 1) })
    }

    @Test("Every filter keeps a single colour exactly", arguments: ResamplingFilter.allCases)
    func constants(filter: ResamplingFilter) throws {
        for (from, to) in [(7, 5), (13, 64), (100, 9), (3, 3), (1, 8), (8, 1), (33, 32), (999, 3)] {
            let result = try Bitmap.solid(0x8040_2010, from, 3).resampled(to: PixelSize(to, 7), filter: filter)
            #expect(result.rows.joined().allSatisfy { $0 == Pixel(r: 0x40, g: 0x20, b: 0x10, a: 0x80) })
            let white = try Bitmap.solid(.max, 3, from).resampled(to: PixelSize(7, to), filter: filter)
            #expect(white.rows.joined().allSatisfy { $0 == Pixel(r: 255, g: 255, b: 255) })
        }
    }

    @Test(
        "No colour exceeds its alpha, and the same size returns the same bitmap",
        arguments: ResamplingFilter.allCases
    )
    func premultipliedBounds(filter: ResamplingFilter) throws {
        let image = Bitmap.of(
            (0..<16).map { y in (0..<16).map { x in (x / 2 + y / 3).isMultiple(of: 2) ? 0x8080_8000 : 0xFF00_FF00 } }
        )
        for side in [5, 11, 16, 37] {
            let result = try image.resampled(to: PixelSize(side, side), filter: filter)
            #expect(result.rows.joined().allSatisfy { max($0.r, $0.g, $0.b) <= $0.a })
            #expect((result === image) == (side == 16))
        }
    }

    @Test("Rotated images are resized as displayed", arguments: 1...8)
    func orientedImages(exif: Int) throws {
        let orientation = try #require(Orientation(exif: exif))
        let stored = Self.noise(12, 7)
        let size = CGSize(width: 9, height: 4)
        let turned = try #require(
            Image(cgImage: stored, scale: 1, orientation: orientation).resized(toPoints: size, filter: .lanczos3)
        )
        let upright = try #require(
            Image(cgImage: stored.oriented(from: orientation)).resized(toPoints: size, filter: .lanczos3)
        )
        let areNear = try zip(turned.bitmap().rows.joined(), upright.bitmap().rows.joined())
            .allSatisfy { $0.isNear($1, within: 1) }
        #expect(areNear && turned.imageOrientation == .up)
    }

    @Test("All instruction sets give the same bytes, of bytes and of light") func instructionSets() {
        var generator = SeededGenerator(state: 3)
        let bytes = (0..<(8 * 300)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let light = (0..<(8 * 300)).map { _ in Int16.random(in: 0...Int16(KF_LIGHT), using: &generator) }
        expectSameBytes(of: bytes, kf_blend_rows, kf_blend_columns)
        expectSameBytes(of: light, kf_blend_light_rows, kf_blend_light_columns)
    }

    private typealias Rows<Number> = (
        kf_blending, UnsafePointer<UnsafePointer<Number>?>?, kf_row_weights, UInt32, Int, UnsafeMutablePointer<Int16>?,
        UnsafeMutablePointer<Int16>?
    ) -> Void
    private typealias Columns = (
        kf_blending, UnsafePointer<Int16>?, UnsafePointer<Int16>?, UnsafePointer<Int32>?, UnsafePointer<Int16>?, Int,
        UInt32, Int, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?
    ) -> Void

    private func expectSameBytes<Number>(of numbers: [Number], _ blendRows: Rows<Number>, _ blendColumns: Columns) {
        let weights = [-900, 3000, 9000, 9000, 3000, -900, 184 + 10_000, 0].map(Int16.init)
        let best = kf_best_blending().rawValue
        for (taps, count) in [(8, 300), (4, 64), (2, 12), (2, 100)] {
            // The lower line has nothing of the first two rows.
            let others = [0, 0] + weights.dropLast(2)
            let sums = (0...best).map { kind in
                numbers.withUnsafeBufferPointer { numbers in
                    var above = [Int16](repeating: 0, count: 320)
                    var below = above
                    let rows = (0..<taps).map { tap in numbers.baseAddress.map { $0 + tap * 300 } }
                    weights.withUnsafeBufferPointer { weights in
                        others.withUnsafeBufferPointer { others in
                            let both = kf_row_weights(upper: weights.baseAddress, lower: others.baseAddress, taps: taps)
                            blendRows(kf_blending(kind), rows, both, 15, count, &above, &below)
                        }
                    }
                    return [above, below]
                }
            }
            #expect(sums.allSatisfy { $0 == sums[0] } && sums[0][0] != sums[0][1])
            let lower = [Int16](sums[0][0].reversed())
            let starts: [Int32] = [0, 1, 2, 5, 9]
            let shares = (0..<5).flatMap { _ in weights[0..<4] + weights[1..<5] }
            let outputs = (0...best).map { kind in
                var above = [UInt8](repeating: 0, count: 64)
                var below = above
                blendColumns(kf_blending(kind), sums[0][0], lower, starts, shares, 8, 15, 5, &above, &below)
                return [above, below]
            }
            #expect(outputs.allSatisfy { $0 == outputs[0] } && outputs[0][0] != outputs[0][1])
        }
    }

    /// Lines are made in pairs; rows that arrive one by one must give the same as all rows at once.
    @Test(
        "Rows that arrive one by one give the same image as all rows at once",
        arguments: [1, 2, 3, 4, 5, 8, 9, 30],
        ResamplingFilter.allCases
    )
    func streamedRows(height: Int, filter: ResamplingFilter) throws {
        let image = Self.noise(13, height)
        for target in [1, 2, 3, 7, 8, 31] where target != height {
            let size = PixelSize(6, target)
            let arrived = try Bitmap(size, hasAlpha: nil) { rows throws(ImagingError) in
                var resampler = try Resampler(from: image.size, to: ScaledSize(size), filter)
                image.withUnsafeBytes { bytes in
                    guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                    var y = 0
                    while let space = resampler.space {
                        // Not always as many rows as there is space for.
                        for row in 0..<min(space.count, 3) {
                            let slot = space.rows + row * resampler.bytesPerRow
                            slot.update(from: base + (y + row) * image.bytesPerRow, count: resampler.bytesPerRow)
                        }
                        resampler.receive(min(space.count, 3), to: rows)
                        y += min(space.count, 3)
                    }
                }
            }
            #expect(arrived.rows == (try image.resampled(to: size, filter: filter).rows))
        }
    }
}
