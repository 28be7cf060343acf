// Reductions by large factors: as exact as the kernel alone, and with memory that does not grow with the image.

import CKFCodecs
import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

/// A bitmap of opaque greys by a formula.
private func greys(_ size: PixelSize, _ level: (_ x: Int, _ y: Int) -> UInt32) throws -> Bitmap {
    try Bitmap(size, hasAlpha: false) { rows in
        for y in 0..<size.height {
            let pixels = rows.pixels(y)
            for x in 0..<size.width { pixels[x] = 0xFF00_0000 | level(x, y) * 0x01_0101 }
        }
    }
}

/// A grey PNG of one bit a pixel: white on the left or at the top, black beyond the middle.
private func halfWhitePNG(_ size: PixelSize) -> Data {
    let lineSize = (size.width + 7) / 8
    var lines: [UInt8] = []
    for y in 0..<size.height {
        lines.append(0)
        let isWhole = size.height > 1
        let white = isWhole ? (y < size.height / 2 ? lineSize : 0) : lineSize / 2
        lines += [UInt8](repeating: 255, count: white) + [UInt8](repeating: 0, count: lineSize - white)
    }
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return PNGWriter.number(content.count) + named + PNGWriter.number(Int(kf_crc32(named, named.count)))
    }
    let header = PNGWriter.number(size.width) + PNGWriter.number(size.height) + [1, 0, 0, 0, 0]
    return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        + chunk("IHDR", header) + chunk("IDAT", PNGWriter.stored(lines)) + chunk("IEND", [])
}

@Suite struct LargeReductionTests {
    /// One axis reduced by Lanczos-3 in double precision.
    private func exact(_ line: [Double], to count: Int) -> [Double] {
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
        let ratio = Double(line.count) / Double(count)
        return (0..<count).map { i in
            let center = (Double(i) + 0.5) * ratio
            var (sum, total) = (0.0, 0.0)
            for j in max(0, Int(center - 3 * ratio) - 1)...min(line.count - 1, Int(center + 3 * ratio) + 1) {
                let x = abs(Double(j) + 0.5 - center) / ratio
                let weight = x < 3 ? sinc(x) * sinc(x / 3) : 0
                sum += line[j] * weight
                total += weight
            }
            return min(max(sum / total, 0), 255).rounded()
        }
    }

    /// Waves down to three pixels of the result, noise and hard edges.
    private func detail(_ count: Int, ratio: Double) -> [Double] {
        var generator = SeededGenerator(state: 11)
        return (0..<count).map { index in
            let x = Double(index) / ratio
            let wave = sin(2 * .pi * x / 3) * 30 + sin(2 * .pi * x / 7.3) * 25
            let edge = Int(x / 5.7).isMultiple(of: 2) ? 35.0 : -35
            return (128 + wave + edge + Double.random(in: -30...30, using: &generator)).rounded()
        }
    }

    private func decibels(_ one: [Double], _ other: [Double]) -> Double {
        let squares = zip(one, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        return squares == 0 ? .infinity : 10 * log10(255 * 255 * Double(one.count) / squares)
    }

    @Test(
        "On either axis, a large reduction is within 50 dB of the exact kernel",
        arguments: [17, 24.7, 31.9, 32, 33, 47.3, 64, 99.7, 128, 200]
    )
    func likeExactKernel(ratio: Double) throws {
        let target = 60
        let count = Int((Double(target) * ratio).rounded())
        let line = detail(count, ratio: ratio)
        let expected = exact(line, to: target)
        let wide = try greys(PixelSize(count, 5)) { x, _ in UInt32(line[x]) }
        let narrow = try greys(PixelSize(5, count)) { _, y in UInt32(line[y]) }
        let across = try wide.resampled(to: PixelSize(target, 5)), down = try narrow.resampled(to: PixelSize(5, target))
        #expect(decibels((0..<target).map { Double(across[$0, 2].g) }, expected) >= 50)
        #expect(decibels((0..<target).map { Double(down[2, $0].g) }, expected) >= 50)
    }

    @Test("A single colour stays what it is, whatever the factor", arguments: ResamplingFilter.allCases)
    func constants(filter: ResamplingFilter) throws {
        for (width, height) in [(1, 40_000), (40_000, 1), (7_001, 33), (3, 9_999)] {
            let image = Bitmap.solid(0x8040_2010, width, height)
            for target in [PixelSize(1, 1), PixelSize(min(width, 13), min(height, 17))] {
                let result = try image.resampled(to: target, filter: filter)
                #expect(result.rows.joined().allSatisfy { $0 == Pixel(r: 0x40, g: 0x20, b: 0x10, a: 0x80) })
            }
        }
    }

    @Test(
        "A gradient keeps its place in images that decoders make smaller too",
        arguments: [ImageContentType.png, .jpeg]
    )
    func gradient(type: ImageContentType) throws {
        // JPEG is decoded at an eighth, which leaves a part of a pixel at the edge.
        let length = 9_003
        let wide = try greys(PixelSize(length, 16)) { x, _ in UInt32(20 + x * 215 / length) }
        let data = try Codecs.encode(Image(cgImage: wide), as: type, lossless: true)
        let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 20)).bitmap()
        try #require(small.size == PixelSize(20, 1))
        for x in 3..<17 {
            let expected = 20 + (Double(x) + 0.5) / 20 * 215
            #expect(abs(Double(small[x, 0].g) - expected) < 1.5, "\(x)")
        }
    }

    @Test(
        "Rows that are decoded in parts give the same image as the whole bitmap",
        arguments: [(0, 1), (0, 8), (3, 4), (2, 8), (4, 8), (6, 8), (6, 16)]
    )
    func partsOfRows(type: Int, depth: Int) throws {
        let most = (1 << depth) - 1
        var writer = PNGWriter(70_003, 2) { x, y, component in (x / 9 * 37 + y * 5 + component * 11) & most }
        (writer.type, writer.depth) = (type, depth)
        if type == 3 { writer.chunks = PNGWriter.chunk("PLTE", (0..<48).map { UInt8($0 * 5) }) }
        let data = writer.data
        let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 130)).bitmap()
        let whole = try Codecs.decode(data).bitmap()
        #expect(try small.rows == whole.resampled(to: PixelSize(130, 1)).rows)
    }

    @Test("Rows that are missing stay transparent in a large reduction")
    func missingRows() throws {
        var writer = PNGWriter(40, 2_000) { x, y, _ in x * 6 + y / 8 & 15 }
        writer.claimedHeight = 4_000
        let small = try Codecs.decode(writer.data, options: DecodingOptions(maxPixelSize: 60))
        let whole = try Codecs.decode(writer.data).bitmap()
        #expect(small.isDamaged)
        #expect(try small.bitmap().rows == whole.resampled(to: PixelSize(1, 60)).rows)
    }

    @Test(
        "An axis so long that its weights are computed in sections has the same pixels everywhere",
        arguments: [(source: 900_000, target: 450_000), (source: 450_000, target: 900_000)],
        ResamplingFilter.allCases
    )
    func sections(lengths: (source: Int, target: Int), filter: ResamplingFilter) throws {
        let (from, to) = lengths
        // Forty source pixels or their whole multiple are a period of the result.
        let period = 40 * to / from
        func level(_ place: Int) -> UInt32 { UInt32(place % 40 * 6) }
        let wide = try greys(PixelSize(from, 3)) { x, y in level(x + y * 40) }
        let across = try wide.resampled(to: PixelSize(to, 2), filter: filter)
        let tall = try greys(PixelSize(1, from)) { _, y in level(y) }
        let down = try tall.resampled(to: PixelSize(1, to), filter: filter)
        let first = (0..<period).map { across[period + $0, 0] }
        #expect(Set(first.map(\.g)).count > 10)
        let differing = (period..<to - period).count { x in
            let expected = first[x % period]
            return across[x, 0] != expected || across[x, 1] != expected || down[0, x] != expected
        }
        #expect(differing == 0)
    }

    @Test("A row of twenty million pixels is reduced in the memory of a part of it", .enabled(if: memoryIsOurs))
    func memoryOfWideRows() async {
        await #expect(processExitsWith: .success) {
            let data = halfWhitePNG(PixelSize(20_000_000, 1))
            let before = try peakMemory()
            let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 300)).bitmap()
            let growth = try peakMemory() - before
            #expect(small.size == PixelSize(300, 1) && small[10, 0].g == 255 && small[290, 0].g == 0)
            // The pixels of the row would be 80 MB.
            #expect(growth < 24 << 20, "\(growth) bytes")
        }
    }

    @Test("A column of two million pixels is reduced in the memory of a few", .enabled(if: memoryIsOurs))
    func memoryOfTallColumns() async {
        await #expect(processExitsWith: .success) {
            let data = halfWhitePNG(PixelSize(1, 2_000_000))
            let before = try peakMemory()
            let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 300)).bitmap()
            let growth = try peakMemory() - before
            #expect(small.size == PixelSize(1, 300) && small[0, 10].g == 255 && small[0, 290].g == 0)
            #expect(growth < 16 << 20, "\(growth) bytes")
        }
    }

    @Test(
        "A bitmap with a side of ten million pixels is resized in the memory of the result",
        .enabled(if: memoryIsOurs)
    )
    func memoryOfBitmaps() async {
        await #expect(processExitsWith: .success) {
            for isWide in [true, false] {
                let size = isWide ? PixelSize(10_000_000, 1) : PixelSize(1, 10_000_000)
                let bitmap = try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFF20_3040) }
                for target in [1, 300, 2_000_000] {
                    let before = try peakMemory()
                    _ = try bitmap.resampled(to: isWide ? PixelSize(target, 1) : PixelSize(1, target))
                    let growth = try peakMemory() - before
                    // The weights of two million pixels are made in sections of 20 MB; rows have 16 bytes at least.
                    #expect(growth < target * 16 + 64 << 20, "\(growth) bytes for \(target)")
                }
            }
        }
    }
}
