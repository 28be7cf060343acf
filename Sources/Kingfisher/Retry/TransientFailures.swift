// Failures that may pass, and how long to wait before a retry of them. For retry strategies.

import Foundation
import FoundationNetworking
import KFSupport

extension DelayRetryStrategy {
    /// Retries failures that may pass, three times at most: after one, two and four seconds, or when the server says.
    /// (Not in Kingfisher.)
    ///
    /// These are the statuses 408, 425, 429 and 5xx, and transfers that failed for a reason that may pass: not, for
    /// example, a certificate that is not trusted. Other statuses, such as 404, are not retried. The waits vary by a
    /// fifth, at random; a `Retry-After` of the response makes them longer, up to 30 seconds.
    public static let transient = transient(on: ContinuousClock())

    /// The same, with waits that a clock measures: tests set one by hand. (Not in Kingfisher.)
    public static func transient(on clock: any Clock<Duration>) -> DelayRetryStrategy {
        DelayRetryStrategy(
            maxRetryCount: 3,
            retryInterval: .exponential(),
            shouldRetry: { $0.isTransient },
            clock: clock
        )
    }
}

extension DelayRetryStrategy.Interval {
    /// The seconds to wait before the retry of this failure.
    func timeInterval(for retriedCount: Int, after error: KingfisherError) -> TimeInterval {
        let seconds = timeInterval(for: retriedCount)
        guard case .exponential(_, _, let maximum, _) = self, let requested = error.retryAfter() else { return seconds }
        return max(seconds, min(requested, maximum))
    }

    /// A wait that varies at random, within its limit.
    static func exponential(_ seconds: TimeInterval, maximum: TimeInterval, jitter: Double) -> TimeInterval {
        let limited = min(max(0, seconds), max(0, maximum))
        let spread = min(max(0, jitter), 1)
        return min(limited * .random(in: (1 - spread)...(1 + spread)), max(0, maximum))
    }
}

extension KingfisherError {
    /// Whether the same request may succeed later without a change of anything but the server or the network.
    package var isTransient: Bool { recurrence == .transient }

    /// Whether the server could not be reached, or did not respond.
    var isConnectionFailure: Bool {
        if case .responseError(.URLSessionError) = self { isTransient } else { false }
    }

    /// Whether the server responded that it is it that fails: 500, 502, 503, 504.
    var isServerFailure: Bool { [500, 502, 503, 504].contains { isInvalidResponseStatusCode($0) } }

    /// How many seconds the server asks to wait before another request, by its own clock if it says what that shows;
    /// nil if it does not.
    func retryAfter(now: Date = Date()) -> TimeInterval? {
        guard case .responseError(.invalidHTTPStatusCode(let response)) = self,
            let field = response.value(forHTTPHeaderField: "Retry-After")
        else { return nil }
        if let seconds = CacheControl.seconds(field) { return seconds }
        let sent = response.value(forHTTPHeaderField: "Date").flatMap(HTTPDate.date)
        return HTTPDate.date(from: field).map { max(0, $0.timeIntervalSince(sent ?? now)) }
    }
}
