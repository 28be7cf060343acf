// The quality that is found for a score.

import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct QualityTargetTests {
    private func file(
        _ image: Image,
        as type: ImageContentType,
        score: Double?,
        quality: Double = 0.85,
        among qualities: ClosedRange<Double> = 0.01...1
    ) throws -> Data {
        var options = ImageEncodingOptions(quality: quality)
        options.encoder = EncoderSettings()
        (options.targetScore, options.searchedQualities) = (score, qualities)
        return try Codecs.encode(image, as: type, options)
    }

    @Test(
        "A file reaches the score that is asked for, and a higher one takes more bytes",
        arguments: [ImageContentType.jpeg, .webp, .avif],
        [60.0, 70, 80]
    )
    func reached(type: ImageContentType, score: Double) throws {
        let image = Image(cgImage: PerceptualScoreTests.scene(300, 200))
        let data = try file(image, as: type, score: score)
        let copy = try #require(Image(data: data))
        let reached = try #require(image.similarity(to: copy))
        // A step of quality may be worth much of a drawing: from 90 on JPEG keeps all colours.
        #expect((score - 2...score + (type == .avif ? 6 : 15)).contains(reached), "\(reached)")
        #expect(try file(image, as: type, score: score + 8).count > data.count)
        #expect(try file(image, as: type, score: score) == data, "the same every time")
    }

    @Test("A score beyond what the format can is the best quality, and one below all is the worst") func bounds() throws
    {
        let image = Image(cgImage: PerceptualScoreTests.scene(100, 80))
        let sizes = try [-1000, 30, 100].map { try file(image, as: .jpeg, score: $0).count }
        #expect(sizes == sizes.sorted() && sizes[0] < sizes[2])
    }

    @Test("No quality is found outside of those that are allowed", arguments: [ImageContentType.jpeg, .webp])
    func allowed(type: ImageContentType) throws {
        let image = Image(cgImage: PerceptualScoreTests.scene(100, 80))
        for (score, qualities, found) in [
            (100.0, 0.2...0.5, 0.5), (1, 0.6...0.9, 0.6), (70, 0.33...0.33, 0.33), (100, -9...0, 0.01),
        ] {
            let file = try file(image, as: type, score: score, among: qualities)
            #expect(try file == self.file(image, as: type, score: nil, quality: found), "\(qualities)")
        }
    }

    @Test("Of a large image squares are looked at, and transparent ones are judged on white as JPEG shows them")
    func largeAndTransparent() throws {
        let large = Image(cgImage: try PerceptualScoreTests.scene(700, 500).resampled(to: PixelSize(2000, 1500)))
        let copy = try #require(Image(data: try file(large, as: .jpeg, score: 70)))
        #expect(abs(try #require(large.similarity(to: copy)) - 70) < 6)
        let clear = Image(cgImage: .solid(0x4020_2020, 64, 64))
        #expect(try file(clear, as: .jpeg, score: 70).count > 100)
    }
}
