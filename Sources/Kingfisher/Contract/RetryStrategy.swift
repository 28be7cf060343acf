// The protocol that decides whether a failed load is tried again, and a strategy with delays.

public import Foundation
import KFSupport

/// A failed load, as a retry strategy sees it.
public final class RetryContext: Sendable {
    private struct State: Sendable {
        var retriedCount = 0
        var userInfo: (any Sendable)?
    }

    /// The source that was loaded.
    public let source: Source
    /// Why the last attempt failed.
    public let error: KingfisherError
    private let state: Locked<State>

    /// How many retries were made before.
    public var retriedCount: Int {
        get { state.withLock { $0.retriedCount } }
        set { state.withLock { $0.retriedCount = newValue } }
    }

    /// The value of the strategy's last ``RetryDecision/retry(userInfo:)``.
    public var userInfo: (any Sendable)? { state.withLock { $0.userInfo } }

    init(source: Source, error: KingfisherError, retriedCount: Int = 0, userInfo: (any Sendable)? = nil) {
        self.source = source
        self.error = error
        state = Locked(State(retriedCount: retriedCount, userInfo: userInfo))
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
public struct DelayRetryStrategy: RetryStrategy {
    /// How long to wait before a retry.
    public enum Interval: Sendable {
        /// Always the same, in seconds.
        case seconds(TimeInterval)
        /// The given number of seconds before the first retry, twice that before the second, and so on.
        case accumulated(TimeInterval)
        /// Seconds from the number of retries made before.
        case custom(block: @Sendable (_ retriedCount: Int) -> TimeInterval)

        func timeInterval(for retriedCount: Int) -> TimeInterval {
            switch self {
            case .seconds(let seconds): seconds
            case .accumulated(let seconds): Double(retriedCount + 1) * seconds
            case .custom(let block): block(retriedCount)
            }
        }
    }

    /// How many retries are made at most.
    public let maxRetryCount: Int
    /// How long to wait before each.
    public let retryInterval: Interval

    /// Creates a strategy.
    /// - Parameters:
    ///   - maxRetryCount: How many retries are made at most.
    ///   - retryInterval: How long to wait before each.
    public init(maxRetryCount: Int, retryInterval: Interval = .seconds(3)) {
        self.maxRetryCount = maxRetryCount
        self.retryInterval = retryInterval
    }

    /// Retries errors of the response (statuses, broken connections) until the limit is reached, but not those of a
    /// network to save data on.
    /// - Parameters:
    ///   - context: The load that failed.
    ///   - retryHandler: Called with the decision; at once when the interval is zero.
    public func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
        guard context.retriedCount < maxRetryCount, !context.error.isCancelled,
            !context.error.isLowDataModeConstrained, case .responseError = context.error
        else { return retryHandler(.stop) }

        let seconds = retryInterval.timeInterval(for: context.retriedCount)
        guard seconds > 0 else { return retryHandler(.retry(userInfo: nil)) }
        Task {
            try? await Task.sleep(for: Duration(clampingSeconds: seconds))
            retryHandler(.retry(userInfo: nil))
        }
    }
}

extension RetryStrategy {
    /// The strategy's decision.
    ///
    /// A cancelled task stops waiting for it and gives up.
    func decision(for context: RetryContext) async -> RetryDecision {
        let decision = Promise<RetryDecision>()
        retry(context: context) { decision.fulfil($0) }
        return await withTaskCancellationHandler {
            await decision.value
        } onCancel: {
            decision.fulfil(.stop)
        }
    }
}
