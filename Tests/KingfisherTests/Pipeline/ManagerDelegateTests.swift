// The manager's delegate: what it is asked, and when.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ManagerDelegateTests {
    /// A delegate that records what it is asked, and follows two rules.
    private final class Rules: KingfisherManagerDelegate {
        let downloads = Box<[String]>([])
        let failures = Box<[Int]>([])
        let mayDownload: @Sendable (URL?) -> Bool
        let blocks: @Sendable (KingfisherError) -> Bool

        init(
            mayDownload: @escaping @Sendable (URL?) -> Bool = { _ in true },
            blocks: @escaping @Sendable (KingfisherError) -> Bool = { $0.isPermanent }
        ) { (self.mayDownload, self.blocks) = (mayDownload, blocks) }

        func manager(
            _ manager: KingfisherManager,
            shouldDownload source: Source,
            options: KingfisherParsedOptionsInfo
        ) -> Bool {
            downloads.change { $0.append(source.url?.path ?? "") }
            return mayDownload(source.url)
        }

        func manager(_ manager: KingfisherManager, shouldBlock url: URL, after error: KingfisherError) -> Bool {
            failures.change { $0.append(error.errorCode) }
            return blocks(error)
        }
    }

    private final class Silent: KingfisherManagerDelegate {}

    private func code(_ rig: Rig, _ source: Source, _ options: KingfisherOptionsInfo = []) async -> Int? {
        await failure { try await rig.manager.retrieveImage(with: source, options: options) }?.errorCode
    }

    @Test("A refused download makes no request; cached images and providers are delivered without asking")
    func refusing() async throws {
        try await Rig.run { rig in
            let rules = Rules(mayDownload: { _ in false }), url = rig.server.url("/a")
            rig.manager.delegate = rules
            let error = await failure { try await rig.manager.retrieveImage(with: url) }
            guard case .requestError(.downloadRefused(let source)) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(source == .network(url) && error?.errorCode == 1102)
            #expect(rig.server.requests.isEmpty && rules.downloads.value == ["/a"])

            try await rig.cache.store(SampleImage.gradient(8, 8), forKey: url.cacheKey)
            #expect(await code(rig, .network(url)) == nil)
            rig.cache.clearMemoryCache()
            #expect(await code(rig, .network(url)) == nil)
            let provider = RawImageDataProvider(data: try SampleImage.png(8, 8), cacheKey: "raw")
            #expect(await code(rig, .provider(provider)) == nil)
            #expect(rules.downloads.value == ["/a"])
        }
    }

    @Test("After a refused source its alternatives are tried, each with its own permission")
    func alternatives() async throws {
        try await Rig.run { rig in
            rig.server.route("/b", .data(try SampleImage.png(8, 8)))
            let rules = Rules(mayDownload: { $0?.path == "/b" })
            rig.manager.delegate = rules
            let alternative = Source.network(rig.server.url("/b"))
            let options: KingfisherOptionsInfo = [.alternativeSources([alternative])]
            #expect(await code(rig, .network(rig.server.url("/a")), options) == nil)
            #expect(rules.downloads.value == ["/a", "/b"] && rig.server.requests.map(\.path) == ["/b"])
        }
    }

    @Test("A prefetcher's downloads may be refused") func prefetching() async throws {
        try await Rig.run { rig in
            let rules = Rules(mayDownload: { _ in false }), source = Source.network(rig.server.url("/a"))
            rig.manager.delegate = rules
            let prefetcher = ImagePrefetcher(sources: [source], options: rig.prefetching, manager: rig.manager)
            #expect(await prefetcher.prefetch().failed.map(\.error.errorCode) == [1102])
            #expect(rig.server.requests.isEmpty && rules.downloads.value == ["/a"])
        }
    }

    @Test("The delegate decides which failures block, of loads that skip failed URLs only")
    func blocking() async throws {
        try await Rig.run { rig in
            rig.server.route("/500", .status(500))
            let rules = Rules(blocks: { $0.isInvalidResponseStatusCode(500) })
            rig.manager.delegate = rules
            let (missing, broken) = (Source.network(rig.server.url("/404")), Source.network(rig.server.url("/500")))
            #expect(await code(rig, broken) == 2002)
            #expect(rules.failures.value.isEmpty)
            for _ in 0..<2 { #expect(await code(rig, missing, [.skipFailedURLs]) == 2002) }
            #expect(await code(rig, broken, [.skipFailedURLs]) == 2002)
            #expect(await code(rig, broken, [.skipFailedURLs]) == 1101)
            #expect(rules.failures.value == [2002, 2002, 2002])
        }
    }

    @Test("The delegate is not asked about cancelled loads, refused downloads and misses in a cache")
    func notAsked() async throws {
        try await Rig.run { rig in
            let rules = Rules(mayDownload: { $0?.path != "/refused" }, blocks: { _ in true }), gate = Gate()
            rig.manager.delegate = rules
            rig.server.route("/a", TestResponse.status(404).with { $0.gate = gate })
            let load = Task { await code(rig, .network(rig.server.url("/a")), [.skipFailedURLs]) }
            await rig.server.waitForRequests(to: "/a")
            load.cancel()
            #expect(await load.value == 1003)
            gate.open()
            #expect(await code(rig, .network(rig.server.url("/refused")), [.skipFailedURLs]) == 1102)
            #expect(await code(rig, .network(rig.server.url("/b")), [.skipFailedURLs, .onlyFromCache]) == 3006)
            #expect(rules.failures.value.isEmpty && rig.manager.failedURLs == nil)
        }
    }

    @Test("A delegate without methods changes nothing, and is not retained") func defaults() async throws {
        try await Rig.run { rig in
            var silent: Silent? = Silent()
            rig.manager.delegate = silent
            #expect(rig.manager.delegate === silent)
            let source = Source.network(rig.server.url("/a"))
            #expect(await code(rig, source, [.skipFailedURLs]) == 2002)
            #expect(await code(rig, source, [.skipFailedURLs]) == 1101)
            silent = nil
            #expect(rig.manager.delegate == nil)
        }
    }
}
