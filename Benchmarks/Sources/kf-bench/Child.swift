// This program run again in another process, for measurements and servers that need a process of their own.

import CBaseline
import Foundation
import Kingfisher

/// The roles of a child process; each is an argument.
enum Child {
    /// `--peak-memory ours|baseline|vips FILE`: makes a JPEG 400 pixels wide, prints the growth of the peak in bytes.
    static let peakMemory = "--peak-memory"
    /// `--large-image ours|vips FILE`: cuts, reduces and sharpens a JPEG, prints the growth of the peak in bytes.
    static let largeImage = "--large-image"
    /// `--slow-server SECONDS FILE`: serves a file after a delay; prints its port, and when its input ends the number
    /// of requests.
    static let slowServer = "--slow-server"
    /// `--first-image isolated|in-process`: decodes one image, and prints the seconds it took.
    static let firstImage = "--first-image"
    /// `--counted-work WORK COUNT`: does some work, for valgrind.
    static let countedWork = "--counted-work"

    static func play(_ role: String, _ arguments: [String]) async throws {
        switch role {
        case peakMemory where arguments.count == 2: print(try peakGrowth(way: arguments[0], path: arguments[1]))
        case largeImage where arguments.count == 2:
            let work = try LargeImage(path: arguments[1])
            forgetPeak()
            let start = try peak()
            if arguments[0] == "ours" { try await work.ours() } else { try work.vips() }
            print(try peak() - start)
        case slowServer where arguments.count == 2:
            try SlowServer.run(delay: Double(arguments[0]) ?? 0, path: arguments[1])
        case firstImage where arguments.count == 1: print(try firstImage(isolated: arguments[0] == "isolated"))
        case countedWork where arguments.count == 2:
            try await CountedWork(rawValue: arguments[0])?.run(Int(arguments[1]) ?? 0)
        default: throw BenchmarkError("usage: kf-bench [WORD], kf-bench --check")
        }
    }

    /// Runs a child to its end and returns what it printed, without the line end.
    static func output(of arguments: [String]) throws -> String {
        let child = try start(arguments)
        let output = try child.output.fileHandleForReading.readToEnd() ?? Data()
        child.process.waitUntilExit()
        try BenchmarkError.unless(child.process.terminationStatus == 0, "the child process failed")
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The path of this program.
    static func path() throws -> String { try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }

    /// Starts a child and returns it with its input and output.
    static func start(_ arguments: [String]) throws -> (process: Process, input: Pipe, output: Pipe) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try path())
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (process, input, output)
    }

    /// Reading the file counts, the start of the process does not.
    private static func peakGrowth(way: String, path: String) throws -> Int {
        if way == "vips" { try BenchmarkError.unless(baseline_vips_start(), "libvips does not start") }
        forgetPeak()
        let start = try peak()
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        if way == "ours" {
            let processor = DownsamplingImageProcessor(size: CGSize(width: 400, height: 400))
            let image = processor.process(item: .data(data), options: KingfisherParsedOptionsInfo(nil))
            try BenchmarkError.unless(image?.pixelWidth == 400, "the image was not made 400 pixels wide")
        } else if way == "vips" {
            var count = 0
            let pixels = data.withUnsafeBytes { bytes in
                baseline_vips_thumbnail(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, 400, false, &count)
            }
            free(pixels)
            try BenchmarkError.unless(count == 400 * 300 * 3, "libvips cannot make the thumbnail")
        } else {
            var (width, height) = (0, 0)
            let pixels = data.withUnsafeBytes { bytes in
                baseline_jpeg(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, 1, &width, &height)
            }
            try BenchmarkError.unless(pixels != nil, "libjpeg-turbo cannot decode the image")
            free(pixels)
        }
        return try peak() - start
    }

    /// The peak of loading the program must not hide what follows.
    static func forgetPeak() {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    /// The peak of the process's memory, in bytes.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let kilobytes = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Int($0) })
        else { throw BenchmarkError("the system does not report the peak of memory") }
        return kilobytes * 1024
    }
}
