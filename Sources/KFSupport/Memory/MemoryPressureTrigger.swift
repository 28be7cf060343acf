// The triggers by which the kernel reports stalls for memory, and waiting for them.

import CKFLinux
import Glibc

/// A request to the kernel to report when tasks were stalled for memory for long enough.
struct MemoryPressureTrigger: Sendable {
    let descriptor: OwnedDescriptor
    let level: MemoryPressureLevel
    /// The events that `poll` reports when it goes off.
    var events = Int16(POLLPRI)

    /// The triggers for the first of these files that the kernel accepts them for.
    ///
    /// The kernel may have no such file, and the container may have it read-only.
    static func all(on paths: [String]) -> [MemoryPressureTrigger] {
        for path in paths {
            // Two hundred and four hundred milliseconds in two seconds. Without privileges the kernel accepts no
            // windows but multiples of two seconds.
            let requests = [("some 200000 2000000", MemoryPressureLevel.warning), ("full 400000 2000000", .critical)]
            let triggers = requests.compactMap { MemoryPressureTrigger(path: path, request: $0, level: $1) }
            if triggers.count == requests.count { return triggers }
        }
        return []
    }

    init(descriptor: OwnedDescriptor, level: MemoryPressureLevel, events: Int16) {
        self.descriptor = descriptor
        self.level = level
        self.events = events
    }

    private init?(path: String, request: String, level: MemoryPressureLevel) {
        let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(number)
        self.level = level
        let bytes = Array(request.utf8) + [0]  // the kernel takes the last byte for the end
        guard write(number, bytes, bytes.count) == bytes.count else { return nil }
    }
}

/// Waits for triggers until it is stopped.
struct MemoryPressureWait: Sendable {
    enum Outcome: Equatable {
        case stopped
        case timeOut
        case pressure(MemoryPressureLevel)
        /// The kernel has withdrawn the trigger: the control group is gone.
        case lost
    }

    private let stopReader: OwnedDescriptor
    private let stopWriter: OwnedDescriptor

    /// Returns nil when the process has no file descriptors left.
    init?() {
        var ends: [Int32] = [0, 0]
        guard kf_pipe(&ends) == 0 else { return nil }
        (stopReader, stopWriter) = (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    /// Ends all waiting, now and later.
    func stop() { _ = write(stopWriter.number, [1], 1) }

    /// Waits, without end if no time is given.
    func wait(for triggers: [MemoryPressureTrigger] = [], atMost time: Duration?) -> Outcome {
        var polled = [pollfd(fd: stopReader.number, events: Int16(POLLIN), revents: 0)]
        polled += triggers.map { pollfd(fd: $0.descriptor.number, events: $0.events, revents: 0) }
        let count = poll(&polled, nfds_t(polled.count), time?.milliseconds ?? -1)
        // A signal ends the wait early, which does no harm; a wait that cannot be begun must not be tried endlessly.
        guard count >= 0 || errno == EINTR else { return .stopped }
        guard count > 0 else { return .timeOut }

        if polled[0].revents != 0 { return .stopped }
        let outcomes = zip(triggers, polled.dropFirst()).filter { $1.revents != 0 }
        if outcomes.contains(where: { $1.revents & Int16(POLLERR | POLLNVAL | POLLHUP) != 0 }) { return .lost }
        return .pressure(outcomes.map(\.0.level).max() ?? .none)
    }
}
