// Whether the machine has a network, and waiting until it has. For `NetworkRetryStrategy`.

public import Foundation
import KFSupport
import KFTransport

/// Knows whether there is a network.
///
/// Conform a type of your own to it where programs learn that from elsewhere, such as a desktop's network manager.
public protocol NetworkMonitoring: Sendable {
    /// Whether there is a network now; true if that is not known. Read on any thread.
    var isConnected: Bool { get }

    /// Waits until there is a network.
    ///
    /// - Parameters:
    ///   - timeoutInterval: How many seconds to wait at most; nil for no limit.
    ///   - callback: Called at most once, on any thread: with true when there is a network (also when there was one
    ///     from the beginning), with false when the time is over. Never called once the observer has been cancelled.
    /// - Returns: Ends the wait. It need not be kept: the monitor keeps what waits.
    func observeConnectivity(
        timeoutInterval: TimeInterval?,
        callback: @escaping @Sendable (_ isConnected: Bool) -> Void
    ) -> any NetworkObserver
}

/// A wait for a network.
public protocol NetworkObserver: Sendable {
    /// Ends the wait; its callback is not called any more.
    ///
    /// Safe at any time, from any thread. Only a callback that another thread has just begun to call goes on.
    func cancel()
}

/// Knows whether the machine has a network: whether an interface other than the loopback is up, has a carrier, and is
/// the one of a default route.
///
/// The kernel is asked, and nothing is sent, so a server may still be unreachable. The kernel also reports changes.
/// Where it does not (some containers deny netlink), the state is read every two seconds. All this happens on one
/// thread, and only while an observer waits.
public final class NetworkMonitor: NetworkMonitoring {
    /// The monitor of this machine.
    public static let `default` = NetworkMonitor(watcher: ConnectivityWatcher(), clock: ContinuousClock())

    private let watcher: ConnectivityWatcher
    private let clock: any Clock<Duration>

    init(watcher: ConnectivityWatcher, clock: any Clock<Duration>) {
        self.watcher = watcher
        self.clock = clock
    }

    /// Whether the machine has a network now; true if that is not known.
    ///
    /// Asks the kernel each time, which usually takes less than a millisecond.
    public var isConnected: Bool { watcher.isConnected }

    /// Waits until the machine has a network.
    ///
    /// - Parameters:
    ///   - timeoutInterval: How many seconds to wait at most; nil for no limit.
    ///   - callback: Called at most once, on the monitor's thread with true or in a task with false when the time is
    ///     over. It should return soon.
    /// - Returns: Ends the wait. It need not be kept.
    public func observeConnectivity(
        timeoutInterval: TimeInterval?,
        callback: @escaping @Sendable (_ isConnected: Bool) -> Void
    ) -> any NetworkObserver {
        let observer = ConnectivityObserver(callback)
        let id = watcher.subscribe { if $0 { observer.finish(true) } }
        observer.atEnd { [watcher] in watcher.unsubscribe(id) }
        if let timeoutInterval {
            let timer = Task { [clock] in
                guard (try? await clock.sleep(for: Duration(clampingSeconds: timeoutInterval))) != nil else { return }
                observer.finish(false)
            }
            observer.atEnd { timer.cancel() }
        }
        return observer
    }
}

/// One wait of a ``NetworkMonitor``.
private final class ConnectivityObserver: NetworkObserver {
    private struct State: Sendable {
        /// Nil once the wait has ended.
        var callback: (@Sendable (Bool) -> Void)?
        var cleanUps: [@Sendable () -> Void] = []
    }
    private let state: Locked<State>

    init(_ callback: @escaping @Sendable (Bool) -> Void) { state = Locked(State(callback: callback)) }

    /// Calls something when the wait ends: at once if it has ended.
    func atEnd(_ cleanUp: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.callback != nil { state.cleanUps.append(cleanUp) }
            return state.callback == nil
        }
        if isOver { cleanUp() }
    }

    /// Ends the wait with a state of the network; only the first end counts.
    func finish(_ isConnected: Bool) { end()?(isConnected) }

    func cancel() { _ = end() }

    /// Ends the wait, and returns what is to be called if this was its end.
    private func end() -> (@Sendable (Bool) -> Void)? {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        for cleanUp in ended.cleanUps { cleanUp() }
        return ended.callback
    }
}
