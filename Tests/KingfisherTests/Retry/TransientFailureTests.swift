// Which failures may pass, and how long the waits before their retries are.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct TransientFailureTests {
    private func context(_ error: KingfisherError, count: Int = 0) -> RetryContext {
        RetryContext(source: Failure.source, error: error, retriedCount: count)
    }

    @Test("An exponential interval grows by its factor up to its maximum")
    func exponential() {
        let interval = DelayRetryStrategy.Interval.exponential(base: 1, multiplier: 2, maximum: 30, jitter: 0)
        #expect((0...6).map { interval.timeInterval(for: $0) } == [1, 2, 4, 8, 16, 30, 30])
        #expect(interval.timeInterval(for: 100_000) == 30)
        let odd = DelayRetryStrategy.Interval.exponential(base: -1, multiplier: 2, maximum: -3, jitter: -1)
        #expect(odd.timeInterval(for: 1) == 0)
    }

    @Test("An exponential interval varies by its jitter, a fifth if none is given, within its maximum")
    func jitter() {
        let interval = DelayRetryStrategy.Interval.exponential(base: 10)
        let waits = (0..<200).map { _ in interval.timeInterval(for: 0) }
        #expect(waits.allSatisfy { (8...12).contains($0) } && Set(waits).count > 1)
        let limited = (0..<200).map { _ in interval.timeInterval(for: 5) }
        #expect(limited.allSatisfy { (24...30).contains($0) })
    }

    @Test("A delay strategy retries what its rule says, but no cancelled load")
    func rules() {
        let only404 = DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0)) {
            $0.isCancelled || $0.isInvalidResponseStatusCode(404)
        }
        #expect(only404.immediateDecision(for: context(Failure.status(404)))?.isPlainRetry == true)
        #expect(only404.immediateDecision(for: context(Failure.status(500)))?.isStop == true)
        let cancelled = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        #expect(only404.immediateDecision(for: context(cancelled))?.isStop == true)
        let all = DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))
        #expect(all.immediateDecision(for: context(Failure.status(404)))?.isPlainRetry == true)
    }

    @Test("The transient strategy retries statuses that may pass, and no others")
    func statuses() {
        let strategy = DelayRetryStrategy.transient
        for status in [408, 425, 429, 500, 502, 503, 504, 599] {
            #expect(strategy.shouldRetry(Failure.status(status)), "\(status)")
        }
        for status in [204, 304, 400, 401, 403, 404, 410, 451, 600] {
            #expect(strategy.immediateDecision(for: context(Failure.status(status)))?.isStop == true, "\(status)")
        }
    }

    @Test("The transient strategy retries broken transfers, but not those that would fail again")
    func transfers() {
        let strategy = DelayRetryStrategy.transient
        for code in [URLError.Code.timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost, .unknown] {
            #expect(strategy.shouldRetry(Failure.transfer(code)), "\(code)")
        }
        for code in [URLError.Code.badURL, .unsupportedURL, .serverCertificateUntrusted, .cannotDecodeContentData] {
            #expect(strategy.immediateDecision(for: context(Failure.transfer(code)))?.isStop == true, "\(code)")
        }
        struct Own: Error {}
        #expect(strategy.shouldRetry(.responseError(reason: .URLSessionError(error: Own()))))
        let saving = TransportError.constrained(Failure.url).urlError
        #expect(!strategy.shouldRetry(.responseError(reason: .URLSessionError(error: saving))))
        #expect(!strategy.shouldRetry(.cacheError(reason: .imageNotExisting(key: "k"))))
        let atLimit = context(Failure.connection, count: 3)
        #expect(strategy.immediateDecision(for: atLimit)?.isStop == true)
    }

    @Test("No failure of a transfer is both transient and permanent, and none but a cancelled one is neither")
    func transfersHaveOneRecurrence() {
        // All codes of URLError lie in this range.
        let codes = (-4_000 ... -900).compactMap { URLError.Code(rawValue: $0) }
        #expect(codes.count > 40)
        for code in codes {
            let error = Failure.transfer(code)
            #expect(!(error.isTransient && error.isPermanent), "\(code)")
            #expect((error.isTransient || error.isPermanent) == (code != .cancelled), "\(code)")
        }
        for status in 100..<600 {
            let error = Failure.status(status)
            #expect(!(error.isTransient && error.isPermanent), "\(status)")
        }
    }

    @Test(
        "A Retry-After makes a wait longer, in seconds or as a date, up to the maximum",
        arguments: [
            ("7", nil, 7), ("0", nil, 1), ("120", nil, 30), ("soon", nil, 1), ("-5", nil, 1),
            ("Sun, 06 Nov 1994 08:49:57 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 20),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:57 GMT", 1),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, 1), ("Fri, 06 Nov 2999 08:49:37 GMT", nil, 30),
        ] as [(String, String?, TimeInterval)]
    )
    func retryAfter(field: String, date: String?, expected: TimeInterval) {
        let interval = DelayRetryStrategy.Interval.exponential(jitter: 0)
        var headers = ["retry-after": field]
        headers["Date"] = date
        for status in [429, 503, 500] {
            #expect(interval.timeInterval(for: 0, after: Failure.status(status, headers)) == expected)
        }
        #expect(DelayRetryStrategy.Interval.seconds(3).timeInterval(for: 0, after: Failure.status(503, headers)) == 3)
    }

    @Test("A date is compared with this machine's clock where the response has none")
    func retryAfterWithoutDate() throws {
        let instant = try #require(HTTPDate.date(from: "Sun, 06 Nov 1994 08:49:37 GMT"))
        let error = Failure.status(503, ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"])
        #expect(error.retryAfter(now: instant) == 10)
        #expect(Failure.status(503).retryAfter() == nil && Failure.connection.retryAfter() == nil)
    }

    @Test("The transient strategy waits on its clock for what the server requests")
    func waits() async {
        let clock = ManualClock()
        let strategy = DelayRetryStrategy.transient(on: clock)
        let decision = Promise<RetryDecision>()
        strategy.retry(context: context(Failure.status(503, ["Retry-After": "20"]))) { decision.fulfil($0) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(19))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(await decision.value.isPlainRetry)
    }

    @Test("The transient strategy is an option and a builder's value")
    func options() {
        let parsed = KingfisherParsedOptionsInfo([.retryStrategy(DelayRetryStrategy.transient)])
        #expect((parsed.retryStrategy as? DelayRetryStrategy)?.maxRetryCount == 3)
        let built = KF.url(Failure.url).retry(DelayRetryStrategy.transient).options.retryStrategy
        #expect(built is DelayRetryStrategy)
    }
}
