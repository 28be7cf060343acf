// The score of SSIMULACRA 2, against values of the package of that name on PyPI (0.3.0).

import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct PerceptualScoreTests {
    @Test("Equal images have 100, and worse copies have less, in their order") func order() throws {
        let image = Image(cgImage: Self.scene(160, 120))
        #expect(image.similarity(to: image) == 100)
        let scores = try [0.95, 0.8, 0.5, 0.1].map { quality in
            let copy = try #require(image.jpegData(compressionQuality: quality).flatMap { Image(data: $0) })
            return try #require(image.similarity(to: copy))
        }
        #expect(scores == scores.sorted(by: >) && scores[0] < 100, "\(scores)")
        #expect(image.similarity(to: Image(cgImage: Self.scene(100, 120))) == nil)
    }

    @Test("Images of a few pixels have a score, and a see-through one is judged on both grounds")
    func small() throws {
        for side in [1, 7, 8, 9, 17] {
            let one = Image(cgImage: .solid(0xFF10_2030, side, side)),
                other = Image(cgImage: .solid(0xFF80_8080, side, side))
            let score = try #require(one.similarity(to: other))
            #expect(side < 8 ? score == 100 : score < 90, "\(side): \(score)")
        }
        let clear = Image(cgImage: .solid(0, 32, 32)), white = Image(cgImage: .solid(0xFFFF_FFFF, 32, 32))
        let faint = Image(cgImage: .solid(0x1010_1010, 32, 32))
        #expect(try #require(clear.similarity(to: white)) < (try #require(clear.similarity(to: faint))))
    }

    @Test(
        "The score is that of another program",
        arguments: [
            ("jpeg/grey-jpeg.pixels.png", -67.02), ("jpeg/cmyk-profile.pixels.png", 3.45), ("jpeg/photo.jpg", 20.51),
            ("jpeg/rgb.jpg", 90.88),
        ]
    )
    func reference(file: String, expected: Double) throws {
        let image = try Codecs.decode(Data(contentsOf: Catalogue.folder.appending(path: "png/photo.png")))
        let copy = try Codecs.decode(Data(contentsOf: Catalogue.folder.appending(path: file)))
        let score = try #require(image.similarity(to: copy))
        #expect(abs(score - expected) <= 0.5, "\(score)")
    }

    /// Slopes, edges and noise.
    static func scene(_ width: Int, _ height: Int) -> Bitmap {
        var generator = SeededGenerator(state: 5)
        return .of(
            (0..<height).map { y in
                (0..<width).map { x in
                    let noise = UInt32.random(in: 0..<12, using: &generator)
                    let isInside = (x / 20 + y / 15) % 3 == 0
                    let level = (isInside ? 60 : 0) + UInt32(x * 90 / width + y * 60 / height) + noise
                    return 0xFF00_0000 | (level + 20) << 16 | (level + 10) << 8 | level
                }
            }
        )
    }
}
