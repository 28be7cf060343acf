// The bytes that formats take for a score of 75, beside other programs with the same effort.

import CBaseline
import Foundation
import Kingfisher

let equalScoreBenchmarks: [Benchmark] = [
    row(.jpeg, against: "libvips", .atMostTimes(0.9), byVips(".jpg[interlace,optimize_coding,strip,Q=%d]")),
    row(.jpeg, against: "Pillow", .atMostTimes(0.9), byPillow("JPEG", "progressive=True, optimize=True")),
    row(.webp, against: "libvips", .atMostTimes(1.02), byVips(".webp[effort=2,strip,Q=%d]")),
    row(.webp, against: "Pillow", .atMostTimes(1.02), byPillow("WEBP", "method=2")),
    // Debian's Pillow writes no AVIF.
    row(.avif, against: "libvips", .atMostTimes(1.02), byVips(".avif[effort=0,strip,Q=%d]")),
]

/// Encodes an image with a quality of 1 to 100.
private typealias Encode = @Sendable (_ image: Image, _ quality: Int) async throws -> Data

private func row(
    _ format: ImageContentType,
    against other: String,
    _ goal: Goal,
    _ baseline: @escaping Encode
) -> Benchmark {
    Benchmark(name: "bytes at a score of 75, \(format.name), against \(other)") {
        let encoding: Encode = { image, quality in
            try await image.kf.encoded(as: ImageEncoding(format, quality: Double(quality) / 100)).data
        }
        var (ours, theirs) = (0.0, 0.0)
        let images = try smallImages()
        for image in images {
            ours += log(try await bytes(atScore: 75, of: image, encoding))
            theirs += log(try await bytes(atScore: 75, of: image, baseline))
        }
        let count = Double(images.count)
        return Figure(.bytes(exp(ours / count)), baseline: .bytes(exp(theirs / count)), goal)
    }
}

/// Photographs of 512 pixels.
private func smallImages() throws -> [Image] {
    let processor = ThumbnailImageProcessor(size: CGSize(width: 512, height: 512))
    return try Photographs.images(width: 2000).map { image in
        guard let small = processor.process(item: .image(image), options: KingfisherParsedOptionsInfo(nil)) else {
            throw BenchmarkError("there is no thumbnail")
        }
        return small
    }
}

/// The bytes for a score, between those of the two qualities around it.
private func bytes(atScore target: Double, of image: Image, _ encode: Encode) async throws -> Double {
    func measured(_ quality: Int) async throws -> (score: Double, size: Double) {
        let data = try await encode(image, quality)
        guard let decoded = Image(data: data), let score = image.kf.similarity(to: decoded) else {
            throw BenchmarkError("the encoded image has no score")
        }
        return (score, log(Double(data.count)))
    }
    var (low, high) = (10, 98)
    var (below, above) = (try await measured(low), try await measured(high))
    try BenchmarkError.unless(below.score < target && above.score >= target, "no quality gives a score of \(target)")
    while high - low > 1 {
        let middle = (low + high) / 2
        let found = try await measured(middle)
        if found.score < target { (low, below) = (middle, found) } else { (high, above) = (middle, found) }
    }
    let part = (target - below.score) / (above.score - below.score)
    return exp(below.size + (above.size - below.size) * part)
}

/// Encodes by libvips, with a suffix of a file's name that has the options.
private func byVips(_ suffix: String) -> Encode {
    { image, quality in
        try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
        let exact = try ExactImage(image)
        let pixels = exact.values.map { UInt8($0) }
        var count = 0
        let name = String(format: suffix, quality)
        let bytes = baseline_vips_encode(pixels, Int32(exact.width), Int32(exact.height), name, &count)
        guard let bytes else { throw BenchmarkError("libvips cannot write \(name)") }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }
}

/// Encodes by Pillow, in a process of its own.
private func byPillow(_ format: String, _ options: String) -> Encode {
    { image, quality in
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let (source, result) = (folder.url.appendingPathComponent("a.png"), folder.url.appendingPathComponent("b"))
        guard let png = image.pngData() else { throw BenchmarkError("no PNG could be encoded") }
        try png.write(to: source)
        let program = """
            import sys
            from PIL import Image
            Image.open(sys.argv[1]).convert("RGB").save("\(result.path)", "\(format)", quality=\(quality), \(options))
            """
        _ = try Python.output(of: program, source.path)
        return try Data(contentsOf: result)
    }
}
