// The number of instructions that the hot paths take, counted by valgrind: the same whatever else the machine does.

import Foundation
import Kingfisher

// The limits leave room for other compilers and libraries, not for one more step: some 10 % above what was counted.
let instructionBenchmarks = [
    Benchmark(name: "retrieveImage with a handler on a memory hit: instructions", isCounted: true) {
        try instructions(of: .memoryHit, count: 1_000, atMost: 7_600)
    },
    Benchmark(name: "retrieveImage, async, on a memory hit: instructions", isCounted: true) {
        try instructions(of: .awaitedMemoryHit, count: 1_000, atMost: 5_800)
    },
    Benchmark(name: "decode: JPEG 480×320 in full: instructions", isCounted: true) {
        try instructions(of: .decoding, count: 4, atMost: 4_300_000)
    },
    Benchmark(name: "downsample: JPEG 1920×1280 → 300 pixels: instructions", isCounted: true) {
        try instructions(of: .thumbnail, count: 2, atMost: 54_000_000)
    },
]

/// Work whose instructions are counted.
enum CountedWork: String {
    case memoryHit, awaitedMemoryHit, decoding, thumbnail

    /// Does it some times.
    func run(_ count: Int) async throws {
        switch self {
        case .memoryHit:
            let hits = try MemoryHits()
            for _ in 0..<count / MemoryHits.count { try hits.withHandler() }
        case .awaitedMemoryHit:
            let hits = try MemoryHits()
            for _ in 0..<count / MemoryHits.count { try await hits.awaited() }
        case .decoding: try Self.decode(SampleImages.jpeg(width: 480, height: 320), side: nil, count)
        case .thumbnail: try Self.decode(SampleImages.jpeg(width: 1920, height: 1280), side: 300, count)
        }
    }

    private static func decode(_ data: Data, side: Int?, _ count: Int) throws {
        for _ in 0..<count {
            let image = try BuiltInImageCoder().decode(data, options: ImageDecodingOptions(maxPixelSize: side))
            try BenchmarkError.unless(image.pixelWidth == side ?? 480, "the image has another size")
        }
    }
}

/// The instructions of one operation: those of a run with twice as many, less those of a run.
private func instructions(of work: CountedWork, count: Int, atMost limit: Int) throws -> Figure {
    let (once, twice) = (try instructions(of: work, count), try instructions(of: work, 2 * count))
    return Figure(.count((twice - once) / count), .atMost(.count(limit)))
}

/// The instructions of all threads of a process that does some work.
private func instructions(of work: CountedWork, _ count: Int) throws -> Int {
    // valgrind gives up on the symbols of a program as large as this.
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let copy = folder.url.appendingPathComponent("kf-bench").path
    let strip = try Process.run(URL(fileURLWithPath: "/usr/bin/strip"), arguments: ["-o", copy, try Child.path()])
    strip.waitUntilExit()
    let valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = valgrind + [copy, Child.countedWork, work.rawValue, "\(count)"]
    process.standardError = pipe
    try process.run()
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let line = output.split(separator: "\n").last { $0.contains("Collected : ") }
    guard let number = line?.split(separator: " ").last.flatMap({ Int($0) }), process.terminationStatus == 0 else {
        throw BenchmarkError("valgrind counted nothing: \(output.suffix(300))")
    }
    return number
}
