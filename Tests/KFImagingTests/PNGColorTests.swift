// The chunks that describe the colours of a PNG, and the conversion of these colours.

import Foundation
import KFImaging
import Testing

@Suite struct PNGColorTests {
    private let samples = [(200, 100, 80), (90, 180, 110), (60, 80, 190), (128, 128, 128), (255, 255, 255), (0, 0, 0)]
    private let gamma = PNGWriter.chunk("gAMA", PNGWriter.number(100_000))
    private let usualGamma = PNGWriter.chunk("gAMA", PNGWriter.number(45_455))
    private let standard = PNGWriter.chunk("sRGB", [0])
    private let p3Primaries = PNGWriter.chunk(
        "cHRM",
        [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000].flatMap { PNGWriter.number($0) }
    )
    private let usualPrimaries = PNGWriter.chunk(
        "cHRM",
        [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000].flatMap { PNGWriter.number($0) }
    )

    private func coded(_ primaries: UInt8, _ transfer: UInt8, matrix: UInt8 = 0, isFull: Bool = true) -> [UInt8] {
        PNGWriter.chunk("cICP", [primaries, transfer, matrix, isFull ? 1 : 0])
    }

    /// The samples as they are decoded from an image with these chunks.
    private func decoded(_ chunks: [UInt8]) throws -> [Pixel] {
        var writer = PNGWriter(samples.count, 1) { x, _, component in
            [samples[x].0, samples[x].1, samples[x].2][component]
        }
        writer.chunks = chunks
        return try Codecs.decode(writer.data).bitmap().rows[0]
    }

    private var unchanged: [Pixel] {
        samples.map { Pixel(r: UInt8($0.0), g: UInt8($0.1), b: UInt8($0.2)) }
    }

    private func encode(_ light: Double) -> UInt8 {
        let light = min(max(light, 0), 1)
        return UInt8(((light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055) * 255).rounded())
    }

    /// The samples with a curve from values to light, and a matrix between primaries.
    private func expected(_ curve: (Double) -> Double, _ matrix: [[Double]]? = nil) -> [Pixel] {
        samples.map { sample in
            let light = [sample.0, sample.1, sample.2].map { curve(Double($0) / 255) }
            let mixed = matrix?.map { row in zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } } ?? light
            return Pixel(r: encode(mixed[0]), g: encode(mixed[1]), b: encode(mixed[2]))
        }
    }

    private func areAlike(_ one: [Pixel], _ other: [Pixel], within tolerance: Int = 1) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0.isNear($1, within: tolerance) }
    }

    private func standardCurve(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    // Linear light from Display P3 and BT.2020 to sRGB (white D65), as ITU-R BT.2087 and Apple give them.
    private let fromP3 = [
        [1.2249402, -0.2249402, 0], [-0.0420570, 1.0420570, 0], [-0.0196376, -0.0786361, 1.0982736],
    ]
    private let from2020 = [
        [1.6604910, -0.5876411, -0.0728499], [-0.1245505, 1.1328999, -0.0083494], [-0.0181508, -0.1005789, 1.1187297],
    ]

    @Test("Without colour chunks, or with those of sRGB, colours do not change") func standardColors() throws {
        for chunks in [
            [], standard, usualGamma, usualPrimaries, usualGamma + usualPrimaries, coded(1, 13), coded(1, 1),
        ] {
            #expect(try decoded(chunks) == unchanged)
        }
    }

    @Test("Gamma and primaries are converted") func gammaAndPrimaries() throws {
        #expect(areAlike(try decoded(gamma), expected { $0 }))
        #expect(areAlike(try decoded(p3Primaries), expected(standardCurve, fromP3)))
        #expect(areAlike(try decoded(gamma + p3Primaries), expected({ $0 }, fromP3)))
        // Within one part in a hundred of the usual it is the usual.
        #expect(try decoded(PNGWriter.chunk("gAMA", PNGWriter.number(45_800))) == unchanged)
        #expect(try decoded(PNGWriter.chunk("gAMA", PNGWriter.number(46_200))) != unchanged)
    }

    @Test("The sRGB chunk takes precedence over gamma and primaries") func sRGBPrecedence() throws {
        #expect(try decoded(standard + gamma + p3Primaries) == unchanged)
        #expect(try decoded(gamma + p3Primaries + standard) == unchanged)
    }

    @Test("A profile takes precedence over gamma and primaries") func profilePrecedence() throws {
        let data = try fixture("display-p3.png")
        let plain = try Codecs.decode(data).bitmap().rows
        let place = 33
        let both = data.prefix(place) + Data(gamma + usualPrimaries) + data.dropFirst(place)
        #expect(try Codecs.decode(both).bitmap().rows == plain)
    }

    @Test("The cICP chunk takes precedence over all others") func cICPPrecedence() throws {
        #expect(try decoded(coded(1, 13) + gamma + p3Primaries) == unchanged)
        #expect(try decoded(gamma + p3Primaries + coded(1, 13)) == unchanged)
        #expect(areAlike(try decoded(standard + coded(12, 13)), expected(standardCurve, fromP3)))
        let data = try fixture("display-p3.png")
        let numbered = data.prefix(33) + Data(coded(1, 13)) + data.dropFirst(33)
        #expect(try Codecs.decode(numbered).bitmap()[4, 4] == Pixel(r: 200, g: 100, b: 80))
        #expect(try ImageInfo(data: data).colorProfileName == "Display P3 (test)")
        #expect(try ImageInfo(data: numbered).colorProfileName == nil)
    }

    @Test("With an invalid cICP chunk the others apply") func invalidCICP() throws {
        for chunk in [coded(2, 2), coded(9, 2), coded(200, 13), coded(12, 13, matrix: 1), coded(12, 13, isFull: false)]
        {
            #expect(try decoded(chunk) == unchanged)
            #expect(areAlike(try decoded(chunk + gamma), expected { $0 }))
        }
        #expect(try decoded(PNGWriter.chunk("cICP", [12, 13, 0])) == unchanged)
        #expect(try decoded(PNGWriter.chunk("cICP", [12, 13, 0, 1, 0])) == unchanged)
    }

    @Test("Colours described by a cICP chunk are converted") func cICPPrimaries() throws {
        #expect(areAlike(try decoded(coded(12, 13)), expected(standardCurve, fromP3)))
        #expect(areAlike(try decoded(coded(9, 13)), expected(standardCurve, from2020)))
        #expect(areAlike(try decoded(coded(9, 1)), expected(standardCurve, from2020)))
        #expect(areAlike(try decoded(coded(1, 8)), expected { $0 }))
        #expect(areAlike(try decoded(coded(1, 4)), expected { pow($0, 2.2) }))
    }

    @Test("Grey and translucent images are converted, too") func greyAndTranslucent() throws {
        var grey = PNGWriter(3, 1) { x, _, _ in x * 100 }
        (grey.type, grey.chunks) = (0, coded(9, 8))
        let levels = try Codecs.decode(grey.data).bitmap().rows[0]
        #expect(
            areAlike(
                levels,
                [0, 100, 200].map { level in
                    let byte = encode(Double(level) / 255)
                    return Pixel(r: byte, g: byte, b: byte)
                }
            )
        )
        var transparent = PNGWriter(1, 1) { _, _, component in [128, 128, 128, 51][component] }
        (transparent.type, transparent.chunks) = (6, gamma)
        let encoded = Int(encode(128.0 / 255))
        let byte = UInt8((encoded * 51 * 2 + 255) / 510)
        #expect(
            try Codecs.decode(transparent.data).bitmap()[0, 0].isNear(
                Pixel(r: byte, g: byte, b: byte, a: 51),
                within: 1
            )
        )
    }
}
