// Waiting for the kernel to tell, looking where it does not, and stopping.

import Foundation
import Glibc
import Testing

@testable import KFSupport

@Suite struct MemoryPressureTests {
    /// No pauses, and no looks.
    private static var pace: MemoryPressureMonitor.Pace {
        var pace = MemoryPressureMonitor.Pace()
        pace.settling = .zero
        pace.resting = .zero
        pace.looking = .seconds(3600)
        return pace
    }

    /// Runs the monitor's thread with triggers of the test, until stopped.
    private func watching(
        _ triggers: [MemoryPressureTrigger]?,
        _ wait: MemoryPressureWait,
        _ kernel: FakeKernel,
        pace: MemoryPressureMonitor.Pace = pace,
        tell: @escaping @Sendable (MemoryPressure) -> Void
    ) -> Task<Void, Never> {
        let executor = WorkExecutor("test", threads: 1)
        return Task.immediate {
            await executor.run {
                MemoryPressureMonitor.watch(wait, root: kernel.root, pace: pace, triggers: triggers, tell: tell)
            }
            withExtendedLifetime(kernel) {}
        }
    }

    /// A pipe whose first end goes off when something is written to the second.
    private func pipe() throws -> (reader: OwnedDescriptor, writer: OwnedDescriptor) {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    @Test func aTriggerIsToldAtOnceAndTheHigherOneOfTwo() async throws {
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

        let told = Promise<MemoryPressure>()
        let task = watching(triggers, wait, try FakeKernel()) {
            var byte: UInt8 = 0
            _ = read(warning.reader.number, &byte, 1)
            told.keep($0)
        }
        #expect(await told.value == .warning)
        wait.stop()
        await task.value
    }

    @Test func whenTheKernelTellsNoMoreThereAreLooks() async throws {
        let pipe = try pipe()
        let wait = try #require(MemoryPressureWait())
        let kernel = try FakeKernel(["proc/pressure/memory": FakeKernel.stalls(some: 90, full: 90)])
        var pace = Self.pace
        pace.looking = .milliseconds(1)
        let told = Promise<MemoryPressure>()
        let trigger = MemoryPressureTrigger(descriptor: pipe.reader, level: .warning, events: Int16(POLLPRI))
        let task = watching([trigger], wait, kernel, pace: pace) { told.keep($0) }
        close(pipe.writer)
        #expect(await told.value == .critical)
        wait.stop()
        await task.value
    }

    /// Closes an end of a pipe before its owner does: the other end then reports that nobody is there.
    private func close(_ end: OwnedDescriptor) {
        let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
        dup2(other, end.number)
        Glibc.close(other)
    }

    @Test func aLimitIsLookedAtEvenWhereTheKernelTells() async throws {
        let pipe = try pipe()
        let wait = try #require(MemoryPressureWait())
        var pace = Self.pace
        pace.looking = .milliseconds(1)
        let kernel = try FakeKernel(FakeKernel.group(needed: 950, max: "1000"))
        let told = Promise<MemoryPressure>()
        let trigger = MemoryPressureTrigger(descriptor: pipe.reader, level: .critical, events: Int16(POLLPRI))
        let task = watching([trigger], wait, kernel, pace: pace) { told.keep($0) }
        #expect(await told.value == .warning)
        wait.stop()
        await task.value
    }

    @Test func stoppingEndsEveryPause() async throws {
        var pace = MemoryPressureMonitor.Pace()
        pace.settling = .seconds(3600)
        let settling = try #require(MemoryPressureWait())
        let first = watching([], settling, try FakeKernel(), pace: pace) { _ in }
        settling.stop()
        await first.value

        pace = Self.pace
        pace.looking = .milliseconds(1)
        pace.resting = .seconds(3600)
        let resting = try #require(MemoryPressureWait())
        let told = Promise<Void>()
        let kernel = try FakeKernel(FakeKernel.group(needed: 1000, max: "1000"))
        let second = watching([], resting, kernel, pace: pace) { _ in told.keep(()) }
        await told.value
        resting.stop()
        await second.value
        #expect(resting.wait(atMost: nil) == .stopped, "And all that come later.")
    }

    @Test func aMonitorTellsUntilItIsStopped() async throws {
        var pace = Self.pace
        pace.looking = .milliseconds(1)
        pace.repeating = .zero
        let kernel = try FakeKernel(FakeKernel.group(needed: 950, max: "1000"))
        let (first, second) = (Promise<MemoryPressure>(), Promise<MemoryPressure>())
        let monitor = MemoryPressureMonitor(root: kernel.root, pace: pace) { if !first.keep($0) { second.keep($0) } }
        monitor.start()
        monitor.start()
        #expect(await first.value == .warning)
        #expect(await second.value == .warning)
        monitor.stop()
        monitor.stop()
        withExtendedLifetime(kernel) {}
    }

    @Test func aMonitorThatWasStoppedDoesNotStart() throws {
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

    /// Whether this kernel takes requests here at all.
    private static var kernelTakesRequests: Bool {
        let file = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { Glibc.close(file) }
        return write(file, "some 100000 2000000", 20) == 20
    }

    @Test(.enabled(if: kernelTakesRequests, "The kernel has to measure stalls and take requests."))
    func theKernelTakesBothRequests() throws {
        let triggers = MemoryPressureTrigger.all(on: ["/nonexistent/memory.pressure", "/proc/pressure/memory"])
        #expect(triggers.map(\.level) == [.warning, .critical])
        let wait = try #require(MemoryPressureWait())
        #expect(wait.wait(for: triggers, atMost: .zero) != .lost)
    }

    @Test func whereRequestsAreRefusedThereAreNone() throws {
        #expect(MemoryPressureTrigger.all(on: []).isEmpty)
        #expect(MemoryPressureTrigger.all(on: ["/nonexistent", "/proc", "/dev/full"]).isEmpty)
    }

    @Test func whatLastsIsToldNowAndThenAndWhatRisesAtOnce() {
        var repeats = PressureRepeats(interval: .seconds(30))
        let start = ContinuousClock.now
        let asked: [(MemoryPressure, Int, Bool)] = [
            (.none, 0, false), (.warning, 0, true), (.warning, 29, false), (.critical, 29, true),
            (.critical, 58, false),
            (.warning, 58, false), (.none, 59, false), (.warning, 59, true), (.critical, 60, true),
        ]
        for (level, second, expected) in asked {
            #expect(repeats.admits(level, at: start + .seconds(second)) == expected, "\(level) at \(second)")
        }
    }
}
