// Retries of loads that failed because of the network, once there is one. For loads with this strategy.

public import Foundation
import KFSupport

/// Tries again when there is a network, a limited number of times, if the failure may pass.
///
/// * Without a network, it waits until there is one, then tries again.
/// * With a network, a transfer that failed is tried again at once, then after one, two and four seconds, and so on up
///   to 30 seconds. The waits vary by a fifth, at random.
/// * A response with status 408, 425, 429 or 5xx, which is one of a server that was reached, is tried again after such
///   a wait from the first time on; its `Retry-After` makes the wait longer, up to 30 seconds.
///
/// Everything else is not retried, such as a 404 or a certificate that is not trusted. (Kingfisher retries any error of
/// the response at once and without limit while there is a network.)
public struct NetworkRetryStrategy: AsyncRetryStrategy {
    private enum Plan {
        case timed(RetryPlan)
        case waitForNetwork
    }

    /// How many seconds to wait for a network at most before giving up; nil for no limit.
    public let timeoutInterval: TimeInterval?
    /// How many retries are made at most, with those after a wait for the network.
    public let maxRetryCount: Int
    let networkMonitor: any NetworkMonitoring
    let clock: any Clock<Duration>

    /// Creates a strategy for the network of this machine.
    public init(timeoutInterval: TimeInterval? = 30, maxRetryCount: Int = 3) {
        self.init(
            timeoutInterval: timeoutInterval,
            networkMonitor: NetworkMonitor.default,
            maxRetryCount: maxRetryCount
        )
    }

    /// Creates a strategy that learns from a monitor whether there is a network. (Not public in Kingfisher.)
    ///
    /// - Parameters:
    ///   - timeoutInterval: How many seconds to wait for a network at most before giving up; nil for no limit.
    ///   - networkMonitor: Knows whether there is a network.
    ///   - maxRetryCount: How many retries are made at most.
    ///   - clock: Measures the waits; tests set one by hand.
    public init(
        timeoutInterval: TimeInterval? = 30,
        networkMonitor: any NetworkMonitoring,
        maxRetryCount: Int = 3,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.timeoutInterval = timeoutInterval
        self.networkMonitor = networkMonitor
        self.maxRetryCount = maxRetryCount
        self.clock = clock
    }

    /// Retries failures that may pass, when there is a network.
    ///
    /// A retry after a wait for the network carries the wait's ``NetworkObserver``, others nothing. Another call with
    /// the same context ends a wait that goes on; the handler of that one is then not called.
    /// - Parameters:
    ///   - context: What failed.
    ///   - retryHandler: Called with the decision: at once if nothing is waited for, else on any thread.
    public func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
        switch plan(for: context) {
        case .timed(let plan): plan.call(retryHandler, on: clock)
        case .waitForNetwork: _ = waitForNetwork(context, then: retryHandler)
        }
    }

    /// The async form of ``retry(context:retryHandler:)``: when its task is cancelled, it stops waiting and gives up.
    ///
    /// - Parameter context: What failed.
    /// - Returns: The decision, after the wait.
    public func decision(for context: RetryContext) async -> RetryDecision {
        switch plan(for: context) {
        case .timed(let plan): return await plan.decision(on: clock)
        case .waitForNetwork:
            let decision = Promise<RetryDecision>()
            let observer = waitForNetwork(context) { decision.fulfil($0) }
            return await decision.value {
                observer.cancel()
                decision.fulfil(.stop)
            }
        }
    }

    private func plan(for context: RetryContext) -> Plan {
        (context.userInfo as? any NetworkObserver)?.cancel()
        let (error, count) = (context.error, context.retriedCount)
        guard !error.isCancelled, error.isTransient, count < maxRetryCount else { return .timed(.stop) }
        let interval = DelayRetryStrategy.Interval.exponential()
        if error.isInvalidResponseStatusCode {
            return .timed(.retry(after: interval.timeInterval(for: count, after: error)))
        }
        guard networkMonitor.isConnected else { return .waitForNetwork }
        return .timed(.retry(after: count == 0 ? 0 : interval.timeInterval(for: count - 1)))
    }

    /// Waits for the network; the observer is in the context before the handler is called.
    private func waitForNetwork(
        _ context: RetryContext,
        then handler: @escaping @Sendable (RetryDecision) -> Void
    ) -> any NetworkObserver {
        let wait = NetworkWait(handler)
        let observer = networkMonitor.observeConnectivity(timeoutInterval: timeoutInterval) { wait.end($0) }
        context.userInfo = observer
        wait.begin(observer)
        return observer
    }
}

/// The handler of one wait for the network: called when both the observer and what it reports are known.
///
/// A monitor may report before it has returned the observer.
private final class NetworkWait: Sendable {
    private struct State: Sendable {
        var observer: (any NetworkObserver)?
        var isConnected: Bool?
    }
    private let state = Locked(State())
    private let handler: @Sendable (RetryDecision) -> Void

    init(_ handler: @escaping @Sendable (RetryDecision) -> Void) { self.handler = handler }

    func begin(_ observer: any NetworkObserver) { change { $0.observer = observer } }
    func end(_ isConnected: Bool) { change { $0.isConnected = isConnected } }

    private func change(_ body: (inout State) -> Void) {
        let decision = state.withLock { state -> RetryDecision? in
            body(&state)
            guard let observer = state.observer, let isConnected = state.isConnected else { return nil }
            state.observer = nil  // no second call
            return isConnected ? .retry(userInfo: observer) : .stop
        }
        if let decision { handler(decision) }
    }
}
