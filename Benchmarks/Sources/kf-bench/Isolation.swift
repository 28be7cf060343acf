// Decoding in locked processes against decoding in this one. `make bench` builds kf-decoder and names it.

import Foundation
import Kingfisher

let isolationBenchmarks = [
    Benchmark(name: "isolated decode: JPEG 2.5 megapixels → 720×480, processor time, against in process") {
        let photo = try IsolatedPhoto(width: 1920, height: 1280, side: 720)
        return Figure(try await photo.compared(rounds: 61), .atMostMore(seconds: 0.3e-3))
    },
    Benchmark(name: "isolated decode: JPEG 12 megapixels in full, against in process") {
        let photo = try IsolatedPhoto(width: 4000, height: 3000, side: nil)
        return Figure(try await photo.compared(rounds: 31, by: .wall), .atMostTimes(1.25))
    },
    Benchmark(name: "isolated decode: first image after start, against in process") {
        var pairs: [(ours: Double, theirs: Double)] = []
        for _ in 0..<11 { pairs.append((try firstImage("isolated"), try firstImage("in-process"))) }
        return Figure(Comparison(pairs), .atMostMore(seconds: 15e-3))
    },
    Benchmark(name: "isolated decode: memory of a decoder beyond its pixels") {
        let photo = try IsolatedPhoto(width: 300, height: 200, side: nil)
        for _ in 0..<20 { try photo.decode(isolated: true) }
        let all = try decoders().map { try residentBytes(of: $0) }
        return Figure(.bytes(all.max() ?? .infinity), .atMost(.bytes(12e6)))
    },
]

/// A JPEG that is decoded here and there.
private struct IsolatedPhoto: Sendable {
    private let data: Data
    private let side: Int?

    init(width: Int, height: Int, side: Int?) throws {
        data = try SampleImages.jpeg(width: width, height: height)
        self.side = side
        let status = DecodingIsolation.status
        try BenchmarkError.unless(status.obstacle == nil, status.obstacle ?? "")
    }

    func decode(isolated: Bool) throws {
        var limits = ImageDecodingLimits.default
        limits.isolation = isolated ? .required : .inProcess
        let options = ImageDecodingOptions(maxPixelSize: side, limits: limits)
        let image = try BuiltInImageCoder().decode(data, options: options)
        try BenchmarkError.unless(image.pixelWidth == side ?? image.pixelWidth, "the image has another size")
    }

    /// The time, of all processes or on the clock.
    func compared(rounds: Int, by stopwatch: Stopwatch = .process) async throws -> Comparison {
        if stopwatch == .wall {
            return try await compare(
                rounds: rounds,
                by: .wall,
                ours: { try decode(isolated: true) },
                baseline: { try decode(isolated: false) }
            )
        }
        // Fewer than a thousand in all, after which a decoder is replaced.
        for _ in 0..<10 { try decode(isolated: true) }
        let decoders = try decoders()
        var pairs: [(ours: Double, theirs: Double)] = []
        for _ in 0..<rounds {
            let before = try processorTime(decoders)
            let own = try await seconds(.process) { for _ in 0..<10 { try decode(isolated: true) } }
            let theirs = try processorTime(decoders) - before
            let baseline = try await seconds(.process) { for _ in 0..<10 { try decode(isolated: false) } }
            pairs.append(((own + theirs) / 10, baseline / 10))
        }
        return Comparison(pairs)
    }
}

/// The numbers of this program's decoders.
private func decoders() throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { number in
        guard let status = try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8) else { return false }
        return status.contains("Name:\tkf-decoder\n") && status.contains("PPid:\t\(getpid())\n")
    }
}

/// The processor time of some processes so far, in seconds.
private func processorTime(_ processes: [pid_t]) throws -> Double {
    try processes.reduce(0) { sum, process in
        var (clock, time) = (clockid_t(), timespec())
        try BenchmarkError.unless(
            clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &time) == 0,
            "a decoder has ended"
        )
        return sum + Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// The memory of a process that is its own: what is not shared with other processes through files.
private func residentBytes(of process: pid_t) throws -> Double {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    guard let kilobytes = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Double($0) })
    else { throw BenchmarkError("the system does not report the memory of a process") }
    return kilobytes * 1024
}

/// How long the first image takes in a process that has just started, in seconds.
private func firstImage(_ way: String) throws -> Double {
    let output = try Child.output(of: [Child.firstImage, way])
    guard let seconds = Double(output) else { throw BenchmarkError("the child says: \(output)") }
    return seconds
}

extension Child {
    /// Decodes an image, from the moment at which the isolation is set; returns the time in seconds.
    static func firstImage(isolated: Bool) throws -> Double {
        let data = try SampleImages.jpeg(width: 300, height: 200)
        let start = ContinuousClock.now
        if isolated { ImageDecodingLimits.default.isolation = .required }
        try BenchmarkError.unless(Image(data: data) != nil, "the image cannot be decoded")
        return (ContinuousClock.now - start) / .seconds(1)
    }
}
