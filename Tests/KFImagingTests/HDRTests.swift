// Images of high dynamic range, against the formulas of ITU-R BT.2100 and BT.2390 in double precision.

import Foundation
import KFImaging
import Testing

/// The light of curves and of bytes, in candela a square metre where nothing else is said.
enum HDRFormula {
    static let white = 203.0

    static func pqLight(_ value: Double) -> Double {
        let power = pow(value, 1 / 78.84375)
        return 10_000 * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    static func pqValue(_ light: Double) -> Double {
        let power = pow(light / 10_000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// Of a scene, 0…1.
    static func hlgLight(_ value: Double) -> Double {
        value <= 0.5 ? value * value / 3 : (exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }

    /// The light shown for a light, when `peak` becomes white.
    static func compressed(_ light: Double, peak: Double) -> Double {
        let most = pqValue(max(peak, white))
        let (value, end) = (min(pqValue(light) / most, 1), pqValue(white) / most)
        let bend = 1.5 * end - 0.5
        guard value > bend, bend < 1 else { return pqLight(value * most) }
        let t = (value - bend) / (1 - bend)
        let spline =
            (2 * t * t * t - 3 * t * t + 1) * bend + (t * t * t - 2 * t * t + t) * (1 - bend)
            + (3 * t * t - 2 * t * t * t) * end
        return pqLight(spline * most)
    }

    /// The pixel for bytes of red, green and blue of the primaries of sRGB, by the number of the curve.
    static func pixel(_ color: [Int], transfer: UInt8, peak: Double = 1000) -> Pixel {
        var light = color.map { transfer == 16 ? pqLight(Double($0) / 255) : hlgLight(Double($0) / 255) }
        if transfer == 18 {
            let luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
            light = light.map { 1000 * pow(luminance, 0.2) * $0 }
        }
        let most = light.max() ?? 0
        let gain = most > 0 ? compressed(most, peak: peak) / most : 1
        let bytes = light.map { byte(gain * $0 / white) }
        return Pixel(r: bytes[0], g: bytes[1], b: bytes[2])
    }

    /// The byte of sRGB for a share of white.
    static func byte(_ share: Double) -> UInt8 {
        let share = min(max(share, 0), 1)
        return UInt8(((share <= 0.0031308 ? share * 12.92 : 1.055 * pow(share, 1 / 2.4) - 0.055) * 255).rounded())
    }

    static func share(_ byte: UInt8) -> Double {
        let value = Double(byte) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}

@Suite struct HDRTests {
    /// A PNG of a row of colours, with these numbers in its cICP chunk.
    private func png(_ colors: [[Int]], primaries: UInt8 = 9, transfer: UInt8, chunks: [UInt8] = []) -> Data {
        var writer = PNGWriter(colors.count, 1) { x, _, component in colors[x][component] }
        writer.chunks = PNGWriter.chunk("cICP", [primaries, transfer, 0, 1]) + chunks
        return writer.data
    }

    private let greys = (0...255).map { [$0, $0, $0] }

    private func decodedGreys(_ transfer: UInt8, chunks: [UInt8] = []) throws -> [Pixel] {
        try Codecs.decode(png(greys, transfer: transfer, chunks: chunks)).bitmap().rows[0]
    }

    /// The brightest light of an image, and that of its screen.
    private func contentLight(_ light: Int) -> [UInt8] {
        PNGWriter.chunk("cLLI", PNGWriter.number(light * 10_000) + PNGWriter.number(0))
    }
    private func screen(_ light: Int) -> [UInt8] {
        PNGWriter.chunk("mDCV", [UInt8](repeating: 1, count: 16) + PNGWriter.number(light * 10_000) + [0, 0, 0, 1])
    }

    @Test("Greys of the perceptual quantizer follow the curve for the peak of the image, and stay grey")
    func perceptualQuantizer() throws {
        let peaks: [(chunks: [UInt8], peak: Double)] = [
            ([], 1000), (contentLight(400), 400), (contentLight(4000), 4000), (screen(600), 600),
            (screen(600) + contentLight(2000), 2000), (contentLight(0) + screen(0), 1000), (contentLight(100), 203),
            (PNGWriter.chunk("cLLI", [1, 2, 3]), 1000), (contentLight(200_000), 10_000),
        ]
        for (chunks, peak) in peaks {
            for (value, pixel) in try decodedGreys(16, chunks: chunks).enumerated() {
                let expected = HDRFormula.pixel(greys[value], transfer: 16, peak: peak)
                #expect(pixel.isNear(expected, within: 1), "\(value), up to \(peak)")
                #expect(pixel.r == pixel.g && pixel.g == pixel.b, "\(pixel)")
            }
        }
    }

    @Test("Greys of hybrid log-gamma follow the curve after the gamma of the system, and stay grey")
    func hybridLogGamma() throws {
        for (value, pixel) in try decodedGreys(18).enumerated() {
            #expect(pixel.isNear(HDRFormula.pixel(greys[value], transfer: 18), within: 1), "\(value)")
            #expect(pixel.r == pixel.g && pixel.g == pixel.b, "\(pixel)")
        }
    }

    @Test("Light beyond white keeps its steps", arguments: [16, 18])
    func stepsBeyondWhite(transfer: UInt8) throws {
        let bytes = try decodedGreys(transfer).map(\.r)
        #expect(bytes.first == 0 && bytes.last == 255)
        #expect(zip(bytes, bytes.dropFirst()).allSatisfy { $0 <= $1 })
        // White of paper is at 58 and 75 % of the two curves, 1,000 candela a square metre at 75 and 100 %.
        let (paper, peak) = transfer == 16 ? (148, 192) : (191, 255)
        #expect((200..<240).contains(bytes[paper]))
        #expect(Set(bytes[paper...peak]).count >= 20, "\(bytes[paper...peak])")
        let middle = (paper + peak) / 2
        #expect(Int(bytes[paper]) + 8 < Int(bytes[middle]) && bytes[middle] < bytes[peak])
    }

    @Test("Light that is darker than faces keeps its amount") func darkLight() throws {
        for (value, pixel) in try decodedGreys(16).enumerated() {
            let light = HDRFormula.pqLight(Double(value) / 255)
            guard light < 80 else { break }
            #expect(abs(Int(pixel.r) - Int(HDRFormula.byte(light / HDRFormula.white))) <= 1, "\(value)")
        }
    }

    @Test("Bright colours keep the proportions of red, green and blue", arguments: [16, 18])
    func proportions(transfer: UInt8) throws {
        // Primaries of sRGB, so that the proportions are those of the file.
        let colors = [[190, 160, 120], [150, 185, 170], [150, 100, 190], [185, 185, 150], [175, 120, 130]]
        let pixels = try Codecs.decode(png(colors, primaries: 1, transfer: transfer)).bitmap().rows[0]
        let curve = transfer == 16 ? HDRFormula.pqLight : HDRFormula.hlgLight
        for (color, pixel) in zip(colors, pixels) {
            let light = color.map { curve(Double($0) / 255) }
            let shown = [pixel.r, pixel.g, pixel.b].map(HDRFormula.share)
            let (most, mostShown) = (light.max() ?? 1, shown.max() ?? 1)
            for (one, other) in zip(light, shown) {
                #expect(abs(one / most - other / mostShown) < 0.012, "\(color) became \(pixel)")
            }
        }
    }

    @Test("Colours follow the formula, with a gamma of the system by the luminance of all three", arguments: [16, 18])
    func colors(transfer: UInt8) throws {
        let colors = (0..<125).map { [$0 % 5 * 60 + 10, $0 / 5 % 5 * 60 + 10, $0 / 25 * 60 + 10] }
        let pixels = try Codecs.decode(png(colors, primaries: 1, transfer: transfer)).bitmap().rows[0]
        for (color, pixel) in zip(colors, pixels) {
            let expected = HDRFormula.pixel(color, transfer: transfer)
            #expect(pixel.isNear(expected, within: 1), "\(color): \(pixel), not \(expected)")
        }
    }

    @Test("Wide colours become those of sRGB, and transparent ones stay so") func widePrimaries() throws {
        // Linear light from BT.2020 to sRGB, as ITU-R BT.2087 gives it.
        let matrix = [
            [1.6604910, -0.5876411, -0.0728499], [-0.1245505, 1.1328999, -0.0083494],
            [-0.0181508, -0.1005789, 1.1187297],
        ]
        let color = [100, 110, 90]
        let light = color.map { HDRFormula.pqLight(Double($0) / 255) / HDRFormula.white }
        let bytes = matrix.map { row in HDRFormula.byte(zip(row, light).reduce(0) { $0 + $1.0 * $1.1 }) }
        let expected = Pixel(r: bytes[0], g: bytes[1], b: bytes[2])
        #expect(try Codecs.decode(png([color], transfer: 16)).bitmap()[0, 0].isNear(expected, within: 1))
        var writer = PNGWriter(1, 1) { _, _, component in (color + [51])[component] }
        (writer.type, writer.chunks) = (6, PNGWriter.chunk("cICP", [9, 16, 0, 1]))
        let translucent = Pixel.premultiplied(Int(bytes[0]), Int(bytes[1]), Int(bytes[2]), 51)
        #expect(try Codecs.decode(writer.data).bitmap()[0, 0].isNear(translucent, within: 1))
    }

    @Test("AVIF is converted by the same curves, in full size and small", arguments: [UInt8(16), 18])
    func avif(transfer: UInt8) throws {
        var data = try fixture("pq.avif")
        let colors = try #require(data.range(of: Data("colrnclx".utf8))).upperBound
        #expect(data[colors + 3] == 16)
        data[colors + 3] = transfer
        let bitmap = try Codecs.decode(data).bitmap()
        for x in 0..<bitmap.width {
            let expected = HDRFormula.pixel(greys[x / 8 * 32], transfer: transfer)
            #expect(bitmap[x, 4].isNear(expected, within: 1), "\(x)")
        }
        #expect(try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 4)).pixelWidth == 4)
    }
}
