// A photo of a hundred megapixels, cut, reduced, sharpened and written again, against libvips. Public interface only.

import CBaseline
import Foundation
import Kingfisher

let largeImageBenchmarks = [
    Benchmark(name: "JPEG 100 megapixels: crop, 90 %, sharpen, JPEG, against libvips") {
        let path = try largeJPEG()
        defer { unlink(path) }
        let work = try LargeImage(path: path)
        let comparison = try await compare(rounds: 5, by: .process, operations: 1, ours: work.ours, baseline: work.vips)
        return Figure(comparison, .atMostTimes(1.3))
    },
    Benchmark(name: "JPEG 100 megapixels: crop, 90 %, sharpen, JPEG, peak memory") {
        let path = try largeJPEG()
        defer { unlink(path) }
        func growth(_ way: String) throws -> Quantity {
            let output = try Child.output(of: [Child.largeImage, way, path])
            return .bytes(Double(output) ?? .infinity)
        }
        return Figure(try growth("ours"), baseline: try growth("vips"), .atMost(.bytes(150e6)))
    },
]

/// The path of a new file.
private func largeJPEG() throws -> String {
    let path = NSTemporaryDirectory() + "kf-bench-\(getpid()).jpg"
    try SampleImages.hugeJPEG(width: 10_000, height: 10_000).write(to: URL(fileURLWithPath: path))
    return path
}

/// The benchmark that libvips comes with: 100 pixels are cut off each side, nine tenths of the length are left, and
/// what lies beside a pixel sharpens it.
struct LargeImage: Sendable {
    private let path: String
    private let manager: KingfisherManager
    private let processor =
        RectCroppingImageProcessor(rect: CGRect(x: 100, y: 100, width: 9_800, height: 9_800))
        |> ResizingImageProcessor(referenceSize: CGSize(width: 8_820, height: 8_820), filter: .bilinear)
        |> SharpeningImageProcessor(sigma: 0.49, amount: 2)

    init(path: String) throws {
        self.path = path
        let folder = URL(fileURLWithPath: NSTemporaryDirectory())
        let cache = ImageCache(name: "large-\(getpid())", directory: folder)
        manager = KingfisherManager(downloader: ImageDownloader(name: "large"), cache: cache)
        try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
    }

    private var target: String { path + ".result.jpg" }

    /// Reads the file, and writes one.
    func ours() async throws {
        let provider = LocalFileImageDataProvider(fileURL: URL(fileURLWithPath: path))
        let image = try await manager.retrieveEncoded(
            with: .provider(provider),
            options: [.processor(processor), .forceRefresh, .cacheMemoryOnly],
            as: ImageEncoding(.jpeg, quality: 0.85)
        )
        try image.data.write(to: URL(fileURLWithPath: target))
        try checkResult()
    }

    /// The same by libvips.
    func vips() throws {
        try BenchmarkError.unless(baseline_vips_benchmark(path, target), "libvips cannot make the image")
        try checkResult()
    }

    private func checkResult() throws {
        defer { unlink(target) }
        let info = try ImageInfo(data: Data(contentsOf: URL(fileURLWithPath: target)))
        try BenchmarkError.unless(info.pixelWidth == 8_820 && info.pixelHeight == 8_820, "the result has another size")
    }
}
