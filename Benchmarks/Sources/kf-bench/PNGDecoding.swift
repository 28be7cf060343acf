// Decoding PNGs to pixels, against libpng, libspng and libvips. Uses public API only.

import CBaseline
import Foundation
import Kingfisher

let pngBenchmarks =
    PNGImage.Kind.allCases.flatMap { kind in
        PNGImage.Competitor.allCases.map { competitor in
            Benchmark(name: "PNG 2 megapixels, \(kind.rawValue), against \(competitor.rawValue)") {
                let image = try PNGImage(kind)
                try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
                let comparison = try await compare(
                    rounds: 41,
                    // libvips may have threads of its own.
                    by: competitor == .vips ? .wall : .thread,
                    ours: image.decode,
                    baseline: { try image.decode(by: competitor) }
                )
                return Figure(comparison, .faster(kind.goal))
            }
        }
    }

/// A PNG of 1920 × 1080 pixels, and the ways to decode it.
struct PNGImage: Sendable {
    enum Kind: String, CaseIterable {
        case photo = "photo-like"
        case screenshot = "screenshot-like"

        /// How many times faster than the others the library must be.
        var goal: Double { self == .photo ? 2 : 3 }
    }

    enum Competitor: String, CaseIterable {
        case libpng = "libpng's simplified API"
        case spng = "libspng"
        case vips = "libvips"
    }

    private static let (width, height) = (1920, 1080)
    private let data: Data

    init(_ kind: Kind) throws {
        data =
            switch kind {
            case .photo: try SampleImages.png(width: Self.width, height: Self.height)
            case .screenshot: try Screenshots.png(width: Self.width, height: Self.height)
            }
        try decode()
    }

    func decode() throws {
        let image = Image(data: data)
        try BenchmarkError.unless(image?.pixelWidth == Self.width, "the image cannot be decoded")
    }

    func decode(by competitor: Competitor) throws {
        let width = data.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: UInt8.self).baseAddress
            var (width, height) = (0, 0)
            switch competitor {
            case .libpng: free(baseline_png(start, bytes.count, &width, &height))
            case .spng: free(baseline_spng(start, bytes.count, &width, &height))
            case .vips: width = baseline_vips_png(start, bytes.count) / Self.height / 3
            }
            return width
        }
        try BenchmarkError.unless(width == Self.width, "\(competitor.rawValue) cannot decode the image")
    }
}
