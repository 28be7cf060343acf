// Images of which a part is missing: they are delivered and marked, and not stored on disk.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct DamagedImageTests {
    /// How a download ends early without an error of HTTP.
    enum Cut: CaseIterable {
        case closedWithoutLength
        case lengthTooSmall

        func response(_ whole: Data) -> TestResponse {
            let count = whole.count * 7 / 10
            switch self {
            case .closedWithoutLength: return TestResponse.data(whole.prefix(count)).with { $0.framing = .untilClose }
            case .lengthTooSmall: return TestResponse.data(whole).with { $0.headers["Content-Length"] = "\(count)" }
            }
        }
    }

    private let processor = CountingProcessor("one")

    @Test(
        "A download that was cut short is delivered as damaged, and the next one replaces it",
        arguments: Cut.allCases
    )
    func notOnDisk(cut: Cut) async throws {
        for whole in [try SampleImage.jpeg(300, 200), try SampleImage.png(300, 200)] {
            try await Rig.run { rig in
                let url = rig.server.route("/a", cut.response(whole))
                let first = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
                #expect(first.image.isDamaged && first.image.pixelWidth == 300)
                #expect((try? first.cacheStoreResult?.diskCacheResult.get()) != nil)
                #expect(rig.files.isEmpty && rig.cache.imageCachedType(forKey: url.cacheKey) == .memory)

                rig.cache.clearMemoryCache()
                rig.server.route("/a", .data(whole))
                let second = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
                #expect(!second.image.isDamaged && second.cacheType == .none && rig.files.count == 1)
            }
        }
    }

    @Test(
        "Neither a damaged image nor its original is stored on disk, unless the option says so",
        arguments: [true, false]
    )
    func original(stores: Bool) async throws {
        try await Rig.run { rig in
            rig.server.route("/a", Cut.closedWithoutLength.response(try SampleImage.jpeg(300, 200)))
            var options: KingfisherOptionsInfo = [.processor(processor), .cacheOriginalImage, .waitForCache]
            if stores { options.append(.cacheDamagedImages) }
            _ = try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: options)
            #expect(rig.files.count == (stores ? 2 : 0))
        }
    }

    @Test("An image made of a damaged original on disk is not stored there") func madeOfOriginal() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a", Cut.closedWithoutLength.response(try SampleImage.jpeg(300, 200)))
            _ = try await rig.manager.retrieveImage(with: url, options: [.cacheDamagedImages, .waitForCache])
            rig.cache.clearMemoryCache()
            let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
            #expect(try await rig.manager.retrieveImage(with: url, options: options).image.isDamaged)
            #expect(rig.server.count("/a") == 1 && rig.files.count == 1)
        }
    }

    @Test("A refresh that is cut short leaves the whole image on disk") func refresh() async throws {
        try await Rig.run { rig in
            let (url, whole) = (rig.server.url("/a"), try SampleImage.jpeg(300, 200))
            rig.server.route("/a", .data(whole))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            rig.server.route("/a", Cut.lengthTooSmall.response(whole))
            let refreshed = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh, .waitForCache])
            #expect(refreshed.image.isDamaged)
            rig.cache.clearMemoryCache()
            let cached = try await rig.manager.retrieveImage(with: url, options: [.onlyFromCache])
            #expect(!cached.image.isDamaged && cached.cacheType == .disk)
        }
    }
}
