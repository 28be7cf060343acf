// Decoding WebP, AVIF and TIFF to pixels, against the bare libraries. Uses public API only.

import CBaseline
import Foundation
import Kingfisher

let modernFormatBenchmarks =
    [
        Benchmark(name: "TIFF 2 megapixels, LZW, against libtiff", measure: tiff),
        Benchmark(name: "WebP 2 megapixels, lossy, against libwebp") {
            try await ModernImage { $0.kf.webPRepresentation(quality: 0.8) }.figure(atMost: 1.05) {
                baseline_webp($0, $1, $2, $3)
            }
        },
        Benchmark(name: "WebP 2 megapixels, lossless, against libwebp") {
            try await ModernImage { $0.kf.webPRepresentation(lossless: true) }.figure(atMost: 1.05) {
                baseline_webp($0, $1, $2, $3)
            }
        },
        Benchmark(name: "AVIF 2 megapixels, against libavif with libaom") {
            try await ModernImage { $0.kf.avifRepresentation(quality: 0.8) }.figure(atMost: 1.05) {
                baseline_avif($0, $1, true, $2, $3)
            }
        },
        // libavif prefers dav1d, as we do.
        Benchmark(name: "AVIF 2 megapixels, against libavif with its own choice") {
            try await ModernImage { $0.kf.avifRepresentation(quality: 0.8) }.figure(atMost: 1.05) {
                baseline_avif($0, $1, false, $2, $3)
            }
        },
    ]
    + avifKinds.map { name, kind in
        Benchmark(name: "AVIF 2 megapixels, \(name), against libavif with its own choice") {
            try await ModernImage(kind).figure(atMost: 1.05) { baseline_avif($0, $1, false, $2, $3) }
        }
    }

/// Kinds of AVIF that `kf` does not write and others do.
private let avifKinds = [
    ("10 bits", baseline_avif_kind(depth: 10, halves_chroma: true, is_full_range: true, matrix: 6)),
    ("12 bits", baseline_avif_kind(depth: 12, halves_chroma: true, is_full_range: true, matrix: 6)),
    ("BT.709 in video's range", baseline_avif_kind(depth: 8, halves_chroma: true, is_full_range: false, matrix: 1)),
    (
        "10 bits of BT.2020 in video's range",
        baseline_avif_kind(depth: 10, halves_chroma: true, is_full_range: false, matrix: 9)
    ),
    ("4:4:4", baseline_avif_kind(depth: 8, halves_chroma: false, is_full_range: true, matrix: 6)),
    ("4:4:4 of 10 bits", baseline_avif_kind(depth: 10, halves_chroma: false, is_full_range: true, matrix: 6)),
]

/// Both sides read a file by its name, as the bare libtiff does.
@Sendable private func tiff() async throws -> Figure {
    let folder = try TemporaryFolder()
    let (png, path) = (folder.url.appendingPathComponent("photo.png").path, folder.url.path + "/photo.tiff")
    try SampleImages.png(width: 1920, height: 1080).write(to: URL(fileURLWithPath: png))
    let script =
        "import sys; from PIL import Image; Image.open(sys.argv[1]).save(sys.argv[1][:-3] + 'tiff', compression='tiff_lzw')"
    _ = try Python.output(of: script, png)
    let comparison = try await compare(
        rounds: 31,
        ours: {
            let image = Image(contentsOfFile: path)
            try BenchmarkError.unless(image?.pixelWidth == 1920, "the image cannot be decoded")
        },
        baseline: {
            var (width, height) = (0, 0)
            let pixels = baseline_tiff(path, &width, &height)
            try BenchmarkError.unless(pixels != nil && width == 1920, "libtiff cannot decode the image")
            free(pixels)
        }
    )
    return Figure(comparison, .atMostTimes(1.1))
}

/// An image of 1920 × 1080 pixels in some format.
private struct ModernImage: Sendable {
    private static let (width, height) = (1920, 1080)
    private let data: Data

    init(_ encode: (KFCrossPlatformImage) -> Data?) throws {
        let image = Image(cgImage: SampleImages.photo(width: Self.width, height: Self.height))
        guard let data = encode(image) else { throw BenchmarkError("the image cannot be encoded") }
        self.data = data
    }

    init(_ kind: baseline_avif_kind) throws {
        let bitmap = SampleImages.photo(width: Self.width, height: Self.height)
        var count = 0
        let bytes = bitmap.withUnsafeBytes {
            baseline_avif_encode(
                $0.bindMemory(to: UInt8.self).baseAddress,
                bitmap.bytesPerRow,
                bitmap.width,
                bitmap.height,
                kind,
                &count
            )
        }
        guard let bytes else { throw BenchmarkError("libavif cannot encode the image") }
        data = Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    func figure(
        atMost limit: Double,
        bare: (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>, UnsafeMutablePointer<Int>) ->
            UnsafeMutablePointer<
                UInt8
            >?
    ) async throws -> Figure {
        let comparison = try await compare(
            rounds: 31,
            ours: {
                let image = Image(data: data)
                try BenchmarkError.unless(image?.pixelWidth == Self.width, "the image cannot be decoded")
            },
            baseline: {
                var (width, height) = (0, 0)
                let pixels = data.withUnsafeBytes { bytes in
                    bare(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &width, &height)
                }
                try BenchmarkError.unless(
                    pixels != nil && width == Self.width,
                    "the bare library cannot decode the image"
                )
                free(pixels)
            }
        )
        return Figure(comparison, .atMostTimes(limit))
    }
}
