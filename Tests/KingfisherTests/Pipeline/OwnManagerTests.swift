// Views, builders and prefetchers whose loads are those of a manager of the program's own.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct OwnManagerTests {
    @Test("Prefetchers, builders, descriptions and views load by the manager that is named, into its cache")
    func manager() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(5)
            let prefetcher = ImagePrefetcher(urls: [urls[0]], manager: rig.manager, callbackQueue: .untouch)
            #expect(await prefetcher.prefetch().completed.count == 1)
            #expect(try await KF.url(urls[1], manager: rig.manager).retrieve().cacheType == .none)
            #expect(KFImage(urls[2], manager: rig.manager).context.manager === rig.manager)
            #expect(KFImage.url(urls[2], manager: rig.manager).context.manager === rig.manager)
            let (view, item, button) = (KFCrossPlatformImageView(), Item(), KFCrossPlatformButton())
            for number in 2..<5 {
                let result = await withCheckedContinuation {
                    (continuation: CheckedContinuation<Result<RetrieveImageResult, KingfisherError>, Never>) in
                    let done: @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void = {
                        continuation.resume(returning: $0)
                    }
                    switch number {
                    case 2: view.kf.setImage(with: urls[2], manager: rig.manager, completionHandler: done)
                    case 3: item.kf.setImage(with: urls[3], manager: rig.manager, completionHandler: done)
                    default: button.kf.setImage(with: urls[4], manager: rig.manager, completionHandler: done)
                    }
                }
                _ = try result.get()
            }
            for url in urls {
                #expect(rig.cache.isCached(forKey: url.cacheKey), "\(url)")
                #expect(!ImageCache.default.isCached(forKey: url.cacheKey), "\(url)")
            }
        }
    }

    @Test("A coordinator prefetches by the manager that is named")
    func coordinator() async throws {
        try await Rig.run { rig in
            let urls = try rig.images(3)
            let coordinator = PrefetchCoordinator(window: 1, manager: rig.manager) { row in .network(urls[row]) }
            coordinator.visibleRows(0..<1)
            while !rig.cache.isCached(forKey: urls[1].cacheKey) { await Task.yield() }
            #expect(!ImageCache.default.isCached(forKey: urls[1].cacheKey))
        }
    }

    @Test("Cached files and requests are found by URL as by source")
    func encoded() async throws {
        try await Rig.run { rig in
            let (url, manager) = (try rig.images(1)[0], rig.manager)
            #expect(await manager.cachedEncoded(with: url) == nil)
            let made = try await manager.retrieveEncoded(with: url, options: [.waitForCache])
            #expect(await manager.cachedEncoded(with: url)?.checksum == made.checksum)
            #expect(manager.encodedInMemory(manager.encodedRequest(with: url))?.checksum == made.checksum)
        }
    }
}
