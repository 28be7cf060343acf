// The retry strategy: when a failed load is tried again.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct RetryStrategyTests {
    private let source = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "k"))
    private let failure = KingfisherError.responseError(reason: .URLSessionError(error: URLError(.timedOut)))

    @Test("The pause depends on the interval and the number of retries")
    func intervals() {
        #expect((0...3).map { DelayRetryStrategy.Interval.seconds(10).timeInterval(for: $0) } == [10, 10, 10, 10])
        #expect((0...3).map { DelayRetryStrategy.Interval.accumulated(3).timeInterval(for: $0) } == [3, 6, 9, 12])
        let custom = DelayRetryStrategy.Interval.custom { TimeInterval($0 * 2) }
        #expect((0...3).map { custom.timeInterval(for: $0) } == [0, 2, 4, 6])
    }

    private func decision(_ strategy: DelayRetryStrategy, _ error: KingfisherError, count: Int) -> RetryDecision? {
        let decision = Promise<RetryDecision>()
        strategy.retry(context: RetryContext(source: source, error: error, retriedCount: count)) { decision.fulfil($0) }
        return decision.valueIfFulfilled
    }

    @Test(
        "The delay strategy stops at the limit, for cancellations and for errors other than response errors"
    )
    func delayStrategyStops() {
        let strategy = DelayRetryStrategy(maxRetryCount: 2, retryInterval: .seconds(0))
        guard case .retry(let info)? = decision(strategy, failure, count: 1) else {
            return #expect(Bool(false), "an interval of zero retries at once")
        }
        #expect(info == nil)
        guard case .stop? = decision(strategy, failure, count: 2),
            case .stop? = decision(strategy, .requestError(reason: .asyncTaskContextCancelled), count: 0),
            case .stop? = decision(strategy, .cacheError(reason: .imageNotExisting(key: "k")), count: 0)
        else { return #expect(Bool(false), "none of these is worth a retry") }
    }

    @Test("A wait for a retry ends when its task is cancelled")
    func cancelledWait() async {
        struct Silent: RetryStrategy {
            func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {}
        }
        let context = RetryContext(source: source, error: failure)
        let waiting = Task { await Silent().firstDecision(for: context) }
        waiting.cancel()
        guard case .stop = await waiting.value else {
            return #expect(Bool(false), "the wait should have ended with stop")
        }
    }

    @Test("A second decision of a strategy is ignored")
    func secondDecision() async {
        struct Fickle: RetryStrategy {
            func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                retryHandler(.stop)
                retryHandler(.retry(userInfo: nil))
            }
        }
        guard case .stop = await Fickle().firstDecision(for: RetryContext(source: source, error: failure)) else {
            return #expect(Bool(false), "the first decision was to stop")
        }
    }
}
