// The memory pressure that is computed from the kernel's files.

import Foundation
import Testing

@testable import KFSupport

@Suite struct MemoryGaugeTests {
    private func level(_ files: [String: String]) throws -> MemoryPressureLevel {
        let kernel = try FakeKernel(files)
        var gauge = MemoryGauge(root: kernel.root)
        return withExtendedLifetime(kernel) { gauge.reading() }
    }

    @Test(
        "Stalls are judged by the last ten seconds",
        arguments: [
            (0.0, 0.0, MemoryPressureLevel.none), (9.99, 9.0, .none), (10.0, 0.0, .warning), (50.0, 19.9, .warning),
            (50.0, 20.0, .critical),
        ]
    )
    func stalls(some: Double, full: Double, expected: MemoryPressureLevel) throws {
        let stalls = FakeKernel.stalls(some: some, full: full)
        #expect(try level(["proc/pressure/memory": stalls]) == expected)
        #expect(try level(["proc/self/cgroup": "0::/app\n", "sys/fs/cgroup/app/memory.pressure": stalls]) == expected)
    }

    @Test(
        "Stalls count where the machine or a control group has less than a quarter left",
        arguments: [(251, 0, MemoryPressureLevel.none), (250, 0, .critical), (900, 749_999, .none)]
            + [(900, 750_000, .critical)]
    )
    func stallsWithEnoughMemory(available: Int, needed: Int, expected: MemoryPressureLevel) throws {
        var files = needed > 0 ? FakeKernel.group(needed: needed, max: "1000000") : [:]
        files["proc/pressure/memory"] = FakeKernel.stalls(some: 90, full: 90)
        files["proc/meminfo"] = FakeKernel.memory(available: available)
        let kernel = try FakeKernel(files)
        var gauge = MemoryGauge(root: kernel.root)
        #expect(gauge.reading() == expected)
        #expect(gauge.confirmed(.critical) == expected)
        #expect(gauge.confirmed(.none) == .none)
    }

    @Test("Stalls of the own group precede those of the machine") func stallsOfOwnGroup() throws {
        let files = [
            "proc/self/cgroup": "0::/app\n",
            "sys/fs/cgroup/app/memory.pressure": FakeKernel.stalls(some: 0, full: 0),
            "proc/pressure/memory": FakeKernel.stalls(some: 90, full: 90),
        ]
        #expect(try level(files) == .none)
    }

    @Test(
        "Memory that can be dropped does not count towards a limit",
        arguments: [
            (899_999, MemoryPressureLevel.none), (900_000, .warning), (969_999, .warning), (970_000, .critical),
        ]
    )
    func limits(needed: Int, expected: MemoryPressureLevel) throws {
        #expect(try level(FakeKernel.group(needed: needed, max: "1000000")) == expected)
        let one = [
            "proc/self/cgroup": "4:cpu,memory:/app\n0::/\n",
            "sys/fs/cgroup/memory/app/memory.usage_in_bytes": "\(needed + 50_000)\n",
            "sys/fs/cgroup/memory/app/memory.stat": "inactive_file 1\ntotal_inactive_file 50000\n",
            "sys/fs/cgroup/memory/app/memory.limit_in_bytes": "1000000\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "2000000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        ]
        #expect(try level(one) == expected)
    }

    @Test("A throttling limit is never critical") func throttlingLimit() throws {
        #expect(try level(FakeKernel.group(needed: 2_000_000, high: "1000000")) == .warning)
        #expect(try level(FakeKernel.group(needed: 500_000, high: "1000000")) == .none)
    }

    @Test("The limit of a parent group counts too") func parentGroup() throws {
        var files = FakeKernel.group(needed: 990_000)
        files["proc/self/cgroup"] = "0::/app/worker\n"
        files["sys/fs/cgroup/app/worker/memory.max"] = "max\n"
        files["sys/fs/cgroup/app/memory.max"] = "1000000\n"
        #expect(try level(files) == .critical)
    }

    @Test("Hits of a limit count once, and only when the group is full") func limitHits() throws {
        let path = "sys/fs/cgroup/app/memory.events"
        let kernel = try FakeKernel(FakeKernel.group(needed: 800_000, max: "1000000", events: "high 5\nmax 7\noom 1\n"))
        var gauge = MemoryGauge(root: kernel.root)
        #expect(gauge.reading() == .none, "Events before the first reading do not count.")
        try kernel.write("high 5\nmax 8\noom 1\n", at: path)
        #expect(gauge.reading() == .warning)
        #expect(gauge.reading() == .none)
        try kernel.write("high 6\nmax 8\noom 1\n", at: path)
        #expect(gauge.reading() == .warning)
        try kernel.write("high 6\nmax 8\noom 2\n", at: path)
        #expect(gauge.reading() == .critical)

        try kernel.write("\(700_000 + 100_000)\n", at: "sys/fs/cgroup/app/memory.current")
        try kernel.write("high 9\nmax 9\noom 2\n", at: path)
        #expect(gauge.reading() == .none, "The group is full of file pages that can be dropped.")
    }

    @Test("Without stall files the machine's available memory counts") func machineMemory() throws {
        func machine(_ available: Int) -> [String: String] {
            ["proc/meminfo": FakeKernel.memory(available: available)]
        }
        #expect(try level(machine(101)) == .none)
        #expect(try level(machine(100)) == .warning)
        #expect(try level(machine(30)) == .critical)
        let calm = ["proc/pressure/memory": FakeKernel.stalls(some: 0, full: 0)]
        #expect(try level(machine(30).merging(calm) { $1 }) == .none)
    }

    @Test("Malformed files mean no pressure") func malformedFiles() throws {
        #expect(try level([:]) == .none)
        let files = [
            "proc/self/cgroup": "0::/../../elsewhere\nx\n::\n",
            "proc/pressure/memory": "some avg10=lots\nfull\n",
            "sys/fs/cgroup/memory.max": "0\n",
            "sys/fs/cgroup/memory.current": "-1\n",
            "sys/fs/cgroup/memory.events": "max\nhigh many\n",
            "proc/meminfo": "MemTotal: 0 kB\nMemAvailable: 0 kB\n",
        ]
        #expect(try level(files) == .none)
    }

    @Test("The lowest limit of all groups is the limit") func lowestLimit() throws {
        func limit(_ files: [String: String]) throws -> UInt64? {
            let kernel = try FakeKernel(files)
            return withExtendedLifetime(kernel) { ControlGroup(root: kernel.root).memoryLimit }
        }
        #expect(try limit(FakeKernel.group(needed: 1, max: "3000", high: "2000")) == 2000)
        #expect(try limit(FakeKernel.group(needed: 1)) == nil)
        #expect(try limit(["proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/memory.max": "5\n"]) == 5)
        let one = "sys/fs/cgroup/memory"
        #expect(try limit(["\(one)/memory.limit_in_bytes": "9223372036854771712\n"]) == nil)
        let files = [
            "proc/self/cgroup": "3:cpu:/c\n2:blkio,memory:/a/b:c\n",
            "\(one)/a/b:c/memory.limit_in_bytes": "9\n", "\(one)/a/memory.limit_in_bytes": "8\n",
            "\(one)/c/memory.limit_in_bytes": "1\n",
        ]
        #expect(try limit(files) == 8)
    }
}
