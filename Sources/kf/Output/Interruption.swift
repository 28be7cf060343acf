// Ctrl-C, Ctrl-Z and similar signals, for commands that have to clean up the terminal or unfinished files first.

import Dispatch
import Foundation
import KFSupport

/// Catches the signals that end or stop a process, so that it can clean up first.
///
/// Files that are being written are removed in any case. Signals that the process was told to ignore, as by `nohup`,
/// stay ignored.
final class Interruption {
    private struct State {
        var signal: Int32?
        var stop: (@Sendable () -> Void)?
    }

    /// The first signal that came, and the work it stops.
    private final class Arrival: Sendable {
        let state = Locked(State())
    }

    private let arrival = Arrival()
    private var sources: [any DispatchSourceSignal]
    /// The signals that are caught.
    private let signals: [Int32]

    /// - Parameters:
    ///   - tidy: Called with a second signal, on which the process ends at once.
    ///   - pause: Called with Ctrl-Z; cleans up, calls its argument, which stops the process until it is continued, and
    ///     then resumes the work.
    init(
        tidy: @escaping @Sendable () -> Void,
        pause: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async -> Void
    ) {
        let arrival = arrival
        let registrations = DispatchGroup()
        let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !Self.isIgnored($0) }
        let isPausing = !Self.isIgnored(SIGTSTP)
        self.signals = signals + (isPausing ? [SIGTSTP] : [])
        sources = signals.map { number in
            registrations.enter()
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                let (isFirst, stop) = arrival.state.withLock { state in
                    defer { state.signal = state.signal ?? number }
                    return (state.signal == nil, state.stop)
                }
                if isFirst {
                    stop?()
                } else {
                    tidy()
                    Self.terminate(by: number)
                }
            }
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
            return source
        }
        if isPausing { sources.append(Self.pausing(pause)) }
        // A signal that came before its source is there would be lost.
        registrations.wait()
    }

    /// Calls `tidy` before the first signal ends the process, or Ctrl-Z stops it.
    convenience init(tidy: @escaping @Sendable () -> Void) {
        self.init(tidy: tidy) { stop in
            tidy()
            stop()
        }
        stopping { [arrival] in
            tidy()
            if let number = arrival.state.withLock({ $0.signal }) { Self.terminate(by: number) }
        }
    }

    private static func pausing(
        _ pause: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async -> Void
    ) -> any DispatchSourceSignal {
        signal(SIGTSTP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: .global())
        source.setEventHandler {
            Task { await pause { Self.stop() } }
        }
        source.resume()
        return source
    }

    /// Sets the action of the first signal; runs it at once if that signal has arrived already.
    func stopping(_ stop: @escaping @Sendable () -> Void) {
        let hasArrived = arrival.state.withLock { state in
            state.stop = stop
            return state.signal != nil
        }
        if hasArrived { stop() }
    }

    /// Ends the process with the signal that arrived; returns if none did.
    func finish() {
        for source in sources { source.cancel() }
        if let number = arrival.state.withLock({ $0.signal }) { Self.terminate(by: number) }
        for number in signals { signal(number, SIG_DFL) }
    }

    /// Whether the process ignores a signal.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        // In place of a function's address there is 0 for the default, or 1.
        return withUnsafeBytes(of: action.__sigaction_handler) { $0.load(as: Int.self) } == 1
    }

    /// Stops the process as Ctrl-Z does by default; returns when the process is continued.
    private static func stop() {
        var (standard, caught) = (sigaction(), sigaction())
        standard.__sigaction_handler.sa_handler = SIG_DFL
        sigaction(SIGTSTP, &standard, &caught)
        deliver(SIGTSTP)
        sigaction(SIGTSTP, &caught, nil)
    }

    /// Ends the process as the signal does by default, without a file that is not whole.
    private static func terminate(by number: Int32) {
        UnfinishedFiles.shared.removeAll {
            signal(number, SIG_DFL)
            deliver(number)
        }
    }

    /// Sends this thread a signal, which is unblocked until it has been delivered.
    private static func deliver(_ number: Int32) {
        // If this thread blocks the signal, another one would take it too late.
        var (signals, before) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, &before)
        raise(number)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
