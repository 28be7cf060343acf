// Python programs, as baselines and as servers. For the rows of animations and of downloads.

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

/// A Python program that serves HTTP, in a process of its own: it prints its port, serves until its input ends, and
/// prints what it has to say.
struct PythonServer: Sendable {
    private let port: Int
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Throws: ``BenchmarkError`` when it does not report its port, or an error of starting a process.
    init(program: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = Python.command + ["-c", program] + arguments
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("python3 with aiohttp (apt: python3-aiohttp) is missing")
        }
        self.port = port
    }

    /// The address of a path, which is given without the slash at its beginning.
    func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)/\(path)") ?? URL(fileURLWithPath: "/" + path)
    }

    /// Ends the server by closing its input, and returns what it printed at last.
    func stop() throws -> String {
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }
}
