// The kernel files that state how much memory and processor time this process may use. For UsableMemory,
// UsableProcessors and MemoryGauge.

import Glibc

/// The control groups this process is in, as directories of the kernel's file system, the nearest first.
///
/// Every function reads files, and blocks while it does.
package struct ControlGroup: Sendable {
    /// The directories in the one hierarchy of version 2.
    let unified: [String]
    /// The directories in the hierarchy of version 1 that limits memory.
    let memory: [String]

    /// The groups as they are now.
    ///
    /// A test has a file system of its own, which begins at `root`.
    package init(root: String = "") {
        let lines = (Self.text("\(root)/proc/self/cgroup") ?? "").split(separator: "\n")
        /// The path behind the controllers' names, as in `4:memory:/a/b` and `0::/a/b`.
        func path(where isMeant: (Substring) -> Bool) -> Substring {
            let fields = lines.map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
            return fields.first { $0.count == 3 && isMeant($0[1]) }?[2] ?? ""
        }
        unified = Self.directories(path { $0.isEmpty }, below: "\(root)/sys/fs/cgroup")
        memory = Self.directories(
            path { $0.split(separator: ",").contains("memory") },
            below: "\(root)/sys/fs/cgroup/memory"
        )
    }

    /// The lowest hard or throttling limit of all these groups in bytes; nil if there is none.
    package var memoryLimit: UInt64? {
        let files =
            unified.flatMap { ["\($0)/memory.max", "\($0)/memory.high"] } + memory.map { "\($0)/memory.limit_in_bytes" }
        // Version 1 says so many bytes for "none" that no machine has them.
        return files.compactMap(Self.number).filter { $0 < 1 << 60 }.min()
    }

    /// The lowest limit of processor time of all these groups, as a number of processors; nil if there is none.
    ///
    /// Groups of version 1 are not looked at.
    package var processorLimit: Double? {
        let limits = unified.compactMap { directory -> Double? in
            // `150000 100000`: microseconds of processor time in each period; or `max 100000`.
            let words = (Self.text("\(directory)/cpu.max") ?? "").split(whereSeparator: \.isWhitespace)
            let numbers = words.compactMap { UInt64($0) }
            guard words.count == 2, numbers.count == 2, numbers[1] > 0 else { return nil }
            return Double(numbers[0]) / Double(numbers[1])
        }
        return limits.min()
    }

    /// `/a/b` stands for itself, `/a` and `/`.
    ///
    /// In a container, the path may be one that only the host can see; then the directories do not exist, but the last
    /// one does.
    private static func directories(_ path: Substring, below mount: String) -> [String] {
        var parts = path.split(separator: "/")
        if parts.contains("..") { parts = [] }
        return (0...parts.count).reversed().map { ([mount] + parts.prefix($0).map(String.init)).joined(separator: "/") }
    }

    // MARK: Reading the kernel's files

    /// The text of a file, its first sixteen kibibytes; nil if it cannot be read.
    ///
    /// Every new cache reads its limits, and Foundation takes a good part of a millisecond for that.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            // The kernel hands such files out in pieces.
            while let base = buffer.baseAddress {
                let read = read(file, base + count, buffer.count - count)
                guard read > 0 else { return }
                count += read
            }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The one number in a file; nil if it says something else, such as `max`.
    static func number(_ path: String) -> UInt64? {
        let words = (text(path) ?? "").split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? UInt64(words[0]) : nil
    }

    /// The numbers in a file of lines like `high 12` or `MemTotal:  12 kB`, by name.
    static func table(_ path: String) -> [String: UInt64] {
        let lines = (text(path) ?? "").split(separator: "\n").map { $0.split { $0 == " " || $0 == ":" } }
        let pairs = lines.compactMap { words -> (String, UInt64)? in
            guard words.count >= 2, let number = UInt64(words[1]) else { return nil }
            return (String(words[0]), number)
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
