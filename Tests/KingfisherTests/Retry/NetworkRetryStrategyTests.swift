// Retries that wait for a network.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct NetworkRetryStrategyTests {
    private let clock = ManualClock()

    private func strategy(
        _ monitor: FakeNetworkMonitor,
        timeout: TimeInterval? = 30,
        maxRetryCount: Int = 3
    ) -> NetworkRetryStrategy {
        NetworkRetryStrategy(
            timeoutInterval: timeout,
            networkMonitor: monitor,
            maxRetryCount: maxRetryCount,
            clock: clock
        )
    }

    private func context(_ error: KingfisherError = Failure.connection, count: Int = 0) -> RetryContext {
        RetryContext(source: Failure.source, error: error, retriedCount: count)
    }

    @Test("With a network the first retry is made at once and carries nothing")
    func connected() {
        let monitor = FakeNetworkMonitor(isConnected: true)
        #expect(strategy(monitor).immediateDecision(for: context())?.isPlainRetry == true)
        #expect(monitor.observers.isEmpty)
    }

    @Test("With a network later retries are made after one, two and four seconds, give or take a fifth")
    func growingWaits() async {
        let strategy = strategy(FakeNetworkMonitor(isConnected: true), maxRetryCount: 4)
        for (count, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0)] {
            let decision = Promise<RetryDecision>()
            strategy.retry(context: context(count: count)) { decision.fulfil($0) }
            await clock.waitForSleepers()
            clock.advance(by: .seconds(seconds * 0.79))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(seconds * 0.42))
            #expect(await decision.value.isPlainRetry)
        }
        #expect(strategy.immediateDecision(for: context(count: 4))?.isStop == true)
    }

    @Test("Nothing is retried that fails again with any network, nor more often than allowed")
    func stops() {
        for isConnected in [true, false] {
            let strategy = strategy(FakeNetworkMonitor(isConnected: isConnected), maxRetryCount: 2)
            let errors = [
                Failure.status(404), Failure.transfer(.serverCertificateUntrusted), Failure.transfer(.cancelled),
                .requestError(reason: .asyncTaskContextCancelled), .cacheError(reason: .imageNotExisting(key: "k")),
            ]
            for error in errors { #expect(strategy.immediateDecision(for: context(error))?.isStop == true, "\(error)") }
            #expect(strategy.immediateDecision(for: context(count: 2))?.isStop == true)
        }
    }

    @Test("A status that may pass is retried after a wait, whatever the monitor reports")
    func statuses() async {
        let monitor = FakeNetworkMonitor(isConnected: false)
        let decision = Promise<RetryDecision>()
        strategy(monitor).retry(context: context(Failure.status(503, ["Retry-After": "9"]))) { decision.fulfil($0) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(8))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(await decision.value.isPlainRetry)
        #expect(monitor.observers.isEmpty)
    }

    @Test("Without a network the retry waits for one, and carries the observer", arguments: [false, true])
    func waitsForNetwork(reportsAtOnce: Bool) async {
        let monitor = FakeNetworkMonitor(isConnected: false, reportsAtOnce: reportsAtOnce)
        let decision = Promise<RetryDecision>(), context = context(), calls = Counter()
        strategy(monitor, timeout: 12).retry(context: context) {
            calls.add()
            decision.fulfil($0)
        }
        let observer = await monitor.first.value
        #expect(observer.timeoutInterval == 12 && context.userInfo as? FakeNetworkMonitor.Observer === observer)
        #expect((decision.valueIfFulfilled == nil) != reportsAtOnce)
        observer.report(true)
        #expect(await decision.value.observer === observer)
        #expect(calls.value == 1)
    }

    @Test("When there is no network in time, nothing is retried")
    func timeout() async {
        let monitor = FakeNetworkMonitor(isConnected: false)
        let decision = Promise<RetryDecision>()
        strategy(monitor, timeout: nil).retry(context: context()) { decision.fulfil($0) }
        let observer = await monitor.first.value
        #expect(observer.timeoutInterval == nil)
        observer.report(false)
        #expect(await decision.value.isStop)
    }

    @Test("Another consultation with the same context ends the first wait, whose handler is not called")
    func secondConsultation() async {
        let monitor = FakeNetworkMonitor(isConnected: false)
        let strategy = strategy(monitor), context = context()
        let first = Promise<RetryDecision>(), second = Promise<RetryDecision>()
        strategy.retry(context: context) { first.fulfil($0) }
        strategy.retry(context: context) { second.fulfil($0) }
        #expect(monitor.observers.map(\.isCancelled) == [true, false])
        for observer in monitor.observers { observer.report(true) }
        #expect(await second.value.observer === monitor.observers[1])
        #expect(first.valueIfFulfilled == nil)
    }

    @Test("A load that fails without a network succeeds once there is one")
    func loads() async throws {
        try await Rig.run { rig in
            let reset = TestResponse.status(200).with { $0.interruption = .resetBeforeHead }
            rig.server.route("/a", sequence: [reset, .data(try SampleImage.png())])
            let monitor = FakeNetworkMonitor(isConnected: false)
            let (url, manager) = (rig.server.url("/a"), rig.manager)
            let options: KingfisherOptionsInfo = [.retryStrategy(strategy(monitor))]
            let load = Task { try await manager.retrieveImage(with: url, options: options) }
            let observer = await monitor.first.value
            #expect(rig.server.count("/a") == 1)
            observer.report(true)
            #expect(try await load.value.cacheType == .none)
            #expect(rig.server.count("/a") == 2)
        }
    }

    @Test("Cancelling a load ends its wait for a network and cancels the observer")
    func cancelledLoad() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", TestResponse.status(200).with { $0.interruption = .resetBeforeHead })
            let monitor = FakeNetworkMonitor(isConnected: false)
            let (url, manager) = (rig.server.url("/a"), rig.manager)
            let options: KingfisherOptionsInfo = [.retryStrategy(strategy(monitor, timeout: nil))]
            let load = Task { await failure { try await manager.retrieveImage(with: url, options: options) } }
            let observer = await monitor.first.value
            load.cancel()
            #expect(await load.value?.isCancelled == true)
            await observer.cancelled.value
            observer.report(true)
            #expect(rig.server.count("/a") == 1)
        }
    }
}
