// Cache keys made of URLs: which loads share an entry and a download, and which keep their own keys.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct CacheKeyFilterTests {
    private let unsigned = QueryItemsCacheKeyFilter(removing: ["sig", "exp"])

    @Test(
        "Query items are left out by their names, and the rest of the URL stays as it is",
        arguments: [
            ("https://a.example/b?sig=1&w=3&exp=2", "https://a.example/b?w=3"),
            ("https://a.example/b?sig=1", "https://a.example/b"), ("https://a.example/b", "https://a.example/b"),
            ("https://a.example/b?sig&sig=", "https://a.example/b"),
            ("https://a.example/b?SIG=1&x=sig", "https://a.example/b?SIG=1&x=sig"),
            ("https://a.example/b#?sig=1", "https://a.example/b#?sig=1"),
            ("https://a.example/%C3%A4?q=%2B+%20&exp=%3D#f", "https://a.example/%C3%A4?q=%2B+%20#f"),
        ]
    )
    func queryItems(text: String, key: String) throws {
        #expect(unsigned.cacheKey(for: try #require(URL(string: text))) == key)
    }

    @Test("A signed URL shares the entry of its unsigned form; what is downloaded is the whole URL")
    func sharedEntry() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            rig.manager.cacheKeyFilter = unsigned
            let first = rig.server.url("/a?w=3&sig=1"), second = rig.server.url("/a?w=3&sig=2&exp=9")
            let result = try await rig.manager.retrieveImage(with: first, options: [.waitForCache])
            #expect(result.source == .network(first))
            #expect(rig.server.requests.map(\.query) == ["w=3&sig=1"])
            #expect(try await rig.manager.retrieveImage(with: second).cacheType == .memory)
            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: rig.server.url("/a?w=3")).cacheType == .disk)
            #expect(rig.cache.isCached(forKey: rig.server.url("/a?w=3").cacheKey))
            #expect(rig.server.requests.count == 1)
        }
    }

    @Test("Loads of URLs with one key share a download that is under way; without the filter they do not")
    func sharedLoad() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            for path in ["/a", "/b"] {
                rig.server.route(path, TestResponse.data(try SampleImage.png(8, 8)).with { $0.gate = gate })
            }
            func begin(_ path: String, _ options: KingfisherOptionsInfo) -> Task<CacheType, any Error> {
                let url = rig.server.url(path)
                return Task.immediate { try await rig.manager.retrieveImage(with: url, options: options).cacheType }
            }
            let tasks = [
                begin("/a?sig=1", [.cacheKeyFilter(unsigned)]), begin("/a?sig=2", [.cacheKeyFilter(unsigned)]),
                begin("/b?sig=1", []), begin("/b?sig=2", []),
            ]
            await rig.server.waitForRequests(2, to: "/b")
            gate.open()
            for task in tasks { #expect(try await task.value == .none) }
            #expect(rig.server.count("/a") == 1 && rig.server.count("/b") == 2)
        }
    }

    @Test("A resource with a key of its own keeps it, and so does a provider") func ownKeys() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            rig.manager.cacheKeyFilter = AnyCacheKeyFilter { _ in "filtered" }
            let resource = KF.ImageResource(downloadURL: rig.server.url("/a"), cacheKey: "mine")
            let provider = RawImageDataProvider(data: try SampleImage.png(8, 8), cacheKey: "raw")
            for source in [Source.network(resource), .provider(provider)] {
                _ = try await rig.manager.retrieveImage(with: source)
                #expect(rig.cache.memoryStorage.isCached(forKey: source.cacheKey))
            }
            #expect(!rig.cache.memoryStorage.isCached(forKey: "filtered"))
            _ = try await rig.manager.retrieveImage(with: rig.server.url("/a"))
            #expect(rig.cache.memoryStorage.isCached(forKey: "filtered"))
        }
    }

    @Test("The option counts more than the manager's filter") func option() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            rig.manager.cacheKeyFilter = AnyCacheKeyFilter { _ in "manager" }
            let options: KingfisherOptionsInfo = [.cacheKeyFilter(AnyCacheKeyFilter { _ in "option" })]
            _ = try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: options)
            #expect(rig.cache.memoryStorage.isCached(forKey: "option"))
            #expect(!rig.cache.memoryStorage.isCached(forKey: "manager"))
        }
    }

    @Test("The original of an image is kept under the filtered key, too") func originals() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png()))
            rig.manager.cacheKeyFilter = unsigned
            func load(_ path: String, blurring radius: CGFloat) async throws -> CacheType {
                let options: KingfisherOptionsInfo = [
                    .processor(BlurImageProcessor(blurRadius: radius)), .cacheOriginalImage, .waitForCache,
                ]
                return try await rig.manager.retrieveImage(with: rig.server.url(path), options: options).cacheType
            }
            #expect(try await load("/a?sig=1", blurring: 1) == .none)
            #expect(try await load("/a?sig=2", blurring: 2) == .none)
            #expect(rig.server.requests.count == 1)
        }
    }

    @Test("What is prefetched with one signature is found with another, as an image or as bytes")
    func prefetching() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            rig.manager.cacheKeyFilter = unsigned
            func prefetch(_ path: String) async -> PrefetchResult {
                await ImagePrefetcher(
                    sources: [.network(rig.server.url(path))],
                    options: rig.prefetching,
                    manager: rig.manager
                ).prefetch()
            }
            #expect(await prefetch("/a?sig=1").completed.count == 1)
            #expect(await prefetch("/a?sig=2").skipped.count == 1)
            #expect(try await rig.manager.retrieveImage(with: rig.server.url("/a?sig=3")).cacheType == .memory)
            #expect(rig.server.count("/a") == 1)

            rig.server.route("/b", .data(try SampleImage.png(8, 8)))
            let work = PrefetchWork(rig.prefetching, manager: rig.manager) { _ in }
            guard case .completed = await work.bytes(of: .network(rig.server.url("/b?sig=1"))),
                case .skipped = await work.bytes(of: .network(rig.server.url("/b?sig=2")))
            else { return #expect(Bool(false), "bytes were not stored under the filtered key") }
            #expect(rig.cache.isCached(forKey: rig.server.url("/b").cacheKey))
        }
    }
}
