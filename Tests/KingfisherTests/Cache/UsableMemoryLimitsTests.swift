// Usable memory: the limits of a process besides the machine's memory.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct UsableMemoryLimitsTests {
    @Test("The lowest of the machine's memory, the control group's limit and the resource limit counts")
    func lowestLimit() async throws {
        try await withTemporaryDirectory { directory in
            let group = directory.appendingPathComponent("sys/fs/cgroup")
            try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
            try Data("3000\n".utf8).write(to: group.appendingPathComponent("memory.max"))
            func usable(_ physical: UInt64, _ limits: [UInt64]) -> UInt64 {
                UsableMemory.bytes(of: physical, root: directory.path, resourceLimits: limits)
            }
            #expect(usable(5000, []) == 3000)
            #expect(usable(2000, []) == 2000)
            #expect(usable(5000, [4000, 1000]) == 1000)
            try Data("2500\n".utf8).write(to: group.appendingPathComponent("memory.high"))
            #expect(usable(5000, [4000]) == 2500)
        }
    }
}
