// Resizing, blurring and colours of two megapixels in memory, against libvips, Pillow and plain copying. Uses
// public API only.

import CBaseline
import Foundation
import Kingfisher

// The photograph is opaque: the other libraries get it in their fastest form, three bytes per pixel. Against Pillow the
// processor time of one thread is measured, against libvips, which uses many threads, elapsed time.
let operationBenchmarks = [
    // Lanczos, which is the default of all three.
    Benchmark(name: "resize 2 megapixels → 400 px, against Pillow", measure: resizingAgainstPillow),
    Benchmark(name: "resize 2 megapixels → 400 px, against libvips", measure: resizingAgainstVips),
    Benchmark(name: "blur σ=5 on 2 megapixels, against libvips") {
        let photo = PhotoInMemory()
        try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
        let comparison = try await compare(rounds: 41, by: .wall, ours: photo.blur, baseline: photo.blurByVips)
        return Figure(comparison, .faster(2.5))
    },
    Benchmark(name: "colour controls on 2 megapixels, saturation 1, against memcpy") {
        try await colorControls(saturation: 1, atMost: 3)
    },
    Benchmark(name: "colour controls on 2 megapixels, all of them, against memcpy") {
        try await colorControls(saturation: 1.3, atMost: 6)
    },
    Benchmark(name: "colour controls on 2 megapixels, black and white, against memcpy") {
        try await colorControls(saturation: 0, atMost: 3)
    },
]

/// Two megapixels, for us and for others.
private struct PhotoInMemory: Sendable {
    let image = Image(cgImage: SampleImages.photo(width: 1920, height: 1080))
    let rgb: Data

    init() {
        var rgb = Data(capacity: 1920 * 1080 * 3)
        image.cgImage?.withUnsafeBytes { bytes in
            for place in stride(from: 0, to: bytes.count, by: 4) {
                rgb.append(contentsOf: [bytes[place + 2], bytes[place + 1], bytes[place]])
            }
        }
        self.rgb = rgb
    }

    func resize() throws { _ = try small() }

    private func small() throws -> Image {
        let result = image.kf.resize(to: CGSize(width: 400, height: 225), for: .none)
        try BenchmarkError.unless(result.pixelWidth == 400, "the image was not resized")
        return result
    }

    /// The similarity of our small image and of another one.
    func similarity(with other: ExactImage) throws -> Similarity {
        let exact = try ExactImage(image).reduced(to: 400, 225)
        return Similarity(
            ours: try exact.similarity(of: ExactImage(small())),
            baseline: try exact.similarity(of: other)
        )
    }

    func blur() throws {
        let result = image.kf.blurred(withRadius: 5)
        try BenchmarkError.unless(result !== image, "the image was not blurred")
    }

    func blurByVips() throws {
        let count = rgb.withUnsafeBytes { bytes in
            baseline_vips_blur(bytes.bindMemory(to: UInt8.self).baseAddress, 1920, 1080, 5)
        }
        try BenchmarkError.unless(count == rgb.count, "libvips cannot blur")
    }

    func withImageByVips<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) throws -> Result {
        var count = 0
        let pixels = rgb.withUnsafeBytes { bytes in
            baseline_vips_resize(bytes.bindMemory(to: UInt8.self).baseAddress, 1920, 1080, 400.0 / 1920, &count)
        }
        defer { free(pixels) }
        try BenchmarkError.unless(count == 400 * 225 * 3, "libvips cannot resize")
        return try body(UnsafeBufferPointer(start: pixels, count: count))
    }
}

@Sendable private func resizingAgainstVips() async throws -> Figure {
    let photo = PhotoInMemory()
    try BenchmarkError.unless(baseline_vips_start(), "libvips does not start")
    let comparison = try await compare(
        rounds: 41,
        by: .wall,
        ours: photo.resize,
        baseline: { try photo.withImageByVips { _ in } }
    )
    let theirs = try photo.withImageByVips { try ExactImage(rgb: $0, width: 400) }
    return Figure(comparison, .faster(3), try photo.similarity(with: theirs))
}

/// Python cannot be called from here: it works in a process of its own, one round after each of ours.
///
/// A round is four times the work, so that neither suffers from the caches the other has filled.
@Sendable private func resizingAgainstPillow() async throws -> Figure {
    let photo = PhotoInMemory()
    let path = NSTemporaryDirectory() + "kf-bench-\(getpid()).rgb"
    defer { unlink(path) }
    try photo.rgb.write(to: URL(fileURLWithPath: path))
    let pillow = try Pillow(path, "small = image.resize((400, 225), Image.LANCZOS)")
    var pairs: [(ours: Double, pillow: Double)] = []
    // Other load of the machine affects both: each round is compared with its neighbour.
    for _ in 0..<41 {
        let ours = try await seconds(.thread) { for _ in 0..<4 { try photo.resize() } }
        pairs.append((ours / 4, try pillow.secondsOfOneRound() / 4))
    }
    pairs.removeFirst()
    let theirs = try Data(contentsOf: URL(fileURLWithPath: path))
    let similarity = try theirs.withUnsafeBytes { bytes in
        try photo.similarity(with: ExactImage(rgb: bytes.bindMemory(to: UInt8.self), width: 400))
    }
    return Figure(
        Comparison(
            ours: median(pairs.map(\.ours)),
            baseline: median(pairs.map(\.pillow)),
            ratio: median(pairs.map { $0.ours / $0.pillow })
        ),
        .faster(8),
        similarity
    )
}

/// Pillow, in a process of its own that does its work once for every line it is sent.
private final class Pillow {
    private let process = Process()
    private let requests = Pipe()
    private let output = Pipe()

    /// Starts with a file of 1920 × 1080 pixels, three bytes each; the result is written to that file.
    init(_ path: String, _ work: String) throws {
        let script = """
            import sys, time
            from PIL import Image
            image = Image.frombytes('RGB', (1920, 1080), open(sys.argv[1], 'rb').read())
            for _ in sys.stdin:
                start = time.thread_time()
                for _ in range(4): \(work)
                passed = time.thread_time() - start
                open(sys.argv[1], 'wb').write(small.tobytes())
                print('%12.9f' % passed, flush=True)
            """
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = Python.command + ["-c", script, path]
        process.standardInput = requests
        process.standardOutput = output
        try process.run()
    }

    deinit {
        try? requests.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The processor time of the thread that did the work.
    func secondsOfOneRound() throws -> Double {
        try requests.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        // Twelve figures and the end of the line.
        let line = try output.fileHandleForReading.read(upToCount: 13) ?? Data()
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let seconds = Double(text) else { throw BenchmarkError("Python or Pillow is missing") }
        return seconds
    }
}

/// The fixed cost of an image apart from its pixels: tables, memory, objects.
private func fixedCost(saturation: CGFloat) async throws -> Double {
    let image = Image(cgImage: SampleImages.photo(width: 1, height: 1))
    let work = {
        for _ in 0..<100 {
            _ = image.kf.adjusted(brightness: 0.05, contrast: 1.1, saturation: saturation, inputEV: 0.2)
        }
    }
    return try await compare(rounds: 21, operations: 100, ours: work, baseline: {}).ours
}

/// Colour controls against copying the same pixels to allocated memory; the fixed cost is subtracted.
private func colorControls(saturation: CGFloat, atMost times: Double) async throws -> Figure {
    let image = Image(cgImage: SampleImages.photo(width: 1920, height: 1080))
    guard let bitmap = image.cgImage else { throw BenchmarkError("there is no image") }
    let count = bitmap.height * bitmap.bytesPerRow
    let copy = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    defer { copy.deallocate() }
    let fixed = try await fixedCost(saturation: saturation)
    let comparison = try await compare(
        rounds: 61,
        // All cores are used.
        by: .wall,
        ours: {
            let result = image.kf.adjusted(brightness: 0.05, contrast: 1.1, saturation: saturation, inputEV: 0.2)
            try BenchmarkError.unless(result !== image, "the colours were not changed")
        },
        baseline: {
            bitmap.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress { copy.copyMemory(from: base, byteCount: count) }
            }
        }
    )
    return Figure(.seconds(comparison.ours - fixed), baseline: .seconds(comparison.baseline), .atMostTimes(times))
}
