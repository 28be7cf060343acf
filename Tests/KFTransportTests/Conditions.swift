// Helpers that the transport's tests against servers share: files in a folder of their own, the
// resources that the process holds.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

/// Runs `body` with a folder that is removed afterwards.
func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    // A short name: the path of a Unix socket has little room.
    let name = "kf-\(UInt32.random(in: 0 ... .max))"
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// Runs `body` with a transport that trusts the authority of ``TestCertificate`` and nothing else.
func withTrustingTransport(
    _ change: (inout CurlTransport.Configuration) -> Void = { _ in },
    _ body: (CurlTransport) async throws -> Void
) async throws {
    try await withFolder { folder in
        let file = folder.appendingPathComponent("authority.pem")
        try Data(TestCertificate.authorityPEM.utf8).write(to: file)
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = file.path
        change(&configuration)
        try await body(CurlTransport(configuration: configuration))
    }
}

/// The memory, descriptors and threads of this process, as the kernel reports them.
enum ThisProcess {
    /// The most memory the process has taken so far, in bytes.
    static var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first).flatMap { Int($0) }.map {
            $0 << 10
        } ?? .max
    }

    /// The number of open descriptors, without the timers of Swift's tasks, which are opened when first needed.
    static var descriptorCount: Int {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target != nil && target != "anon_inode:[timerfd]"
        }
    }

    /// The names of the threads.
    static var threadNames: [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
            .map { $0.trimmingCharacters(in: .newlines) }
    }
}
