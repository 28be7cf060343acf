// Watching whether there is a network: when it is read, when subscribers are notified, when the thread ends.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFTransport

@Suite struct ConnectivityWatcherTests {
    /// A state that a test changes.
    private final class Network: Sendable {
        private let state: Locked<Bool?>
        init(_ value: Bool?) { state = Locked(value) }
        var value: Bool? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// Fulfils a promise when nothing keeps it any more.
    private final class Witness: Sendable {
        let isGone: Promise<Void>
        init(_ isGone: Promise<Void>) { self.isGone = isGone }
        deinit { isGone.fulfil(()) }
    }

    /// The states that are reported, in order.
    private struct Reports {
        let handler: ConnectivityWatcher.Handler
        private var iterator: AsyncStream<Bool>.Iterator

        init() {
            let (stream, continuation) = AsyncStream<Bool>.makeStream()
            handler = { continuation.yield($0) }
            iterator = stream.makeAsyncIterator()
        }

        mutating func next() async -> Bool? { await iterator.next(isolation: #isolation) }
    }

    private static func intervals(polling: Duration = .seconds(3600)) -> ConnectivityWatcher.Intervals {
        ConnectivityWatcher.Intervals(polling: polling, gathering: .zero)
    }

    /// Two connected sockets; the first never blocks.
    private func sockets() throws -> (reader: OwnedDescriptor, writer: OwnedDescriptor) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    @Test("A subscriber is notified of the state at once and after each change") func changes() async throws {
        let sockets = try sockets(), network = Network(false)
        let watcher = ConnectivityWatcher(
            reading: { network.value },
            changes: { sockets.reader },
            intervals: Self.intervals()
        )
        var reports = Reports()
        let id = watcher.subscribe(reports.handler)
        #expect(await reports.next() == false)
        for state in [true, false, nil] {
            network.value = state
            #expect(write(sockets.writer.number, [1], 1) == 1)
            #expect(await reports.next() == state ?? true, "an unknown state counts as connected")
        }
        watcher.unsubscribe(id)
        #expect(!watcher.isRunning)
    }

    @Test("A subscriber that comes later is notified at once, too") func laterSubscriber() async throws {
        let sockets = try sockets()
        let watcher = ConnectivityWatcher(
            reading: { true },
            changes: { sockets.reader },
            intervals: Self.intervals()
        )
        var first = Reports(), second = Reports()
        let ids = (watcher.subscribe(first.handler), watcher.subscribe(second.handler))
        #expect(await first.next() == true)
        #expect(await second.next() == true)
        watcher.unsubscribe(ids.0)
        #expect(watcher.isRunning)
        watcher.unsubscribe(ids.1)
        #expect(!watcher.isRunning)
    }

    @Test("Where no changes are reported, and once they end, the state is polled") func polling() async throws {
        for hasSocket in [false, true] {
            let network = Network(false), sockets = try sockets()
            let watcher = ConnectivityWatcher(
                reading: { network.value },
                changes: { hasSocket ? sockets.reader : nil },
                intervals: Self.intervals(polling: .milliseconds(1))
            )
            var reports = Reports()
            let id = watcher.subscribe(reports.handler)
            #expect(await reports.next() == false)
            #expect(shutdown(sockets.writer.number, Int32(SHUT_RDWR)) == 0)
            network.value = true
            while await reports.next() == false {}
            watcher.unsubscribe(id)
        }
    }

    @Test("The thread ends with the last subscriber, and the next one starts another") func rounds() async throws {
        let ended = Promise<Void>(), sockets = try sockets()
        do {
            let witness = Witness(ended), rounds = Network(false)
            let watcher = ConnectivityWatcher(
                reading: { rounds.value },
                changes: {
                    rounds.value = true
                    return withExtendedLifetime(witness) { sockets.reader }
                },
                intervals: Self.intervals()
            )
            #expect(!watcher.isRunning && watcher.isConnected == false)
            for _ in 0..<2 {
                rounds.value = false
                var reports = Reports()
                let id = watcher.subscribe(reports.handler)
                #expect(await reports.next() == true, "a round begins with a look for changes")
                watcher.unsubscribe(id)
                watcher.unsubscribe(id)
                #expect(!watcher.isRunning)
            }
        }
        await ended.value
    }

    @Test("This machine's watcher reports what it reads") func thisMachine() async throws {
        let watcher = ConnectivityWatcher()
        var reports = Reports()
        let id = watcher.subscribe(reports.handler)
        #expect(await reports.next() == watcher.isConnected)
        watcher.unsubscribe(id)
    }
}
