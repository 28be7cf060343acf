// Runs the built tool in a process of its own, and returns its output and its exit status.

import Foundation
import KFSupport
import Testing

/// The result of a run of the tool.
struct KFResult: Sendable {
    let status: Int32
    let data: Data
    let errors: String

    /// Standard output as text.
    var output: String { String(decoding: data, as: UTF8.self) }

    /// The lines of standard output as JSON objects.
    var objects: [[String: Any]] {
        get throws {
            try output.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
        }
    }

    var errorLines: [Substring] { errors.split(separator: "\n") }
}

/// A directory of a test's own, with the tool's cache in it; removed with the last reference.
final class TestDirectory: Sendable {
    let directory: URL
    /// The threads that wait for runs, so that these do not block the threads of code tested in this process.
    private static let executor = WorkExecutor("kf.runs", threads: 4)

    /// Without an error, so that it can be the value of a property: whatever needs the directory fails where there is
    /// none.
    init() {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// The path of a name in the directory.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// The bytes of a file in the directory.
    func data(_ name: String) throws -> Data { try Data(contentsOf: directory.appendingPathComponent(name)) }

    /// Writes a file into the directory and returns its path.
    @discardableResult
    func write(_ data: Data, _ name: String) throws -> String {
        try data.write(to: directory.appendingPathComponent(name))
        return path(name)
    }

    /// The regular files below a directory, by their paths in it; without the temporary files of caches.
    func files(_ name: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: path(name))?.compactMap { $0 as? String } ?? []
        return all.filter { entry in
            var isDirectory: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: path("\(name)/\(entry)"), isDirectory: &isDirectory)
            return isThere && !isDirectory.boolValue && !entry.contains(".tmp/")
        }
    }

    /// Runs the tool in the directory and waits for its end.
    func kf(_ arguments: String...) async throws -> KFResult { try await kf(arguments) }

    /// Runs the tool in the directory and waits for its end.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - input: The bytes on standard input, fewer than a pipe holds; nil for an empty input.
    ///   - target: The file for standard output, in place of the result.
    ///   - launcher: A program and its first arguments, which gets the tool's path and its arguments as further ones.
    ///   - variables: Additional variables of its environment.
    ///   - started: Called with the number of its process.
    /// - Returns: Its output and its exit status.
    /// - Throws: An error if it could not be run.
    func kf(
        _ arguments: [String],
        input: Data? = nil,
        target: FileHandle? = nil,
        launcher: [String] = [],
        variables: [String: String] = [:],
        started: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> KFResult {
        let run = UUID().uuidString
        let output = directory.appendingPathComponent("\(run).out")
        let errors = directory.appendingPathComponent("\(run).err")
        for url in [output, errors] { try Data().write(to: url) }
        let directory = directory
        let executable = try Self.executable()
        let status = try await Self.executor.run { () async throws -> Int32 in
            let process = Process()
            let line = launcher + [executable.path] + arguments
            process.executableURL = URL(fileURLWithPath: line[0])
            process.arguments = Array(line.dropFirst())
            process.currentDirectoryURL = directory
            process.environment = Self.environment.merging(variables) { $1 }.merging(
                ["XDG_CACHE_HOME": directory.appendingPathComponent("home-cache").path]
            ) { $1 }
            process.standardInput = FileHandle.nullDevice
            if let input {
                let pipe = Pipe()
                try pipe.fileHandleForWriting.write(contentsOf: input)
                try pipe.fileHandleForWriting.close()
                process.standardInput = pipe.fileHandleForReading
            }
            // Files, not pipes: they need not be emptied while the tool runs.
            process.standardOutput = try target ?? FileHandle(forWritingTo: output)
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
            started(process.processIdentifier)
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
        let result = KFResult(
            status: status,
            data: try Data(contentsOf: output),
            errors: try String(contentsOf: errors, encoding: .utf8)
        )
        for url in [output, errors] { try FileManager.default.removeItem(at: url) }
        return result
    }

    /// The environment without its variables for proxies and certificates, which do not suit servers on loopback.
    static let environment = ProcessInfo.processInfo.environment.filter { name, _ in
        !name.lowercased().hasSuffix("_proxy") && !name.hasPrefix("SSL_CERT_")
    }

    /// The URL of the tool, which is beside the bundle of tests.
    static func executable() throws -> URL {
        let me = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let candidates = [me, Bundle.main.bundleURL].map { $0.deletingLastPathComponent().appendingPathComponent("kf") }
        return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
    }
}
