// Builders of loads, such as `KF.url(…)`, without a view.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct BuilderTests {
    @Test("A builder loads with its options") func builderOptions() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let result = try await KF.url(rig.server.url("/a.png"), cacheKey: "mine")
                .targetCache(rig.cache).downsampling(size: CGSize(width: 16, height: 16)).waitForCache().retrieve()
            #expect(result.image.pixelWidth == 16)
            let processor = DownsamplingImageProcessor(size: CGSize(width: 16, height: 16))
            #expect(rig.cache.isCached(forKey: "mine", processorIdentifier: processor.identifier))
        }
    }

    @Test("Success and failure handlers are called with the result") func handlers() async throws {
        try await Rig.run { rig in
            let good = Promise<Int>(), bad = Promise<Int>()
            KF.data(try SampleImage.png(), cacheKey: "data").targetCache(rig.cache)
                .onSuccess { good.fulfil($0.image.pixelWidth) }.start()
            KF.data(Data("no".utf8), cacheKey: "no").targetCache(rig.cache)
                .onFailure { bad.fulfil($0.errorCode) }.start()
            #expect(await good.value == 64)
            #expect(await bad.value == 4001)
        }
    }

    private final class Counts: Sendable {
        let all = Box<[Int]>([])
    }

    @Test("A delegate's block and the last handler replace one another, and those of a copy are its own")
    @MainActor func delegates() async throws {
        let counts = Counts()
        let first = KF.source(nil).onFailure { _ in counts.all.change { $0.append(1) } }
        let second = first.forceRefresh()
        second.onFailureDelegate.delegate(on: counts) { counts, error in
            counts.all.change { $0.append(error.errorCode) }
        }
        first.start()
        second.start()
        second.onFailure(nil).start()
        second.onFailure { _ in counts.all.change { $0.append(2) } }.start()
        #expect(counts.all.value == [1, 5001, 2] && !first.onProgressDelegate.isSet)
    }

    @Test("A redirect block is given the redirect, and follows the request it answers with") func redirects()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/from", .redirect(to: "/to"))
            rig.server.route("/to", .data(try SampleImage.png()))
            let statuses = Box<[Int]>([])
            let result = try await KF.url(rig.server.url("/from"))
                .targetCache(rig.cache).downloader(rig.manager.downloader)
                .redirectHandler { payload in
                    statuses.change { $0.append(payload.response.statusCode) }
                    var request = payload.newRequest
                    request.setValue("\(payload.task.originalURL?.path ?? "")", forHTTPHeaderField: "X-From")
                    payload.completionHandler(request)
                }.retrieve()
            #expect(result.image.pixelWidth == 64 && statuses.value == [302])
            #expect(rig.server.lastRequest("/to")?.header("X-From") == "/from")
        }
    }

    @Test("A missing source is an error of its own")
    @MainActor func noSource() async {
        #expect(await failure { try await KF.url(nil).retrieve() }?.errorCode == 5001)
        let code = Box(0)
        let task = KF.source(nil).onFailure { code.value = $0.errorCode }.start()
        #expect(task == nil && code.value == 5001)
    }
}
