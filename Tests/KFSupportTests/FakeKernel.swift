// A folder that looks like the kernel's file systems, for the tests of memory pressure.

import Foundation

@testable import KFSupport

/// A folder that looks like the kernel's file systems; it is removed with the last reference.
final class FakeKernel: Sendable {
    let root: String

    init(_ files: [String: String] = [:]) throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (path, text) in files { try write(text, at: path) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func write(_ text: String, at path: String) throws {
        let url = URL(fileURLWithPath: root).appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// The files of a cgroup of version 2 that needs `needed` bytes, and has 100,000 bytes of file pages besides.
    static func group(needed: Int, max: String = "max", high: String = "max", events: String = "") -> [String: String] {
        [
            "proc/self/cgroup": "0::/app\n",
            "sys/fs/cgroup/app/memory.current": "\(needed + 100_000)\n",
            "sys/fs/cgroup/app/memory.stat": "anon \(needed)\ninactive_file 100000\nactive_file 0\n",
            "sys/fs/cgroup/app/memory.max": "\(max)\n",
            "sys/fs/cgroup/app/memory.high": "\(high)\n",
            "sys/fs/cgroup/app/memory.events": events,
        ]
    }

    /// The text of the kernel about a machine with 1,000 kB of memory, of which so many are available.
    static func memory(available: Int) -> String {
        "MemTotal:  1000 kB\nMemFree:  1 kB\nMemAvailable:  \(available) kB\n"
    }

    /// The text of the kernel about stalls.
    static func stalls(some: Double, full: Double) -> String {
        "some avg10=\(some) avg60=0.00 avg300=0.00 total=1\nfull avg10=\(full) avg60=0.00 avg300=0.00 total=1\n"
    }
}
