// Decoding at a reduced size, against bare libjpeg-turbo and libvips. Uses public processors only.

import CBaseline
import Foundation
import Kingfisher

let imagingBenchmarks = [
    Benchmark(name: "downsample JPEG 300×300 → 100×100, against libjpeg-turbo") {
        let photo = try Photo(try SampleImages.jpeg(width: 300, height: 300), side: 100, eighths: 8)
        let comparison = try await compare(
            rounds: 201,
            operations: 10,
            ours: { for _ in 0..<10 { try photo.downsample() } },
            baseline: { for _ in 0..<10 { try photo.decodeBare() } }
        )
        return Figure(comparison, .atMostTimes(1.3), try photo.similarity())
    },
    Benchmark(name: "downsample JPEG 300×300 → 100×100, against libvips") {
        let photo = try Photo(try SampleImages.jpeg(width: 300, height: 300), side: 100, eighths: 8)
        try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
        let comparison = try await compare(
            rounds: 101,
            by: .wall,
            operations: 10,
            ours: { for _ in 0..<10 { try photo.downsample() } },
            baseline: { for _ in 0..<10 { try photo.thumbnailByVips() } }
        )
        return Figure(comparison, .faster(6), try photo.similarity(ofVips: true))
    },
    Benchmark(name: "downsample JPEG 2 megapixels → 300 px, against libvips") {
        let photo = try Photo(try SampleImages.jpeg(width: 1920, height: 1080), side: 300, eighths: 4)
        try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
        let comparison = try await compare(
            rounds: 61,
            by: .wall,
            ours: photo.downsample,
            baseline: photo.thumbnailByVips
        )
        return Figure(comparison, .faster(2), try photo.similarity(ofVips: true))
    },
    Benchmark(name: "downsample JPEG 12 megapixels → 400 px, against libvips") {
        let photo = try Photo.large()
        try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
        let comparison = try await compare(
            rounds: 41,
            by: .wall,
            ours: photo.downsample,
            baseline: photo.thumbnailByVips
        )
        return Figure(comparison, .faster(1.3), try photo.similarity(ofVips: true))
    },
    Benchmark(name: "downsample JPEG 12 megapixels → 400 px, against libjpeg-turbo") {
        let photo = try Photo.large()
        let comparison = try await compare(rounds: 41, ours: photo.downsample, baseline: photo.decodeBare)
        return Figure(comparison, .atMostTimes(1.15), try photo.similarity())
    },
    Benchmark(name: "downsample JPEG 12 megapixels → 400 px, peak memory") {
        let path = NSTemporaryDirectory() + "kf-bench-\(getpid()).jpg"
        defer { unlink(path) }
        try Photo.large().data.write(to: URL(fileURLWithPath: path))
        return Figure(try peakGrowth("ours", path), baseline: try peakGrowth("baseline", path), .below(.bytes(25e6)))
    },
    Benchmark(name: "downsample JPEG 50 megapixels → 400 px, peak memory, against libvips") {
        let path = NSTemporaryDirectory() + "kf-bench-\(getpid()).jpg"
        defer { unlink(path) }
        try SampleImages.hugeJPEG().write(to: URL(fileURLWithPath: path))
        return Figure(try peakGrowth("ours", path), baseline: try peakGrowth("vips", path), .atMostTimes(1))
    },
]

/// The growth of the peak of a process's memory when the image is made small.
private func peakGrowth(_ way: String, _ path: String) throws -> Quantity {
    let output = try Child.output(of: [Child.peakMemory, way, path])
    guard let bytes = Double(output) else { throw BenchmarkError("the child says: \(output)") }
    return .bytes(bytes)
}

/// A JPEG and the ways to make it small.
struct Photo: Sendable {
    let data: Data
    private let side: Int
    private let eighths: UInt32
    private let processor: DownsamplingImageProcessor
    private let options = KingfisherParsedOptionsInfo(nil)

    /// `eighths` is the scale that both sides ask of libjpeg-turbo; the bare library does no further scaling.
    init(_ data: Data, side: Int, eighths: UInt32) throws {
        self.data = data
        self.side = side
        self.eighths = eighths
        processor = DownsamplingImageProcessor(size: CGSize(width: side, height: side))
        try downsample()
    }

    /// 4000 × 3000 pixels, to be made 400 wide.
    static func large() throws -> Photo {
        try Photo(try SampleImages.jpeg(width: 4000, height: 3000), side: 400, eighths: 2)
    }

    func downsample() throws { _ = try small() }

    private func small() throws -> Image {
        guard let image = processor.process(item: .data(data), options: options), image.pixelWidth == side else {
            throw BenchmarkError("the image was not made \(side) pixels wide")
        }
        return image
    }

    /// The similarity of the small images to a full decode with Lanczos.
    func similarity(ofVips: Bool = false) throws -> Similarity {
        let ours = try ExactImage(small())
        let exact = try ExactImage(jpeg: data).reduced(to: ours.width, ours.height)
        let vips = ofVips ? try withThumbnailByVips { try ExactImage(rgb: $0, width: side) } : nil
        return Similarity(ours: try exact.similarity(of: ours), baseline: try vips.map { try exact.similarity(of: $0) })
    }

    func decodeBare() throws {
        var (width, height) = (0, 0)
        let pixels = data.withUnsafeBytes { bytes in
            baseline_jpeg(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, eighths, &width, &height)
        }
        try BenchmarkError.unless(pixels != nil && width >= side, "libjpeg-turbo cannot decode the image")
        free(pixels)
    }

    func thumbnailByVips() throws {
        try withThumbnailByVips { rgb in
            try BenchmarkError.unless(rgb.count > 0 && rgb.count % (side * 3) == 0, "libvips cannot make the thumbnail")
        }
    }

    private func withThumbnailByVips<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) throws -> Result {
        var count = 0
        let pixels = data.withUnsafeBytes { bytes in
            baseline_vips_thumbnail(
                bytes.bindMemory(to: UInt8.self).baseAddress,
                bytes.count,
                Int32(side),
                false,
                &count
            )
        }
        defer { free(pixels) }
        return try body(UnsafeBufferPointer(start: pixels, count: count))
    }
}
