// Python programs. For the rows of animations.

import Foundation

/// Python programs, run with Pillow.
enum Python {
    /// The arguments of `env`: the distribution's Python before any other, since its packages are installed.
    static let command = ["PATH=/usr/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? ""), "python3"]

    /// Runs a program to its end and returns what it printed, without the line end.
    static func output(of program: String, _ argument: String) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = Python.command + ["-c", program, argument]
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try BenchmarkError.unless(process.terminationStatus == 0, "python3 with Pillow (apt: python3-pil) is missing")
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
