// Signals that wait: who handles them after all, and when.

import Foundation
import Synchronization
import Testing

@testable import KFSupport

/// How often the handler was called that was there first.
private let handled = Atomic(0)

@Suite(.serialized) struct HeldSignalsTests {
    private func waitUntilHandled(_ count: Int) async {
        while handled.load(ordering: .acquiring) < count { await Task.yield() }
    }

    /// Where the code of a signal's handler is.
    private func handler(of signal: Int32) -> Int {
        var now = sigaction()
        sigaction(signal, nil, &now)
        return unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
    }

    @Test func theHandlerThatWasThereIsCalledAfterwards() async {
        handled.store(0, ordering: .releasing)
        signal(SIGUSR1) { _ in handled.add(1, ordering: .acquiringAndReleasing) }
        let begun = [Promise<Void>(), Promise<Void>()]
        let mayEnd = DispatchSemaphore(value: 0)
        let handledBefore = Locked([Int]())
        #expect(
            HeldSignals.hold([SIGUSR1]) {
                let round = handledBefore.withLock {
                    $0.append(handled.load(ordering: .acquiring))
                    return $0.count
                }
                begun[min(round, 2) - 1].keep(())
                mayEnd.wait()
            } == [SIGUSR1]
        )
        let held = handler(of: SIGUSR1)
        #expect(HeldSignals.hold([SIGUSR1]) { Issue.record("Held already.") } == [SIGUSR1])

        kill(getpid(), SIGUSR1)
        await begun[0].value
        #expect(handledBefore.withLock { $0 } == [0], "The action comes first.")
        kill(getpid(), SIGUSR1)
        await waitUntilHandled(1)  // the second does not wait
        mayEnd.signal()
        await waitUntilHandled(2)

        // Whoever goes on after its signal has it held again.
        while handler(of: SIGUSR1) != held { await Task.yield() }
        kill(getpid(), SIGUSR1)
        await begun[1].value
        #expect(handledBefore.withLock { $0 } == [0, 2])
        mayEnd.signal()
        await waitUntilHandled(3)
    }

    #if KF_TSAN
    /// The thread sanitizer handles signals itself and delivers them later; a forked child ends before that.
    private static let signalsComeAtOnce = false
    #else
    private static let signalsComeAtOnce = true
    #endif

    @Test(.enabled(if: signalsComeAtOnce)) func aForkedChildHoldsNothing() throws {
        let isHeld = HeldSignals.hold([SIGVTALRM]) { Issue.record("It is not this process that was told to end.") }
        #expect(isHeld == [SIGVTALRM])
        typealias Fork = @convention(c) () -> pid_t
        let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
        // Threads that run tasks let no signal in.
        var every = sigset_t()
        sigfillset(&every)
        let child = fork()
        if child == 0 {
            pthread_sigmask(SIG_UNBLOCK, &every, nil)
            kill(getpid(), SIGVTALRM)
            _exit(0)
        }
        try #require(child > 0)
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        #expect(status & 0x7F == SIGVTALRM, "The child dies of it, as it would have without its parent's arrangements.")
    }

    @Test func whatIsIgnoredStaysIgnored() {
        signal(SIGUSR2, SIG_IGN)
        #expect(HeldSignals.hold([SIGUSR2]) {}.isEmpty)
        kill(getpid(), SIGUSR2)
        #expect(handler(of: SIGUSR2) == 1, "The number that stands for ignoring.")
        // It stays ignored: where the signal is blocked it may still be under way, and would end all tests.
        #expect(HeldSignals.hold([-1, 0, 1000, SIGKILL]) {}.isEmpty)
    }
}
