// `KF.url(…)` without a view.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct BuilderTests {
    @Test func aBuilderLoadsWithItsOptions() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try Picture.png()))
            let result = try await KF.url(rig.server.url("/a.png"), cacheKey: "mine")
                .targetCache(rig.cache).downsampling(size: CGSize(width: 16, height: 16)).waitForCache().retrieve()
            #expect(result.image.pixelWidth == 16)
            let processor = DownsamplingImageProcessor(size: CGSize(width: 16, height: 16))
            #expect(rig.cache.isCached(forKey: "mine", processorIdentifier: processor.identifier))
        }
    }

    @Test func handlersAreToldOfTheOutcome() async throws {
        try await Rig.run { rig in
            let good = Promise<Int>(), bad = Promise<Int>()
            KF.data(try Picture.png(), cacheKey: "data").targetCache(rig.cache).callbackQueue(.untouch)
                .onSuccess { good.keep($0.image.pixelWidth) }.start()
            KF.data(Data("no".utf8), cacheKey: "no").targetCache(rig.cache).callbackQueue(.untouch)
                .onFailure { bad.keep($0.errorCode) }.start()
            #expect(await good.value == 64)
            #expect(await bad.value == 4001)
        }
    }

    @Test("IV01: no source is an error of its own")
    func withoutASourceThereIsNothingToLoad() async {
        #expect(await failure { try await KF.url(nil).retrieve() }?.errorCode == 5001)
        let code = Box(0)
        let task = KF.source(nil).callbackQueue(.untouch).onFailure { code.value = $0.errorCode }.start()
        #expect(task == nil && code.value == 5001)
    }
}
