// How many processors the kernel's files allow.

import Foundation
import Testing

@testable import KFSupport

@Suite struct UsableProcessorsTests {
    private func count(of processors: Int, _ files: [String: String]) throws -> Int {
        let kernel = try FakeKernel(files)
        return withExtendedLifetime(kernel) { UsableProcessors.count(of: processors, root: kernel.root) }
    }

    @Test(
        "A control group's limit counts in whole processors, of which the machine has enough",
        arguments: [
            ("max 100000", 8), ("100000 100000", 1), ("150000 100000", 2), ("50000 100000", 1), ("1000 100000", 1),
            ("20000 10000", 2), ("1600000 100000", 8), ("18446744073709551615 1", 8),
        ]
    )
    func limits(text: String, expected: Int) throws {
        let files = ["proc/self/cgroup": "0::/app\n", "sys/fs/cgroup/app/cpu.max": "\(text)\n"]
        #expect(try count(of: 8, files) == expected)
    }

    @Test("The lowest limit of the group and of those it is in is the limit") func ancestors() throws {
        var files = [
            "proc/self/cgroup": "0::/pod/app\n",
            "sys/fs/cgroup/pod/app/cpu.max": "400000 100000\n",
            "sys/fs/cgroup/pod/cpu.max": "300000 100000\n",
            "sys/fs/cgroup/cpu.max": "500000 100000\n",
            "sys/fs/cgroup/other/cpu.max": "100000 100000\n",
        ]
        #expect(try count(of: 8, files) == 3)
        files["sys/fs/cgroup/pod/app/cpu.max"] = "200000 100000\n"
        #expect(try count(of: 8, files) == 2)
        // In a container whose group only the host can see.
        files["proc/self/cgroup"] = "0::/../../elsewhere\n"
        #expect(try count(of: 8, files) == 5)
    }

    @Test(
        "Without a limit that can be read, the machine's processors count",
        arguments: [nil, "", "max", "1 0", "a b"]
    )
    func noLimit(text: String?) throws {
        var files = ["proc/self/cgroup": "0::/app\n"]
        files["sys/fs/cgroup/app/cpu.max"] = text
        #expect(try count(of: 8, files) == 8)
        #expect(try count(of: 8, [:]) == 8)
    }
}
