// How much memory this process may use. Knows nothing of what for.

import Foundation

/// The machine's memory, or less if a control group says so.
enum UsableMemory {
    /// In bytes.
    static var bytes: UInt64 { bytes(of: ProcessInfo.processInfo.physicalMemory, root: "") }

    /// What may be used of a machine's memory, given the file system at `root`.
    static func bytes(of physical: UInt64, root: String) -> UInt64 {
        min(physical, controlGroupLimit(root: root) ?? .max)
    }

    /// The lowest limit of the control groups this process is in; nil if there is none.
    ///
    /// A test has a file system of its own, which begins at `root`.
    static func controlGroupLimit(root: String) -> UInt64? {
        var files = ["\(root)/sys/fs/cgroup/memory/memory.limit_in_bytes"]  // version 1
        var group = membership(root: root) ?? "/"
        while true {
            files.append("\(root)/sys/fs/cgroup\(group)/memory.max")
            guard group.count > 1 else { break }
            group = (group as NSString).deletingLastPathComponent
        }
        return files.compactMap(limit).min()
    }

    /// The process's group in the one hierarchy of version 2.
    private static func membership(root: String) -> String? {
        let lines = (try? String(contentsOfFile: "\(root)/proc/self/cgroup", encoding: .utf8)) ?? ""
        return lines.split(separator: "\n").first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) }
    }

    /// A group without a limit says `max`, which is no number.
    private static func limit(_ path: String) -> UInt64? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
