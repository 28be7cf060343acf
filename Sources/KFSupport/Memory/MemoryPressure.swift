// Watches the memory and reports when it gets short. For caches: Linux has no memory warnings.

import CKFLinux
import Foundation

/// Something that watches the memory from its start until it is stopped, once.
package protocol MemoryWatch: AnyObject, Sendable {
    /// Begins to watch; does nothing the second time or when already stopped.
    func start()
    /// Ends watching, now or before it has begun; does not wait.
    func stop()
}

/// Watches the memory of this process and of the machine, on one thread that sleeps in the kernel.
///
/// The kernel is given triggers for tasks that are stalled for memory: in the process's control group, or else anywhere
/// on the machine. They count where memory is short. Where the kernel refuses them, or where a control group sets a
/// limit, the state is also polled every ten seconds.
package final class MemoryPressureMonitor: MemoryWatch {
    /// How long the monitor waits.
    package struct Intervals: Sendable {
        /// Before the kernel is given any trigger.
        ///
        /// Withdrawing a trigger takes it ten milliseconds, which a program that runs for a moment only need not spend.
        package var startup = Duration.seconds(2)
        /// Between two polls.
        package var polling = Duration.seconds(10)
        /// After each event, whatever the kernel reports in that time.
        package var cooldown = Duration.seconds(2)
        /// Until a level that has not risen is reported again.
        package var repetition = Duration.seconds(30)

        package init() {}
    }

    private enum State: Sendable {
        case new
        case running(MemoryPressureWait)
        case stopped
    }

    private let root: String
    private let intervals: Intervals
    private let notify: @Sendable (MemoryPressureLevel) -> Void
    private let state = Locked(State.new)

    /// Creates a monitor, which does nothing yet.
    ///
    /// - Parameters:
    ///   - root: Where the kernel's file systems begin; a test has its own.
    ///   - intervals: How long the monitor waits.
    ///   - notify: Called on the monitor's thread, never with ``MemoryPressureLevel/none``.
    package init(
        root: String = "",
        intervals: Intervals = Intervals(),
        notify: @escaping @Sendable (MemoryPressureLevel) -> Void
    ) {
        self.root = root
        self.intervals = intervals
        self.notify = notify
    }

    deinit { stop() }

    package func start() {
        guard let wait = MemoryPressureWait() else { return }
        let isFirst = state.withLock { state in
            guard case .new = state else { return false }
            state = .running(wait)
            return true
        }
        guard isFirst else { return }
        let thread = Thread { [root, intervals, notify] in
            kf_name_thread("kf.pressure")
            Self.watch(wait, root: root, intervals: intervals, notify: notify)
        }
        thread.stackSize = 512 << 10
        thread.start()
    }

    package func stop() {
        let wait = state.withLock { state -> MemoryPressureWait? in
            defer { state = .stopped }
            if case .running(let wait) = state { return wait }
            return nil
        }
        wait?.stop()
    }

    /// Whether it has been started and not stopped.
    var isRunning: Bool {
        state.withLock { if case .running = $0 { true } else { false } }
    }

    /// The life of the thread.
    ///
    /// Triggers of a test take the place of those that the kernel would be given.
    static func watch(
        _ wait: MemoryPressureWait,
        root: String,
        intervals: Intervals,
        triggers given: [MemoryPressureTrigger]? = nil,
        notify: @Sendable (MemoryPressureLevel) -> Void
    ) {
        guard wait.wait(atMost: intervals.startup) != .stopped else { return }
        var gauge = MemoryGauge(root: root)
        var rateLimit = PressureRateLimit(interval: intervals.repetition)
        var triggers = given ?? MemoryPressureTrigger.all(on: gauge.stallFiles)
        while true {
            let mustPoll = triggers.isEmpty || gauge.hasLimits
            let level: MemoryPressureLevel
            var isTriggered = false
            switch wait.wait(for: triggers, atMost: mustPoll ? intervals.polling : nil) {
            case .stopped: return
            case .lost:
                // The group was removed, or the process put into another one.
                gauge = MemoryGauge(root: root)
                triggers = []
                level = .none
            case .timeOut: level = gauge.reading()
            case .pressure(let reported):
                isTriggered = true
                level = gauge.confirmed(reported)
            }
            if rateLimit.admits(level, at: .now) { notify(level) }
            if isTriggered || level > .none, wait.wait(atMost: intervals.cooldown) == .stopped { return }
        }
    }
}

/// Limits how often a level is reported: pressure that lasts must not empty a cache every other second.
struct PressureRateLimit {
    let interval: Duration
    private var last: (level: MemoryPressureLevel, time: ContinuousClock.Instant)?

    init(interval: Duration) { self.interval = interval }

    /// Whether `level` is to be reported: when it is higher than the last one reported, or that was long enough ago.
    mutating func admits(_ level: MemoryPressureLevel, at time: ContinuousClock.Instant) -> Bool {
        guard level > .none else { return false }
        if let last, level <= last.level, last.time.duration(to: time) < interval { return false }
        last = (level, time)
        return true
    }
}

/// Returns freed memory to the system, which the allocator would otherwise keep for later.
///
/// Takes some milliseconds.
package func returnFreedMemory() { kf_return_freed_memory() }
