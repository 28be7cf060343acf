// The protocol that decides whether a failed load is tried again, its option, and a strategy with delays.

public import Foundation
import KFSupport

/// A failed load, as a retry strategy sees it.
///
/// There is one for each source of a load, the same for all its failures. An alternative source has its own.
public final class RetryContext: Sendable {
    private struct State: Sendable {
        var error: KingfisherError
        var retriedCount: Int
        var userInfo: (any Sendable)?
    }

    /// The source that was loaded.
    public let source: Source
    private let state: Locked<State>

    /// Why the last attempt failed.
    public var error: KingfisherError { state.withLock { $0.error } }

    /// How many retries were made before.
    ///
    /// A strategy may change it: each retry adds one to what it left here.
    public var retriedCount: Int {
        get { state.withLock { $0.retriedCount } }
        set { state.withLock { $0.retriedCount = newValue } }
    }

    /// The value of the strategy's last ``RetryDecision/retry(userInfo:)``.
    public internal(set) var userInfo: (any Sendable)? {
        get { state.withLock { $0.userInfo } }
        set { state.withLock { $0.userInfo = newValue } }
    }

    package init(source: Source, error: KingfisherError, retriedCount: Int = 0, userInfo: (any Sendable)? = nil) {
        self.source = source
        state = Locked(State(error: error, retriedCount: retriedCount, userInfo: userInfo))
    }

    /// Another attempt failed.
    func fail(with error: KingfisherError) { state.withLock { $0.error = error } }

    /// Counts a retry that is about to be made.
    func countRetry(userInfo: (any Sendable)?) {
        state.withLock {
            $0.retriedCount += 1
            $0.userInfo = userInfo
        }
    }
}

/// The decision about a failed load.
public enum RetryDecision: Sendable {
    /// Try again; the next ``RetryContext`` carries the value.
    case retry(userInfo: (any Sendable)?)
    /// Give up on this source.
    case stop
}

/// Decides whether a failed load is tried again.
///
/// It is never called for cancelled loads.
public protocol RetryStrategy: Sendable {
    /// Decides about one failure.
    /// - Parameters:
    ///   - context: The load that failed, why and how often.
    ///   - retryHandler: Called once with the decision, at once or later, on any thread. Later calls are ignored.
    func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void)
}

/// Tries again after a delay, a limited number of times, when the server or the network is the reason.
///
/// Unless told otherwise it retries all errors of the response, a 404 among them; ``transient`` retries failures that
/// may pass.
public struct DelayRetryStrategy: AsyncRetryStrategy {
    /// How long to wait before a retry.
    public enum Interval: Sendable {
        /// Always the same, in seconds.
        case seconds(TimeInterval)
        /// The given number of seconds before the first retry, twice that before the second, and so on.
        case accumulated(TimeInterval)
        /// Seconds from the number of retries made before.
        case custom(block: @Sendable (_ retriedCount: Int) -> TimeInterval)
        /// `base` seconds before the first retry, `multiplier` times that before the second, and so on, at most
        /// `maximum` seconds. (Not in Kingfisher.)
        ///
        /// Each is longer or shorter by up to the fraction `jitter` of itself, at random, so that loads that failed
        /// together are not retried together. A `Retry-After` of the server makes the wait longer, but not longer than
        /// `maximum`.
        case exponential(
            base: TimeInterval = 1,
            multiplier: Double = 2,
            maximum: TimeInterval = 30,
            jitter: Double = 0.2
        )

        func timeInterval(for retriedCount: Int) -> TimeInterval {
            switch self {
            case .seconds(let seconds): seconds
            case .accumulated(let seconds): Double(retriedCount + 1) * seconds
            case .custom(let block): block(retriedCount)
            case .exponential(let base, let multiplier, let maximum, let jitter):
                Self.exponential(base * pow(multiplier, Double(retriedCount)), maximum: maximum, jitter: jitter)
            }
        }
    }

    /// How many retries are made at most.
    public let maxRetryCount: Int
    /// How long to wait before each.
    public let retryInterval: Interval
    let shouldRetry: @Sendable (KingfisherError) -> Bool
    let clock: any Clock<Duration>

    /// Creates a strategy.
    /// - Parameters:
    ///   - maxRetryCount: How many retries are made at most.
    ///   - retryInterval: How long to wait before each.
    ///   - shouldRetry: Which errors are worth a retry, on any thread; all errors of the response by default, a 404
    ///     among them. It is not asked about cancelled loads and networks to save data on, which are never retried.
    ///   - clock: Measures the waits; tests set one by hand.
    public init(
        maxRetryCount: Int,
        retryInterval: Interval = .seconds(3),
        shouldRetry: @escaping @Sendable (KingfisherError) -> Bool = {
            if case .responseError = $0 { true } else { false }
        },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.maxRetryCount = maxRetryCount
        self.retryInterval = retryInterval
        self.shouldRetry = shouldRetry
        self.clock = clock
    }

    /// Retries the errors that the strategy was made for until the limit is reached.
    ///
    /// By default these are errors of the response (statuses, broken connections).
    /// - Parameters:
    ///   - context: The load that failed.
    ///   - retryHandler: Called with the decision; at once when the interval is zero.
    public func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
        plan(for: context).call(retryHandler, on: clock)
    }

    /// The async form of ``retry(context:retryHandler:)``: when its task is cancelled, it stops waiting and gives up.
    ///
    /// - Parameter context: What failed.
    /// - Returns: The decision, after the interval.
    public func decision(for context: RetryContext) async -> RetryDecision {
        await plan(for: context).decision(on: clock)
    }

    private func plan(for context: RetryContext) -> RetryPlan {
        let (error, count) = (context.error, context.retriedCount)
        guard count < maxRetryCount, !error.isCancelled, !error.isLowDataModeConstrained, shouldRetry(error) else {
            return .stop
        }
        return .retry(after: retryInterval.timeInterval(for: count, after: error))
    }
}
