// Chains of processors that begin alike run their common beginning once.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct SharedPrefixTests {
    private let url = "/a.png"

    /// Loads an image with several processors at the same time; returns the errors.
    private func load(_ rig: Rig, _ processors: [any ImageProcessor]) async throws -> [KingfisherError] {
        let gate = Gate()
        rig.server.route(url, TestResponse(body: try SampleImage.png()).with { $0.gate = gate })
        async let outcomes = withTaskGroup(of: KingfisherError?.self) { group in
            for processor in processors {
                group.addTask {
                    await failure {
                        try await rig.manager.retrieveImage(
                            with: rig.server.url(url),
                            options: [.processor(processor), .waitForCache]
                        )
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        func subscribers() -> Int { rig.manager.loads.all.reduce(0) { $0 + $1.subscribers.count } }
        while subscribers() < processors.count { await Task.yield() }
        // Loads with one key are one subscriber of the transfer.
        let (transfers, count) = (rig.manager.downloader.loader.transfers, Set(processors.map(\.identifier)).count)
        while transfers.all.first?.subscribers.count ?? 0 < count { await Task.yield() }
        gate.open()
        let errors = await outcomes
        #expect(rig.server.count(url) == 1)
        return errors.compactMap(\.self)
    }

    @Test("Of two chains that begin alike the beginning runs once") func beginning() async throws {
        try await Rig.run { rig in
            let (one, two, three) = (CountingProcessor("1"), CountingProcessor("2"), CountingProcessor("3"))
            let all = CompositionImageProcessor([one, two, three])
            let errors = try await load(rig, [one, one |> two, all, one |> three])
            #expect(errors.isEmpty)
            #expect(one.runs.value == 1 && two.runs.value == 1 && three.runs.value == 2)
            for identifier in ["1", "1|>2", "1|>2|>3", "1|>3"] {
                let key = rig.server.url(url).cacheKey
                #expect(rig.cache.isCached(forKey: key, processorIdentifier: identifier), "\(identifier)")
            }
        }
    }

    @Test("A beginning that fails, fails each chain, with the chain in its error") func failing() async throws {
        try await Rig.run { rig in
            let (bad, good) = (CountingProcessor("bad", fails: true), CountingProcessor("good"))
            let errors = try await load(rig, [bad, bad |> good])
            #expect(bad.runs.value == 1 && good.runs.value == 0)
            let identifiers = errors.compactMap { error -> String? in
                guard case .processorError(.processingFailed(let processor, .data)) = error else { return nil }
                return processor.identifier
            }
            #expect(identifiers.sorted() == ["bad", "bad|>good"])
        }
    }

    @Test("A chain with the default processor in it ends") func defaultProcessor() async throws {
        try await Rig.run { rig in
            let one = CountingProcessor("1")
            let plain = DefaultImageProcessor.default
            let errors = try await load(rig, [one |> plain, plain |> one])
            #expect(errors.isEmpty)
            #expect(one.runs.value == 1)
        }
    }
}
