// What a load is to do, and that it does it in the order of the calls.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LoadPlanTests {
    @Test("The download that a view keeps is one from the network: an alternative of another kind is not stored")
    func keptDownload() {
        var options = KingfisherParsedOptionsInfo([.processor(CountingProcessor())])
        options.load.keepsDownload = true
        let provider = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "a"))
        #expect(LoadPlan(.network(fakeURL), options).layersToStoreForOriginal == .disk)
        #expect(LoadPlan(provider, options).layersToStoreForOriginal == [])
        options.originalStoreCacheLayers = .memory
        #expect(LoadPlan(.network(fakeURL), options).layersToStoreForOriginal == .memory)
        options.processor = DefaultImageProcessor.default
        #expect(LoadPlan(.network(fakeURL), options).layersToStoreForOriginal == [])
    }

    @Test("A load that began before an image was removed finds it, and does not bring it back")
    func removedMeanwhile() async throws {
        try await Rig.run { rig in
            for number in 0..<50 {
                let url = rig.server.url("/\(number)")
                try await rig.cache.storeToDisk(try SampleImage.png(), forKey: url.cacheKey)
                let outcome = Promise<Result<RetrieveImageResult, KingfisherError>>()
                rig.manager.retrieveImage(with: url, options: [.onlyFromCache]) { outcome.fulfil($0) }
                let removed = Promise<Void>()
                rig.cache.removeImage(forKey: url.cacheKey) { removed.fulfil(()) }
                #expect(try await outcome.value.get().cacheType == .disk)
                await removed.value
                #expect(!rig.cache.isCached(forKey: url.cacheKey))
            }
        }
    }

    @Test("Bytes are prefetched from their own source, whatever the options processor names beside it")
    func prefetchedBytes() async throws {
        try await Rig.run { rig in
            rig.server.route("/b", .data(try SampleImage.png()))
            let (url, other) = (rig.server.url("/a"), rig.server.url("/b"))
            rig.manager.optionsProcessor = AnyOptionsProcessor { options, _ in
                var options = options
                options.alternativeSources = [.network(other)]
                return options
            }
            let work = PrefetchWork(rig.prefetching, manager: rig.manager) { _ in }
            guard case .failed(let error) = await work.bytes(of: .network(url)) else {
                Issue.record("there is nothing at the URL")
                return
            }
            #expect(error.isInvalidResponseStatusCode(404))
            #expect(rig.server.count("/a") == 1 && rig.server.count("/b") == 0)
        }
    }
}
