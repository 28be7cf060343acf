// The quality that is found for a score.

import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct QualityTargetTests {
    private func file(_ image: Image, as type: ImageContentType, score: Double) throws -> Data {
        var options = ImageEncodingOptions(quality: 0.85)
        options.encoder = EncoderSettings()
        options.targetScore = score
        return try Codecs.encode(image, as: type, options)
    }

    @Test(
        "A file reaches the score that is asked for, and is hardly better",
        arguments: [ImageContentType.jpeg, .webp, .avif],
        [50.0, 65, 75]
    )
    func reached(type: ImageContentType, score: Double) throws {
        let image = Image(cgImage: PerceptualScoreTests.scene(300, 200))
        let data = try file(image, as: type, score: score)
        let copy = try #require(Image(data: data))
        let reached = try #require(image.similarity(to: copy))
        #expect(abs(reached - score) <= 3, "\(reached)")
        #expect(try file(image, as: type, score: score) == data, "the same every time")
    }

    @Test("A score beyond what the format can is the best quality, and one below all is the worst") func bounds() throws
    {
        let image = Image(cgImage: PerceptualScoreTests.scene(100, 80))
        let sizes = try [-1000, 30, 100].map { try file(image, as: .jpeg, score: $0).count }
        #expect(sizes == sizes.sorted() && sizes[0] < sizes[2])
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
