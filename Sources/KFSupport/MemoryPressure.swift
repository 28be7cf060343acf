// Tells when memory gets short: what a memory warning is on Linux. Knows nothing of caches.

import CKFLinux
import Foundation

/// Something that watches the memory from its start until it is stopped, once.
package protocol MemoryWatch: AnyObject, Sendable {
    /// Begins to watch; does nothing the second time or when already stopped.
    func start()
    /// Ends watching, now or before it has begun; waits for nothing.
    func stop()
}

/// Watches the memory of this process and of the machine, on one thread that sleeps in the kernel.
///
/// The kernel is asked to tell when tasks are stalled for memory: in the process's control group, or else anywhere on the
/// machine. Where it refuses, or where a control group sets a limit, there is also a look every ten seconds.
package final class MemoryPressureMonitor: MemoryWatch {
    /// How long is waited for what.
    package struct Pace: Sendable {
        /// Before anything is asked of the kernel.
        ///
        /// Withdrawing a request takes it ten milliseconds, which a program that runs for a moment only need not spend.
        package var settling = Duration.seconds(2)
        /// Between two looks.
        package var looking = Duration.seconds(10)
        /// After each event, whatever the kernel says meanwhile.
        package var resting = Duration.seconds(2)
        /// Until a level is told again that has not risen.
        package var repeating = Duration.seconds(30)

        package init() {}
    }

    private enum State: Sendable {
        case new
        case running(MemoryPressureWait)
        case stopped
    }

    private let root: String
    private let pace: Pace
    private let tell: @Sendable (MemoryPressure) -> Void
    private let state = Locked(State.new)

    /// Creates a monitor, which does nothing yet.
    ///
    /// - Parameters:
    ///   - root: Where the kernel's file systems begin; a test has its own.
    ///   - pace: How long is waited for what.
    ///   - tell: Called on the monitor's thread, never with ``MemoryPressure/none``.
    package init(root: String = "", pace: Pace = Pace(), tell: @escaping @Sendable (MemoryPressure) -> Void) {
        self.root = root
        self.pace = pace
        self.tell = tell
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
        let thread = Thread { [root, pace, tell] in
            kf_name_thread("kf.pressure")
            Self.watch(wait, root: root, pace: pace, tell: tell)
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
    /// A trigger of a test takes the place of those that the kernel would be asked for.
    static func watch(
        _ wait: MemoryPressureWait,
        root: String,
        pace: Pace,
        triggers given: [MemoryPressureTrigger]? = nil,
        tell: @Sendable (MemoryPressure) -> Void
    ) {
        guard wait.wait(atMost: pace.settling) != .stopped else { return }
        var gauge = MemoryGauge(root: root)
        var repeats = PressureRepeats(interval: pace.repeating)
        var triggers = given ?? MemoryPressureTrigger.all(on: gauge.stallFiles)
        while true {
            let mustLook = triggers.isEmpty || gauge.hasLimits
            let level: MemoryPressure
            switch wait.wait(for: triggers, atMost: mustLook ? pace.looking : nil) {
            case .stopped: return
            case .lost:
                // The group was removed, or the process put into another one.
                gauge = MemoryGauge(root: root)
                triggers = []
                level = .none
            case .timeOut: level = gauge.reading()
            case .pressure(let told): level = told
            }
            if repeats.admits(level, at: .now) { tell(level) }
            if level > .none, wait.wait(atMost: pace.resting) == .stopped { return }
        }
    }
}

/// Which levels are news: pressure that lasts must not empty a cache every other second.
struct PressureRepeats {
    let interval: Duration
    private var last: (level: MemoryPressure, time: ContinuousClock.Instant)?

    init(interval: Duration) { self.interval = interval }

    /// Whether `level` is to be told: when it is higher than the last one told, or that was long enough ago.
    mutating func admits(_ level: MemoryPressure, at time: ContinuousClock.Instant) -> Bool {
        guard level > .none else { return false }
        if let last, level <= last.level, last.time.duration(to: time) < interval { return false }
        last = (level, time)
        return true
    }
}

/// Hands memory that was freed back to the system, which the allocator would rather keep for later.
///
/// Takes some milliseconds.
package func returnFreedMemory() { kf_return_freed_memory() }
