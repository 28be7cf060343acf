// Watches whether the machine has a network, while there are subscribers. For the network monitor of the API.

internal import CKFLinux
internal import Foundation
internal import KFSupport

/// Notifies its subscribers whether the machine is connected, on one thread that sleeps in the kernel.
///
/// The thread runs only while there are subscribers. Where the kernel reports no changes, it reads the state every two
/// seconds.
package final class ConnectivityWatcher: Sendable {
    /// How long the watcher waits.
    struct Intervals: Sendable {
        /// Between two readings where no changes are reported.
        var polling = Duration.seconds(2)
        /// After a change: an interface that comes up causes several.
        var gathering = Duration.milliseconds(50)
    }

    /// Called with the state, at the beginning and after changes of interfaces and routes; it may be the same as
    /// before.
    package typealias Handler = @Sendable (_ isConnected: Bool) -> Void

    private struct State: Sendable {
        var nextID = 0
        var handlers: [Int: Handler] = [:]
        var round: Round?
    }

    private let state = Locked(State())
    private let read: @Sendable () -> Bool?
    private let changes: @Sendable () -> OwnedDescriptor?
    private let intervals: Intervals

    /// Creates a watcher of this machine, which does nothing yet.
    package convenience init() { self.init(reading: Connectivity.current, changes: Connectivity.changes) }

    /// Creates a watcher that is given the state, and a socket that becomes readable when the state may have changed.
    init(
        reading read: @escaping @Sendable () -> Bool?,
        changes: @escaping @Sendable () -> OwnedDescriptor?,
        intervals: Intervals = Intervals()
    ) {
        self.read = read
        self.changes = changes
        self.intervals = intervals
    }

    /// Whether the machine is connected now; an unknown state counts as connected.
    package var isConnected: Bool { read() ?? true }

    /// Whether the thread runs, or is about to.
    var isRunning: Bool { state.withLock { $0.round != nil } }

    /// Adds a subscriber.
    ///
    /// - Parameter handler: Called on the watcher's thread, soon for the first time, and not from within this call.
    /// - Returns: The number by which the subscriber is removed.
    package func subscribe(_ handler: @escaping Handler) -> Int {
        let new = Round()
        let (id, round, isFirst) = state.withLock { state in
            state.nextID += 1
            state.handlers[state.nextID] = handler
            let isFirst = state.round == nil
            if isFirst { state.round = new }
            return (state.nextID, state.round, isFirst)
        }
        if isFirst { start(new) } else { round?.wake() }
        return id
    }

    /// Removes a subscriber; the thread ends with the last one.
    ///
    /// A call of its handler that has begun goes on.
    package func unsubscribe(_ id: Int) {
        let ended = state.withLock { state -> Round? in
            state.handlers[id] = nil
            guard state.handlers.isEmpty else { return nil }
            defer { state.round = nil }
            return state.round
        }
        ended?.wake()
    }

    // MARK: The thread

    private func start(_ round: Round) {
        let thread = Thread { [self] in
            kf_name_thread("kf.network")
            watch(round)
        }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// The life of the thread, until its round has ended.
    private func watch(_ round: Round) {
        var changes = changes()
        while true {
            let isConnected = self.isConnected
            guard let handlers = handlers(of: round) else { return }
            for handler in handlers { handler(isConnected) }
            guard round.wait(for: changes, atMost: changes == nil ? intervals.polling : nil), let socket = changes
            else { continue }
            _ = round.wait(for: nil, atMost: intervals.gathering)
            if !Connectivity.discardChanges(on: socket) { changes = nil }
        }
    }

    /// The subscribers; nil when the round has ended.
    private func handlers(of round: Round) -> [Handler]? {
        state.withLock { state in state.round === round ? Array(state.handlers.values) : nil }
    }
}

/// The time from the first subscriber to the last: one thread, and what wakes it.
///
/// A thread that ends late sees that its round is over, and that another one may have begun.
private final class Round: Sendable {
    /// The ends of a pipe; nil when the process has no file descriptors left.
    private let ends: (reader: OwnedDescriptor, writer: OwnedDescriptor)?

    init() {
        var ends: [Int32] = [0, 0]
        self.ends = kf_pipe(&ends) == 0 ? (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1])) : nil
    }

    /// Ends the wait, or the next one.
    func wake() {
        guard let writer = ends?.writer else { return }
        _ = write(writer.number, [1], 1)
    }

    /// Waits until it is woken up or a descriptor is readable; returns whether that is so.
    func wait(for descriptor: OwnedDescriptor?, atMost time: Duration?) -> Bool {
        var polled = [ends?.reader.number ?? -1, descriptor?.number ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // Without the pipe nothing else would end the wait.
        let limit = time ?? (ends == nil ? .seconds(1) : nil)
        let count = poll(&polled, nfds_t(polled.count), limit?.milliseconds ?? -1)
        if count < 0, errno != EINTR { usleep(100_000) }  // a wait that cannot begin must not be tried without pause
        guard count > 0 else { return false }
        if polled[0].revents != 0, let reader = ends?.reader {
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(reader.number, &bytes, bytes.count)
        }
        return polled[1].revents != 0
    }
}
