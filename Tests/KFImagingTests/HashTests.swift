// BlurHash and ThumbHash, compared with those of other implementations for the same images.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct PerceptualHashGroupTests {
    private func groups(_ bits: [UInt64], _ distance: Int) -> [[Int]] {
        bits.map(PerceptualHash.init(bits:)).groups(within: distance)
    }

    @Test("A hash is in a group if it is close to one of it") func chains() {
        let bits: [UInt64] = [0b0011, .max, 0b0001, 0xFF00, 0b0111, .max - 1, 0]
        #expect(groups(bits, 1) == [[0, 2, 4, 6], [1, 5]])
        #expect(groups([0, 0b11, 0b1111], 1).isEmpty)
        #expect(groups([0, 0b11, 0b1111], 2) == [[0, 1, 2]])
        #expect(groups([5, 6, 5], 0) == [[0, 2]])
        #expect(groups([], 6).isEmpty && groups([1], 64).isEmpty)
    }

    @Test("Groups that meet late become one") func joined() {
        // Two pairs, and then one that is close to both.
        #expect(groups([0b0000, 0xF000, 0b0001, 0xF001, 0xF00000F0, 0x3000], 2) == [[0, 1, 2, 3, 5]])
    }
}

@Suite struct BlurHashTests {
    /// `blurhash.encode("photo.png", x, y)` of PyPI's blurhash-python 1.2.2.
    @Test(
        "Hashes equal those of another implementation",
        arguments: [
            (4, 3, "LeJag43Vry9+zPs~WEN3JENMobxn"), (1, 1, "00Jag4"),
            (
                9, 9,
                "|eJag43Vry9+N4W?ocj]WXzPs~WEN3Roa#k9f7azJENMobxnt1j?a#j?j?D]Iwt2%Dxnj?a#j?j?RpWFk9ouobjtjaj?j?xYoba#"
                    + "WFWXa}a#WFa#t2oba#WEa#a|WFWFWXofbGjajaj?fQa#a#a#oJj?a#WFWFfQobobj?"
            ),
        ]
    )
    func blurHashEncoding(x: Int, y: Int, expected: String) throws {
        #expect(try picture("photo.png").blurHash(components: (x: x, y: y)) == expected)
    }

    /// Rows 0, 3 and 5 of `list(blurhash.decode("LEHV6nWB2yk8pyo0adR*.7kCMdnj", 8, 6).getdata())` of the same.
    @Test("Decoded hashes equal those of another implementation") func blurHashDecoding() throws {
        let rows: [Int: [(UInt8, UInt8, UInt8)]] = [
            0: [
                (135, 164, 177), (143, 167, 177), (161, 173, 177), (176, 178, 174), (181, 180, 171), (175, 177, 171),
                (160, 172, 174), (144, 167, 179),
            ],
            3: [
                (120, 148, 162), (127, 144, 155), (141, 134, 139), (154, 126, 118), (158, 125, 108), (153, 132, 118),
                (142, 140, 141), (130, 146, 159),
            ],
            5: [
                (132, 144, 149), (138, 144, 145), (151, 144, 135), (166, 146, 124), (174, 148, 118), (171, 149, 123),
                (158, 147, 135), (139, 143, 146),
            ],
        ]
        let image = try #require(Image(blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj", size: CGSize(width: 8, height: 6)))
        let bitmap = try image.bitmap()
        #expect(bitmap.width == 8 && bitmap.height == 6 && !bitmap.hasAlpha)
        for (y, row) in rows {
            #expect(
                zip(bitmap.rows[y], row).allSatisfy { $0.isNear(Pixel(r: $1.0, g: $1.1, b: $1.2), within: 1) }
            )
        }
    }

    @Test("A larger punch gives more contrast") func punch() throws {
        let hash = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
        let size = CGSize(width: 16, height: 16)
        func spread(_ punch: CGFloat) throws -> Int {
            let greens = try #require(Image(blurHash: hash, size: size, punch: punch)).bitmap().rows.joined().map(\.g)
            return Int(greens.max() ?? 0) - Int(greens.min() ?? 0)
        }
        #expect(try spread(0) == 0)
        #expect(try spread(2) > spread(1) && spread(1) > spread(0.5))
    }

    @Test(
        "Every punch, finite or not, gives an image",
        arguments: [
            "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "00Jag4", "|~TSUA" + String(repeating: "~q", count: 80),
            "|~TSUA" + String(repeating: "00", count: 80), "|~TSUA" + String(repeating: "00~q", count: 40),
        ]
    )
    func unusualPunches(hash: String) throws {
        let size = CGSize(width: 9, height: 7)
        func rows(_ punch: CGFloat) throws -> [[Pixel]] {
            try #require(Image(blurHash: hash, size: size, punch: punch)).bitmap().rows
        }
        for punch: CGFloat in [.infinity, .greatestFiniteMagnitude, 1e308, 1e300, 101] {
            #expect(try rows(punch) == rows(100))
        }
        for punch: CGFloat in [-.infinity, -1e308, -1, -0.0] { #expect(try rows(punch) == rows(0)) }
        #expect(try rows(.nan) == rows(1))
        #expect(try rows(.leastNonzeroMagnitude).count == 7)
    }

    @Test(
        "Malformed hashes give nil",
        arguments: [
            "", "0", "00000", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj",
            "LEHV6nWB2yk8pyo0adR*.7kCMdn ",
            "LEHV6nWB2yk8pyo0adR*.7kCMdné", "00~~~~", "~0Jag4", "10Jag4~~", "LEHV6nWB2yk8pyo0adR*.7kCMd\u{0}j",
            "LEHV6nWB2yk8pyo0adR*.7kCMd~~",
        ]
    )
    func malformedBlurHashes(hash: String) {
        #expect(Image(blurHash: hash, size: CGSize(width: 4, height: 4)) == nil)
    }

    @Test("Sizes that cannot exist give nil", arguments: [0, -1, CGFloat.nan, .infinity, 1e9])
    func impossibleSizes(side: CGFloat) {
        #expect(Image(blurHash: "00Jag4", size: CGSize(width: side, height: side)) == nil)
    }

    @Test("Random text never traps and is sometimes a BlurHash") func randomText() {
        var generator = SeededGenerator(state: 77)
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
        var decoded = 0
        for _ in 0..<3000 {
            let (x, y) = (Int.random(in: 0...8, using: &generator), Int.random(in: 0...8, using: &generator))
            let count = 3 + 2 * (x + 1) * (y + 1) + (Int.random(in: 0..<8, using: &generator) == 0 ? 1 : 0)
            let text = [letters[x + 9 * y]] + (0..<count).map { _ in letters.randomElement(using: &generator) ?? "0" }
            decoded += Image(blurHash: String(text), size: CGSize(width: 3, height: 2)) == nil ? 0 : 1
        }
        #expect(decoded > 100)
    }

    @Test(
        "Component counts outside 1 to 9 give nil",
        arguments: [(0, 3), (4, 0), (10, 3), (3, 10), (-1, 1), (.max, .min)]
    )
    func impossibleComponents(x: Int, y: Int) {
        #expect(Image(cgImage: .solid(0xFF00_0000, 4, 4)).blurHash(components: (x: x, y: y)) == nil)
    }

    @Test("Small, large and transparent images have hashes, an empty image has none") func unusualImages() throws {
        #expect(Image().blurHash(components: (x: 4, y: 3)) == nil)
        let white = Image(cgImage: .solid(0xFFFF_FFFF, 1, 1)).blurHash(components: (x: 1, y: 1))
        #expect(Image(cgImage: .solid(0, 5, 2)).blurHash(components: (x: 1, y: 1)) == white)
        let large = try #require(picture("photo.png").resized(toPoints: CGSize(width: 960, height: 640)))
        let hash = try #require(large.blurHash(components: (x: 4, y: 3)))
        let size = CGSize(width: 32, height: 21)
        let one = try #require(Image(blurHash: hash, size: size)).bitmap()
        let two = try #require(Image(blurHash: "LeJag43Vry9+zPs~WEN3JENMobxn", size: size)).bitmap()
        #expect(one.likeness(to: two) > 30)
    }
}

@Suite struct ThumbHashTests {
    /// `thumbhash.encode.rgba_to_thumbhash` of PyPI's thumbhash-python 1.0.1.
    private static let photo = "2617062d94605387706777659839857651c002f878"
    private static let alpha = "a857862b8e4ac475a07976b6d035fc7540878888888887"

    private func data(_ hex: String) -> Data {
        Data(stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) })
    }

    @Test("Hashes equal those of another implementation", arguments: [("photo.png", photo), ("alpha.png", alpha)])
    func thumbHashEncoding(name: String, expected: String) throws {
        let hash = try #require(try picture(name).thumbHash())
        let wanted = data(expected)
        #expect(hash.count == wanted.count)
        // Premultiplied pixels have lost a little: steps may differ by one.
        let steps = zip(hash, wanted).dropFirst(5).flatMap { [($0 & 15, $1 & 15), ($0 >> 4, $1 >> 4)] }
        #expect(steps.allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        #expect(name == "alpha.png" || hash == wanted)
    }

    /// `thumbhash.decode.thumbhash_to_rgba` of the same; not premultiplied.
    @Test("Decoded hashes equal those of another implementation") func thumbHashDecoding() throws {
        let bitmap = try #require(Image(thumbHash: data(Self.photo))).bitmap()
        #expect(bitmap.width == 32 && bitmap.height == 23 && !bitmap.hasAlpha)
        #expect(bitmap[0, 0].isNear(Pixel(r: 36, g: 18, b: 173), within: 1))
        #expect(bitmap[31, 0].isNear(Pixel(r: 218, g: 10, b: 233), within: 1))
        #expect(bitmap[16, 10].isNear(Pixel(r: 174, g: 143, b: 139), within: 1))
        #expect(bitmap[5, 15].isNear(Pixel(r: 66, g: 190, b: 172), within: 1))
        let transparent = try #require(Image(thumbHash: data(Self.alpha))).bitmap()
        #expect(transparent.width == 32 && transparent.height == 19 && transparent.hasAlpha)
        #expect(transparent[31, 0].isNear(Pixel(r: 246, g: 27, b: 219), within: 1))
        #expect(transparent[0, 0].isNear(Pixel(r: 29, g: 15, b: 27, a: 42), within: 1))
    }

    @Test("The average colour is read from the first bytes") func averageColor() throws {
        let average = try #require(ThumbHash.averageColor(of: data(Self.photo)))
        let real = try #require(try picture("photo.png").averageColor)
        #expect(abs(average.red - real.red) < 0.05 && abs(average.green - real.green) < 0.05)
        #expect(abs(average.blue - real.blue) < 0.05 && average.alpha == 1)
        #expect(ThumbHash.averageColor(of: Data([1, 2, 3])) == nil)
    }

    @Test(
        "Malformed hashes give nil",
        arguments: [
            "", "26", "2617062d94", "2617062d9460538770677765983985765", "2617062d94605387706777659839857651c002f87800",
            "2617062894605387706777659839857651c002f878", "a857862b8e", "a857862b8ec4",
        ]
    )
    func malformedThumbHashes(hex: String) {
        #expect(Image(thumbHash: data(hex)) == nil)
    }

    @Test("Random bytes never trap and are sometimes a ThumbHash") func randomBytes() {
        var generator = SeededGenerator(state: 78)
        var decoded = 0
        for _ in 0..<4000 {
            let count = Int.random(in: 0...40, using: &generator)
            let hash = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            decoded += Image(thumbHash: hash) == nil ? 0 : 1
            _ = ThumbHash.averageColor(of: hash)
        }
        #expect(decoded > 20)
    }

    @Test(
        "Decoded hashes keep the proportions and the colour of the image",
        arguments: [(1, 1), (100, 1), (1, 100), (7, 7), (301, 200), (5, 40)]
    )
    func aspectRatios(width: Int, height: Int) throws {
        for word: UInt32 in [0xFF30_6090, 0x8030_2010, 0] {
            let hash = try #require(Image(cgImage: .solid(word, width, height)).thumbHash())
            let bitmap = try #require(Image(thumbHash: hash)).bitmap()
            #expect((bitmap.width > bitmap.height) == (width > height) || abs(bitmap.width - bitmap.height) < 12)
            #expect(bitmap[bitmap.width / 2, bitmap.height / 2].isNear(Bitmap.solid(word, 1, 1)[0, 0], within: 8))
        }
        #expect(Image().thumbHash() == nil)
    }
}
