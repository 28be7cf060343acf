// Retries and alternative sources of failed loads.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// Records its calls and returns decisions from a list.
private struct ScriptedStrategy: RetryStrategy {
    let decisions: [RetryDecision]
    let contexts = Box<[Consultation]>([])
    struct Consultation: Sendable {
        let count: Int
        let userInfo: Int?
    }
    func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
        let index = contexts.value.count
        let entry = Consultation(count: context.retriedCount, userInfo: context.userInfo as? Int)
        contexts.change { $0.append(entry) }
        retryHandler(index < decisions.count ? decisions[index] : .stop)
    }
}

@Suite struct RetryAndAlternativeTests {
    @Test("Retries are counted and carry the user information of the previous decision")
    func retryContexts() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a", .status(500))
            let strategy = ScriptedStrategy(decisions: [.retry(userInfo: 1), .retry(userInfo: 2), .stop])
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.retryStrategy(strategy)])
            }
            #expect(error?.errorCode == 2002)
            #expect(strategy.contexts.value.map(\.count) == [0, 1, 2])
            #expect(strategy.contexts.value.map(\.userInfo) == [nil, 1, 2])
            #expect(rig.server.count("/a") == 3)
        }
    }

    @Test("A load succeeds in its third attempt") func failsTwiceThenWorks() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", sequence: [.status(503), .status(503), .data(try SampleImage.png())])
            let strategy = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0))
            let result = try await rig.manager.retrieveImage(
                with: rig.server.url("/a"),
                options: [.retryStrategy(strategy)]
            )
            #expect(result.cacheType == .none)
            #expect(rig.server.count("/a") == 3)
        }
    }

    @Test("A result from an alternative source names both sources")
    func alternativesStandIn() async throws {
        try await Rig.run { rig in
            rig.server.route("/good", .data(try SampleImage.png()))
            let bad = Source.network(rig.server.url("/bad")), worse = Source.network(rig.server.url("/worse"))
            let good = Source.network(rig.server.url("/good"))
            let result = try await rig.manager.retrieveImage(with: bad, options: [.alternativeSources([worse, good])])
            #expect(result.source == good)
            #expect(result.originalSource == bad)
            #expect(rig.server.requests.map(\.path) == ["/bad", "/worse", "/good"])
        }
    }

    @Test("When all sources fail, the error names every source and error in order")
    func allAlternativesFail() async throws {
        try await Rig.run { rig in
            rig.server.route("/c", .data(Data("not an image, not at all".utf8)))
            let sources = ["/a", "/b", "/c"].map { Source.network(rig.server.url($0)) }
            let error = await failure {
                try await rig.manager.retrieveImage(
                    with: sources[0],
                    options: [.alternativeSources(Array(sources.dropFirst()))]
                )
            }
            let failures = try #require(error?.exhausted)
            #expect(failures.map(\.source) == sources)
            #expect(failures.map(\.error.errorCode) == [2002, 2002, 4001])
        }
    }

    @Test("Without alternatives the error of the source itself is delivered")
    func singleFailure() async throws {
        try await Rig.run { rig in
            let error = await failure { try await rig.manager.retrieveImage(with: rig.server.url("/nothing")) }
            #expect(error?.isInvalidResponseStatusCode(404) == true)
        }
    }

    @Test("A retry after a switch to an alternative retries the alternative, with a context of its own")
    func retryOfAlternative() async throws {
        try await Rig.run { rig in
            rig.server.route("/alternative", sequence: [.status(500), .data(try SampleImage.png())])
            let strategy = ScriptedStrategy(decisions: [.stop, .retry(userInfo: nil)])
            let source = Source.network(rig.server.url("/first"))
            let alternative = Source.network(rig.server.url("/alternative"))
            let result = try await rig.manager.retrieveImage(
                with: source,
                options: [.retryStrategy(strategy), .alternativeSources([alternative])]
            )
            #expect(result.source == alternative)
            #expect(strategy.contexts.value.map(\.count) == [0, 0])
            #expect(rig.server.requests.map(\.path) == ["/first", "/alternative", "/alternative"])
        }
    }

    @Test("A cancelled load calls no retry strategy and tries no alternative")
    func cancelledLoad() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a", TestResponse.status(500).with { $0.gate = gate })
            let strategy = ScriptedStrategy(decisions: [.retry(userInfo: nil)])
            let options: KingfisherOptionsInfo = [
                .retryStrategy(strategy), .alternativeSources([.network(rig.server.url("/b"))]),
            ]
            let url = rig.server.url("/a")
            let task = Task { await failure { try await rig.manager.retrieveImage(with: url, options: options) } }
            await rig.server.waitForRequests(to: "/a")
            task.cancel()
            #expect(await task.value?.isCancelled == true)
            #expect(strategy.contexts.value.isEmpty)
            #expect(rig.server.count("/b") == 0)
            gate.open()
        }
    }

    @Test("A load that is cancelled when its source has failed ends as cancelled, with alternatives or without")
    func cancelledAfterFailure() async throws {
        /// Cancels a load whose source has failed, before anything else comes of that.
        final class Cancelling: KingfisherManagerDelegate {
            let task = Box<DownloadTask?>(nil)
            func manager(_ manager: KingfisherManager, shouldBlock url: URL, after error: KingfisherError) -> Bool {
                task.value?.cancel()
                return true
            }
        }
        try await Rig.run { rig in
            let (delegate, other) = (Cancelling(), rig.server.url("/other"))
            rig.manager.delegate = delegate
            let extras: [KingfisherOptionsInfo] = [[], [.alternativeSources([.network(other)])]]
            for (number, more) in extras.enumerated() {
                let (gate, end) = (Gate(), Promise<KingfisherError?>())
                rig.server.route("/\(number)", TestResponse.status(404).with { $0.gate = gate })
                delegate.task.value = rig.manager.retrieveImage(
                    with: rig.server.url("/\(number)"),
                    options: [.skipFailedURLs] + more
                ) { result in
                    if case .failure(let error) = result { end.fulfil(error) } else { end.fulfil(nil) }
                }
                gate.open()
                let error = await end.value
                #expect(error?.isCancelled == true, "\(String(describing: error))")
            }
            #expect(rig.server.count("/other") == 0)
            withExtendedLifetime(delegate) {}
        }
    }

    @Test("The task of an alternative is reported before the completion, that of the first source is not")
    func reportedReplacements() async throws {
        try await Rig.run { rig in
            rig.server.route("/b", .data(try SampleImage.png()))
            let events = Box<[String]>([]), done = Promise<Void>()
            let alternative = Source.network(rig.server.url("/b"))
            rig.manager.retrieveImage(
                with: .network(rig.server.url("/a")),
                options: [.alternativeSources([alternative])],
                downloadTaskUpdated: { task in events.change { $0.append(task == nil ? "nil" : "task") } },
                completionHandler: { _ in
                    events.change { $0.append("done") }
                    done.fulfil(())
                }
            )
            await done.value
            #expect(events.value == ["task", "done"])
        }
    }

    @Test("For an alternative from a provider a task is reported, and for one from the cache nil")
    func otherReplacements() async throws {
        try await Rig.run { rig in
            let provider = Source.provider(RawImageDataProvider(data: try SampleImage.png(), cacheKey: "raw"))
            for expected in [["task", "done"], ["nil", "done"]] {
                let events = Box<[String]>([]), done = Promise<Void>()
                rig.manager.retrieveImage(
                    with: .network(rig.server.url("/a")),
                    options: [.alternativeSources([provider])],
                    downloadTaskUpdated: { task in events.change { $0.append(task == nil ? "nil" : "task") } },
                    completionHandler: { _ in
                        events.change { $0.append("done") }
                        done.fulfil(())
                    }
                )
                await done.value
                #expect(events.value == expected)
            }
        }
    }
}
