// Thumbnails in linear light: their scores against both kinds of Lanczos, and the processor time they take.

import CBaseline
import Foundation
import Kingfisher

let linearLightBenchmarks = scoreRows + timeRows

// MARK: - Scores

private let scoreRows: [Benchmark] = [768, 2000, 4000].flatMap { source -> [Benchmark] in
    [500, 300].flatMap { target -> [Benchmark] in
        [
            Benchmark(name: "linear light: \(source) → \(target) px, mean score, baseline: against encoded light") {
                let scores = try LightScores.of(source, target)
                return Figure(scores.linear.mean, baseline: scores.encoded.mean, .atLeast(.score(95)))
            },
            Benchmark(name: "linear light: \(source) → \(target) px, lowest score, baseline: against encoded light") {
                let scores = try LightScores.of(source, target)
                return Figure(scores.linear.lowest, baseline: scores.encoded.lowest, .atLeast(.score(90)))
            },
        ]
    }
}

/// The scores of thumbnails of lossless images, against Lanczos by the formula.
private struct LightScores {
    /// Those of several images.
    struct Scores {
        private var all: [Double] = []

        var mean: Quantity { .score(all.reduce(0, +) / Double(all.count)) }
        var lowest: Quantity { .score(all.min() ?? -.infinity) }

        mutating func add(_ image: Image, against reference: Image) throws {
            guard let score = reference.kf.similarity(to: image) else { throw BenchmarkError("there is no score") }
            all.append(score)
        }
    }

    private(set) var linear = Scores()
    private(set) var encoded = Scores()

    /// Measured once: each size has two rows.
    private static let measured = Result { () throws -> [[Int]: LightScores] in
        var all: [[Int]: LightScores] = [:]
        for source in [768, 2000, 4000] {
            for image in try Photographs.images(width: source) {
                let exact = try ExactImage(image)
                let light = exact.mapped(Curve.linear)
                for target in [500, 300] {
                    let small = try thumbnail(.image(image), side: target)
                    let (width, height) = (Int(small.size.width), Int(small.size.height))
                    let linear = light.reduced(to: width, height).mapped(Curve.encoded).image
                    try all[[source, target], default: LightScores()].linear.add(small, against: linear)
                    let encoded = exact.reduced(to: width, height).image
                    try all[[source, target], default: LightScores()].encoded.add(small, against: encoded)
                }
            }
        }
        return all
    }

    static func of(_ source: Int, _ target: Int) throws -> LightScores {
        guard let scores = try measured.get()[[source, target]] else { throw BenchmarkError("there are no scores") }
        return scores
    }
}

/// The curve of sRGB, of numbers from 0 to 255.
private enum Curve {
    static func linear(_ value: Float) -> Float {
        let part = value / 255
        return 255 * (part <= 0.04045 ? part / 12.92 : powf((part + 0.055) / 1.055, 2.4))
    }

    static func encoded(_ value: Float) -> Float {
        let part = min(max(value / 255, 0), 1)
        return 255 * (part <= 0.0031308 ? part * 12.92 : 1.055 * powf(part, 1 / 2.4) - 0.055)
    }
}

// MARK: - Time

private let timeRows: [Benchmark] = [
    row("JPEG 12 megapixels → 400 px", against: "encoded light", .atMostTimes(1.1), 4000, side: 400) { file in
        { try thumbnail(.data(file), side: 400, .encoded) }
    },
    row("JPEG 2 megapixels → 300 px", against: "encoded light", .atMostTimes(1.1), 1920, side: 300) { file in
        { try thumbnail(.data(file), side: 300, .encoded) }
    },
    Benchmark(name: "linear light: bitmap 2000 → 500 px, against encoded light") {
        let image = Image(cgImage: SampleImages.photo(width: 2000, height: 1333))
        let comparison = try await compare(
            rounds: 41,
            by: .process,
            ours: { _ = try thumbnail(.image(image), side: 500) },
            baseline: { _ = try thumbnail(.image(image), side: 500, .encoded) }
        )
        return Figure(comparison, .atMostTimes(1.5))
    },
    row("JPEG 12 megapixels → 400 px", against: "libvips", .faster(1), 4000, side: 400) { file in
        { try thumbnailByVips(file, side: 400, isLinear: false) }
    },
    row("JPEG 12 megapixels → 400 px", against: "libvips --linear", .faster(1), 4000, side: 400) { file in
        { try thumbnailByVips(file, side: 400, isLinear: true) }
    },
    row("JPEG 2 megapixels → 300 px", against: "libvips", .faster(1), 1920, side: 300) { file in
        { try thumbnailByVips(file, side: 300, isLinear: false) }
    },
    row("JPEG 2 megapixels → 300 px", against: "libvips --linear", .faster(1), 1920, side: 300) { file in
        { try thumbnailByVips(file, side: 300, isLinear: true) }
    },
]

/// The processor time of a thumbnail of a JPEG in linear light beside other work with the same file.
private func row(
    _ work: String,
    against other: String,
    _ goal: Goal,
    _ width: Int,
    side: Int,
    _ baseline: @escaping @Sendable (Data) -> () throws -> Any
) -> Benchmark {
    Benchmark(name: "linear light: \(work), against \(other)") {
        let file = try SampleImages.jpeg(width: width, height: width == 1920 ? 1080 : width * 3 / 4)
        let theirs = baseline(file)
        let comparison = try await compare(
            rounds: 41,
            by: .process,
            ours: { _ = try thumbnail(.data(file), side: side) },
            baseline: { _ = try theirs() }
        )
        return Figure(comparison, goal)
    }
}

private func thumbnail(_ item: ImageProcessItem, side: Int, _ space: WorkingSpace = .linear) throws -> Image {
    let processor = ThumbnailImageProcessor(size: CGSize(width: side, height: side), space: space)
    guard let image = processor.process(item: item, options: KingfisherParsedOptionsInfo(nil)) else {
        throw BenchmarkError("there is no thumbnail")
    }
    return image
}

private func thumbnailByVips(_ file: Data, side: Int, isLinear: Bool) throws -> Int {
    try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
    var count = 0
    let pixels = file.withUnsafeBytes { bytes in
        baseline_vips_thumbnail(
            bytes.bindMemory(to: UInt8.self).baseAddress,
            bytes.count,
            Int32(side),
            isLinear,
            &count
        )
    }
    free(pixels)
    try BenchmarkError.unless(count > 0, "libvips cannot make the thumbnail")
    return count
}
