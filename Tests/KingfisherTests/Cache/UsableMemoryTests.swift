// Usable memory: the limits of control groups, and the response limit derived from them.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct UsableMemoryTests {
    private func limit(_ files: [String: String]) async throws -> UInt64? {
        try await withFiles(files) { UsableMemory.controlGroupLimit(root: $0) }
    }

    private func withFiles<Value>(_ files: [String: String], _ body: (String) throws -> Value) async throws -> Value {
        try await withTemporaryDirectory { root in
            for (path, text) in files {
                let url = root.appendingPathComponent(path)
                let folder = url.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
            return try body(root.path)
        }
    }

    @Test("The lowest limit of the control group and its parents counts") func nestedControlGroups() async throws {
        let files = [
            "proc/self/cgroup": "1:name=x:/other\n0::/a/b\n",
            "sys/fs/cgroup/a/b/memory.max": "max\n",
            "sys/fs/cgroup/a/memory.max": "1000\n",
            "sys/fs/cgroup/memory.max": "2000\n",
        ]
        #expect(try await limit(files) == 1000)
    }

    @Test("Limits of control groups version 1 count as well") func controlGroupVersion1() async throws {
        #expect(try await limit(["sys/fs/cgroup/memory/memory.limit_in_bytes": "3000\n"]) == 3000)
    }

    /// The response size that a downloader accepts on a machine with four gibibytes.
    private func responseLimit(_ files: [String: String]) async throws -> Int {
        try await withFiles(files) { ByteLoader.responseLimit(memory: UsableMemory.bytes(of: 4 << 30, root: $0)) }
    }

    @Test("A downloader accepts a tenth of its control group's limit, and 200 MiB at most")
    func responseLimits() async throws {
        let group = ["proc/self/cgroup": "0::/pod\n"]
        func two(_ limit: String) -> [String: String] { group.merging(["sys/fs/cgroup/pod/memory.max": limit]) { $1 } }
        func one(_ limit: String) -> [String: String] { ["sys/fs/cgroup/memory/memory.limit_in_bytes": limit] }
        for files in [two("536870912\n"), one("536870912\n")] { #expect(try await responseLimit(files) == 53_687_091) }
        // No limit, as either version of control groups writes it, and files without a value.
        for files in [two("max\n"), one("9223372036854771712\n"), one("-1"), two("12 apples"), two(""), group, [:]] {
            #expect(try await responseLimit(files) == 200 << 20)
        }
        #expect(ByteLoader.responseLimit(memory: .max) == 200 << 20)
        let expected = ByteLoader.responseLimit(memory: UsableMemory.bytes)
        #expect(ImageDownloader(name: "limit").maxResponseBytes == expected)
    }

    @Test("Without a control group there is no limit") func noControlGroup() async throws {
        #expect(try await limit(["proc/self/cgroup": "nonsense"]) == nil)
        #expect(UsableMemory.bytes > 0)
        #expect(UsableMemory.bytes <= ProcessInfo.processInfo.physicalMemory)
    }
}
