// What strategies get to know from one failure to the next, and waits that end early.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct RetryWaitTests {
    private let clock = ManualClock()

    private func delay(_ seconds: TimeInterval, count: Int = 3) -> DelayRetryStrategy {
        DelayRetryStrategy(
            maxRetryCount: count,
            retryInterval: .seconds(seconds),
            shouldRetry: { _ in true },
            clock: clock
        )
    }

    @Test("A source has one context, with its latest error and the count its strategy left")
    func oneContext() async throws {
        struct Strategy: RetryStrategy {
            let contexts = Box<[RetryContext]>([])
            let seen = Box<[String]>([])
            func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                let status = [500, 502, 404].first { context.error.isInvalidResponseStatusCode($0) } ?? 0
                let entry = "\(context.source.cacheKey.suffix(2)) \(status) \(context.retriedCount)"
                contexts.change { $0.append(context) }
                seen.change { $0.append(entry) }
                if status == 500 { context.retriedCount = 10 }
                retryHandler(status == 404 ? .stop : .retry(userInfo: nil))
            }
        }
        try await Rig.run { rig in
            rig.server.route("/a", sequence: [.status(500), .status(502), .status(404)])
            rig.server.route("/b", .status(404))
            let strategy = Strategy(), url = rig.server.url("/a")
            let options: KingfisherOptionsInfo = [
                .retryStrategy(strategy), .alternativeSources([.network(rig.server.url("/b"))]),
            ]
            let error = await failure { try await rig.manager.retrieveImage(with: url, options: options) }
            #expect(error?.errorCode == 5004)
            #expect(strategy.seen.value == ["/a 500 0", "/a 502 11", "/a 404 12", "/b 404 0"])
            let contexts = strategy.contexts.value
            #expect(contexts[0] === contexts[1] && contexts[1] === contexts[2] && contexts[2] !== contexts[3])
        }
    }

    @Test("A retry is made when the clock says so, not before")
    func waits() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", sequence: [.status(500), .data(try SampleImage.png())])
            let (url, manager) = (rig.server.url("/a"), rig.manager)
            let options: KingfisherOptionsInfo = [.retryStrategy(delay(10))]
            let load = Task { try await manager.retrieveImage(with: url, options: options) }
            await clock.waitForSleepers()
            clock.advance(by: .seconds(9))
            #expect(clock.sleeperCount == 1 && rig.server.count("/a") == 1)
            clock.advance(by: .seconds(1))
            #expect(try await load.value.cacheType == .none)
            #expect(rig.server.count("/a") == 2)
        }
    }

    @Test("Cancelling a task during the wait for a retry ends its load at once")
    func cancelledTask() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .status(500))
            let (url, manager) = (rig.server.url("/a"), rig.manager)
            let options: KingfisherOptionsInfo = [
                .retryStrategy(delay(10)), .alternativeSources([.network(rig.server.url("/b"))]),
            ]
            let load = Task { await failure { try await manager.retrieveImage(with: url, options: options) } }
            await clock.waitForSleepers()
            load.cancel()
            #expect(await load.value?.isCancelled == true)
            #expect(clock.sleeperCount == 0)
            #expect(rig.server.requests.map(\.path) == ["/a"])
        }
    }

    @Test("The handle of a load cancels it during the wait for a retry")
    func cancelledHandle() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .status(500))
            let ended = Promise<KingfisherError?>()
            let handle = rig.manager.retrieveImage(
                with: .network(rig.server.url("/a")),
                options: [.retryStrategy(delay(10))],
                completionHandler: { result in
                    if case .failure(let error) = result { ended.fulfil(error) } else { ended.fulfil(nil) }
                }
            )
            await clock.waitForSleepers()
            handle?.cancel()
            #expect(await ended.value?.isCancelled == true)
            #expect(clock.sleeperCount == 0 && rig.server.count("/a") == 1)
        }
    }

    @Test("An async strategy decides about retries, and carries values from one to the next")
    func asyncStrategy() async throws {
        struct Strategy: AsyncRetryStrategy {
            let infos = Box<[Int?]>([])
            func decision(for context: RetryContext) async -> RetryDecision {
                await Task.yield()
                let info = context.userInfo as? Int
                infos.change { $0.append(info) }
                return context.retriedCount < 2 ? .retry(userInfo: context.retriedCount) : .stop
            }
        }
        try await Rig.run { rig in
            let strategy = Strategy(), url = rig.server.url("/missing")
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.retryStrategy(strategy)])
            }
            #expect(error?.isInvalidResponseStatusCode(404) == true)
            #expect(strategy.infos.value == [nil, 0, 1])
        }
        // Its form with a handler.
        let (strategy, decision) = (Strategy(), Promise<RetryDecision>())
        let context = RetryContext(source: Failure.source, error: Failure.connection, retriedCount: 2)
        strategy.retry(context: context) { decision.fulfil($0) }
        #expect(await decision.value.isStop)
    }

    @Test("An async strategy's task is cancelled with the load, which does not wait for it")
    func cancelledAsyncStrategy() async throws {
        struct Stubborn: AsyncRetryStrategy {
            let isAsked = Promise<Void>()
            let isCancelled = Promise<Void>()
            let release = Promise<Void>()
            func decision(for context: RetryContext) async -> RetryDecision {
                isAsked.fulfil(())
                await withTaskCancellationHandler {
                    await release.value
                } onCancel: {
                    isCancelled.fulfil(())
                }
                return .retry(userInfo: nil)
            }
        }
        try await Rig.run { rig in
            rig.server.route("/a", .status(500))
            let strategy = Stubborn(), (url, manager) = (rig.server.url("/a"), rig.manager)
            let options: KingfisherOptionsInfo = [.retryStrategy(strategy)]
            let load = Task { await failure { try await manager.retrieveImage(with: url, options: options) } }
            await strategy.isAsked.value
            load.cancel()
            #expect(await load.value?.isCancelled == true)
            await strategy.isCancelled.value
            strategy.release.fulfil(())
            #expect(rig.server.count("/a") == 1)
        }
    }
}
