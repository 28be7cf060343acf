// The memory pressure monitor: it waits for triggers of the kernel, polls where it accepts none, and can be stopped.

import Foundation
import Glibc
import Testing

@testable import KFSupport

@Suite struct MemoryPressureTests {
    /// No pauses, and no polling.
    private static var intervals: MemoryPressureMonitor.Intervals {
        var intervals = MemoryPressureMonitor.Intervals()
        intervals.startup = .zero
        intervals.cooldown = .zero
        intervals.polling = .seconds(3600)
        return intervals
    }

    /// Runs the monitor's thread with triggers of the test until it is stopped.
    private func watching(
        _ triggers: [MemoryPressureTrigger]?,
        _ wait: MemoryPressureWait,
        _ kernel: FakeKernel,
        intervals: MemoryPressureMonitor.Intervals = intervals,
        notify: @escaping @Sendable (MemoryPressureLevel) -> Void
    ) -> Task<Void, Never> {
        let executor = WorkExecutor("test", threads: 1)
        return Task.immediate {
            await executor.run {
                MemoryPressureMonitor.watch(
                    wait,
                    root: kernel.root,
                    intervals: intervals,
                    triggers: triggers,
                    notify: notify
                )
            }
            withExtendedLifetime(kernel) {}
        }
    }

    /// A pipe whose first end is triggered when something is written to the second.
    private func pipe() throws -> (reader: OwnedDescriptor, writer: OwnedDescriptor) {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    @Test("A trigger is reported at once, and of two the higher one") func triggers() async throws {
        let (warning, critical) = (try pipe(), try pipe())
        let triggers = [
            MemoryPressureTrigger(descriptor: warning.reader, level: .warning, events: Int16(POLLIN)),
            MemoryPressureTrigger(descriptor: critical.reader, level: .critical, events: Int16(POLLIN)),
        ]
        let wait = try #require(MemoryPressureWait())
        #expect(wait.wait(for: triggers, atMost: .zero) == .timeOut)
        #expect(write(critical.writer.number, [1], 1) == 1)
        #expect(wait.wait(for: triggers, atMost: nil) == .pressure(.critical))
        #expect(write(warning.writer.number, [1], 1) == 1)
        #expect(wait.wait(for: triggers, atMost: nil) == .pressure(.critical))
        var byte: UInt8 = 0
        #expect(read(critical.reader.number, &byte, 1) == 1)
        #expect(wait.wait(for: triggers, atMost: nil) == .pressure(.warning))

        let reported = Promise<MemoryPressureLevel>()
        let task = watching(triggers, wait, try FakeKernel()) {
            var byte: UInt8 = 0
            _ = read(warning.reader.number, &byte, 1)
            reported.fulfil($0)
        }
        #expect(await reported.value == .warning)
        wait.stop()
        await task.value
    }

    @Test("A trigger is not reported while there is memory, and it is once there is not")
    func triggerWithEnoughMemory() async throws {
        let pipe = try pipe()
        #expect(write(pipe.writer.number, [1], 1) == 1)
        let kernel = try FakeKernel()
        let meminfo = URL(fileURLWithPath: kernel.root + "/proc/meminfo")
        try FileManager.default.createDirectory(
            at: meminfo.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        // The monitor waits where it opens the file, until the test writes it.
        try #require(mkfifo(meminfo.path, 0o600) == 0)
        let levels = Locked<[MemoryPressureLevel]>([])
        let reported = Promise<MemoryPressureLevel>()
        let trigger = MemoryPressureTrigger(descriptor: pipe.reader, level: .critical, events: Int16(POLLIN))
        let wait = try #require(MemoryPressureWait())
        let task = watching([trigger], wait, kernel) { level in
            levels.withLock { $0.append(level) }
            reported.fulfil(level)
        }
        var writer: Int32 = -1
        while writer < 0, levels.withLock({ $0.isEmpty }) {
            writer = open(meminfo.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            await Task.yield()
        }
        #expect(levels.withLock { $0 } == [], "The monitor has not looked at the memory.")
        // The next look is at another file.
        try FileManager.default.removeItem(at: meminfo)
        try kernel.write(FakeKernel.memory(available: 100), at: "proc/meminfo")
        let enough = Array(FakeKernel.memory(available: 900).utf8)
        #expect(write(writer, enough, enough.count) == enough.count)
        Glibc.close(writer)
        #expect(await reported.value == .critical)
        wait.stop()
        await task.value
    }

    @Test("When the kernel withdraws a trigger, the monitor polls") func lostTrigger() async throws {
        let pipe = try pipe()
        let wait = try #require(MemoryPressureWait())
        let kernel = try FakeKernel(["proc/pressure/memory": FakeKernel.stalls(some: 90, full: 90)])
        var intervals = Self.intervals
        intervals.polling = .milliseconds(1)
        let reported = Promise<MemoryPressureLevel>()
        let trigger = MemoryPressureTrigger(descriptor: pipe.reader, level: .warning, events: Int16(POLLPRI))
        let task = watching([trigger], wait, kernel, intervals: intervals) { reported.fulfil($0) }
        close(pipe.writer)
        #expect(await reported.value == .critical)
        wait.stop()
        await task.value
    }

    /// Closes an end of a pipe before its owner does: the other end then reports that the peer has gone.
    private func close(_ end: OwnedDescriptor) {
        let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
        dup2(other, end.number)
        Glibc.close(other)
    }

    @Test("A limit is polled even where the kernel accepts triggers") func limitBesideTriggers() async throws {
        let pipe = try pipe()
        let wait = try #require(MemoryPressureWait())
        var intervals = Self.intervals
        intervals.polling = .milliseconds(1)
        let kernel = try FakeKernel(FakeKernel.group(needed: 950, max: "1000"))
        let reported = Promise<MemoryPressureLevel>()
        let trigger = MemoryPressureTrigger(descriptor: pipe.reader, level: .critical, events: Int16(POLLPRI))
        let task = watching([trigger], wait, kernel, intervals: intervals) { reported.fulfil($0) }
        #expect(await reported.value == .warning)
        wait.stop()
        await task.value
    }

    @Test("Stopping ends every pause") func stoppedPauses() async throws {
        var intervals = MemoryPressureMonitor.Intervals()
        intervals.startup = .seconds(3600)
        let startup = try #require(MemoryPressureWait())
        let first = watching([], startup, try FakeKernel(), intervals: intervals) { _ in }
        startup.stop()
        await first.value

        intervals = Self.intervals
        intervals.polling = .milliseconds(1)
        intervals.cooldown = .seconds(3600)
        let cooldown = try #require(MemoryPressureWait())
        let reported = Promise<Void>()
        let kernel = try FakeKernel(FakeKernel.group(needed: 1000, max: "1000"))
        let second = watching([], cooldown, kernel, intervals: intervals) { _ in reported.fulfil(()) }
        await reported.value
        cooldown.stop()
        await second.value
        #expect(cooldown.wait(atMost: nil) == .stopped, "Stopping also ends all pauses that begin later.")
    }

    @Test("A monitor reports until it is stopped") func monitorReports() async throws {
        var intervals = Self.intervals
        intervals.polling = .milliseconds(1)
        intervals.repetition = .zero
        let kernel = try FakeKernel(FakeKernel.group(needed: 950, max: "1000"))
        let (first, second) = (Promise<MemoryPressureLevel>(), Promise<MemoryPressureLevel>())
        let monitor = MemoryPressureMonitor(root: kernel.root, intervals: intervals) {
            if !first.fulfil($0) { second.fulfil($0) }
        }
        monitor.start()
        monitor.start()
        #expect(await first.value == .warning)
        #expect(await second.value == .warning)
        monitor.stop()
        monitor.stop()
        withExtendedLifetime(kernel) {}
    }

    @Test("A monitor that was stopped does not start") func stoppedMonitor() throws {
        let monitor = MemoryPressureMonitor(root: try FakeKernel().root) { _ in }
        monitor.stop()
        monitor.start()
        #expect(!monitor.isRunning)
        let other = MemoryPressureMonitor(root: try FakeKernel().root) { _ in }
        other.start()
        #expect(other.isRunning)
        other.stop()
        #expect(!other.isRunning)
    }

    /// Whether this kernel accepts triggers here at all.
    private static var kernelAcceptsTriggers: Bool {
        let file = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { Glibc.close(file) }
        return write(file, "some 100000 2000000", 20) == 20
    }

    @Test(
        "The kernel accepts both triggers",
        .enabled(if: kernelAcceptsTriggers, "the kernel has to measure stalls and accept triggers")
    )
    func kernelTriggers() throws {
        let triggers = MemoryPressureTrigger.all(on: ["/nonexistent/memory.pressure", "/proc/pressure/memory"])
        #expect(triggers.map(\.level) == [.warning, .critical])
        let wait = try #require(MemoryPressureWait())
        #expect(wait.wait(for: triggers, atMost: .zero) != .lost)
    }

    @Test("Where the kernel refuses triggers there are none") func refusedTriggers() throws {
        #expect(MemoryPressureTrigger.all(on: []).isEmpty)
        #expect(MemoryPressureTrigger.all(on: ["/nonexistent", "/proc", "/dev/full"]).isEmpty)
    }

    @Test("A level that lasts is reported at intervals, and a higher one at once") func repeatedLevels() {
        var rateLimit = PressureRateLimit(interval: .seconds(30))
        let start = ContinuousClock.now
        let levels: [(MemoryPressureLevel, Int, Bool)] = [
            (.none, 0, false), (.warning, 0, true), (.warning, 29, false), (.critical, 29, true),
            (.critical, 58, false),
            (.warning, 58, false), (.none, 59, false), (.warning, 59, true), (.critical, 60, true),
        ]
        for (level, second, expected) in levels {
            #expect(rateLimit.admits(level, at: start + .seconds(second)) == expected, "\(level) at \(second)")
        }
    }
}
