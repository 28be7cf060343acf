// Retry strategies as async functions, and how the pipeline asks any strategy. For loads that failed.

import Foundation
import KFSupport

/// Decides in an async function whether a failed load is tried again.
///
/// ```swift
/// struct OnceSignedIn: AsyncRetryStrategy {
///     let session: Session
///     func decision(for context: RetryContext) async -> RetryDecision {
///         guard context.retriedCount == 0, context.error.isInvalidResponseStatusCode(401) else { return .stop }
///         return await session.signIn() ? .retry(userInfo: nil) : .stop
///     }
/// }
/// ```
public protocol AsyncRetryStrategy: RetryStrategy {
    /// Decides about one failure.
    ///
    /// It runs in a task of its own, which is cancelled with the load. Then the load ends at once, whatever is returned
    /// later.
    /// - Parameter context: The source, its latest failure and the number of retries.
    /// - Returns: Whether to try again.
    func decision(for context: RetryContext) async -> RetryDecision
}

extension AsyncRetryStrategy {
    /// The form with a handler: calls ``decision(for:)`` in a new task.
    public func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
        Task { retryHandler(await decision(for: context)) }
    }
}

extension RetryStrategy {
    /// The strategy's first decision.
    ///
    /// A cancelled task stops waiting for it and gives up.
    func firstDecision(for context: RetryContext) async -> RetryDecision {
        let decision = Promise<RetryDecision>()
        let task = (self as? any AsyncRetryStrategy).map { strategy in
            Task { _ = decision.fulfil(await strategy.decision(for: context)) }
        }
        if task == nil { retry(context: context) { decision.fulfil($0) } }
        return await decision.value {
            decision.fulfil(.stop)
            task?.cancel()
        }
    }
}

/// What a strategy does next, when only time decides.
enum RetryPlan {
    case stop
    /// A retry after so many seconds; at once if there are none.
    case retry(after: TimeInterval)

    /// The decision, if nothing is to be waited for.
    var immediate: RetryDecision? {
        switch self {
        case .stop: .stop
        case .retry(let seconds): seconds > 0 ? nil : .retry(userInfo: nil)
        }
    }

    /// The decision, after the wait; to stop when the task is cancelled while it waits.
    func decision(on clock: any Clock<Duration>) async -> RetryDecision {
        if let immediate { return immediate }
        guard case .retry(let seconds) = self else { return .stop }
        do {
            try await clock.sleep(for: Duration(clampingSeconds: seconds))
            return .retry(userInfo: nil)
        } catch {
            return .stop
        }
    }

    /// Calls the handler with the decision: before this returns if nothing is to be waited for.
    func call(_ handler: @escaping @Sendable (RetryDecision) -> Void, on clock: any Clock<Duration>) {
        if let immediate { return handler(immediate) }
        Task { handler(await decision(on: clock)) }
    }
}
