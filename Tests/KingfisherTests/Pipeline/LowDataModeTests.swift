// Low data mode: the loads that use their low data source on a constrained network, and those that do not.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LowDataModeTests {
    private struct Sources {
        let big: Source
        let small: Source

        init(_ rig: Rig) throws {
            rig.server.route("/big", .data(try SampleImage.png(64, 64)))
            rig.server.route("/small", .data(try SampleImage.png(8, 8)))
            big = .network(rig.server.url("/big"))
            small = .network(rig.server.url("/small"))
        }
    }

    private func paths(_ rig: Rig) -> [String] { rig.server.requests.map(\.path) }

    @Test("On a constrained network the low data source is loaded instead")
    func lowDataSource() async throws {
        try await Rig.run { rig in
            let sources = try Sources(rig)
            rig.manager.downloader.isConstrained = true
            let result = try await rig.manager.retrieveImage(with: sources.big, options: [.lowDataMode(sources.small)])
            #expect(result.image.pixelWidth == 8)
            #expect(result.source == sources.small && result.originalSource == sources.big)
            #expect(paths(rig) == ["/small"])
            #expect(!rig.cache.isCached(forKey: sources.big.cacheKey))
        }
    }

    @Test("Without a constrained network, or without a low data source, the source itself is loaded")
    func nothingToSave() async throws {
        try await Rig.run { rig in
            let sources = try Sources(rig)
            #expect(!rig.manager.downloader.isConstrained)
            let options: KingfisherOptionsInfo = [.lowDataMode(sources.small), .forceRefresh]
            #expect(try await rig.manager.retrieveImage(with: sources.big, options: options).image.pixelWidth == 64)
            rig.manager.downloader.isConstrained = true
            for options: KingfisherOptionsInfo in [[.forceRefresh], [.lowDataMode(nil), .forceRefresh]] {
                #expect(try await rig.manager.retrieveImage(with: sources.big, options: options).source == sources.big)
            }
            #expect(paths(rig) == ["/big", "/big", "/big"])
        }
    }

    @Test("A cached image is used on a constrained network, because it needs no transfer")
    func cachedImage() async throws {
        try await Rig.run { rig in
            let sources = try Sources(rig)
            _ = try await rig.manager.retrieveImage(with: sources.big, options: [.waitForCache])
            rig.manager.downloader.isConstrained = true
            for type in [CacheType.memory, .disk] {
                if type == .disk { rig.cache.clearMemoryCache() }
                let options: KingfisherOptionsInfo = [.lowDataMode(sources.small)]
                #expect(try await rig.manager.retrieveImage(with: sources.big, options: options).cacheType == type)
            }
            #expect(paths(rig) == ["/big"])
        }
    }

    @Test(
        "The low data source is used once, before the alternatives, and the skipped source is not listed as a failure"
    )
    func alternativeSources() async throws {
        try await Rig.run { rig in
            let sources = try Sources(rig)
            rig.manager.downloader.isConstrained = true
            let missing = Source.network(rig.server.url("/missing")), removed = Source.network(rig.server.url("/gone"))
            let saving: KingfisherOptionsInfo = [.lowDataMode(missing)]
            let plain = await failure { try await rig.manager.retrieveImage(with: sources.big, options: saving) }
            #expect(plain?.isInvalidResponseStatusCode(404) == true)

            let options = saving + [.alternativeSources([removed, sources.big])]
            let result = try await rig.manager.retrieveImage(with: .network(rig.server.url("/first")), options: options)
            #expect(result.source == sources.big)
            #expect(paths(rig) == ["/missing", "/missing", "/gone", "/big"])

            let all = saving + [.alternativeSources([removed])]
            let error = await failure {
                try await rig.manager.retrieveImage(with: .network(rig.server.url("/first")), options: all)
            }
            let failures = try #require(error?.exhausted)
            #expect(failures.map(\.source) == [missing, removed])
        }
    }

    @Test("The low data source counts as no retry, and its task is reported")
    func noRetries() async throws {
        try await Rig.run { rig in
            let sources = try Sources(rig)
            rig.manager.downloader.isConstrained = true
            let (retries, tasks, done) = (Counter(), Box<[Bool]>([]), Promise<Int?>())
            let strategy = DelayRetryStrategy(
                maxRetryCount: 3,
                retryInterval: .custom { _ in
                    retries.add()
                    return 0
                }
            )
            rig.manager.retrieveImage(
                with: sources.big,
                options: [.lowDataMode(sources.small), .retryStrategy(strategy)],
                downloadTaskUpdated: { task in tasks.change { $0.append(task != nil) } },
                completionHandler: { done.fulfil((try? $0.get())?.image.pixelWidth) }
            )
            #expect(await done.value == 8)
            #expect(retries.value == 0)
            #expect(tasks.value == [true])
        }
    }

    @Test("Loads in low data mode share no work with other loads")
    func unsharedLoads() {
        func key(_ options: KingfisherOptionsInfo) -> LoadPlan.Identity {
            LoadPlan(.network(fakeURL), KingfisherParsedOptionsInfo(options)).identity
        }
        let saving: [LoadPlan.Identity] = ["/a", "/b"].map { key([.lowDataMode(.network(URL(fileURLWithPath: $0)))]) }
        #expect(key([]) == key([.lowDataMode(nil)]) && key([]) != saving[0])
        #expect(saving[0] == saving[1], "The source used after a failure is not part of the key.")
    }

    @Test("A download without a manager fails before it starts, and names the reason")
    func downloaderAlone() async throws {
        let transport = FakeTransport { $0.play(.data(someBytes)) }
        let downloader = ImageDownloader(name: "test", transport: transport)
        downloader.isConstrained = true
        let error = await Caller.load(with: downloader, [.lowDataMode(.network(fakeURL))]).error
        #expect(transport.startCount == 0)
        #expect(error?.errorCode == 2003 && error?.isLowDataModeConstrained == true)
        #expect(error?.errorDescription?.contains("save data") == true)
        #expect(error?.urlError?.code == .notConnectedToInternet)
        let offline = KingfisherError.responseError(
            reason: .URLSessionError(error: URLError(.notConnectedToInternet))
        )
        #expect(!offline.isLowDataModeConstrained)
        #expect(await Caller.load(with: downloader).data == someBytes)
    }

    @Test("A transport gets the load's permission for constrained networks, and may refuse the transfer")
    func transportRefuses() async throws {
        let small = Source.network(URL(fileURLWithPath: "/small.png"))
        let png = try SampleImage.png(8, 8)
        let transport = FakeTransport { transfer in
            if transfer.policy.allowsConstrainedNetworkAccess {
                transfer.play(.data(png))
            } else {
                transfer.complete(.constrained(transfer.originalRequest.url))
            }
        }
        try await withTemporaryDirectory { directory in
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "test", transport: transport),
                cache: try ImageCache(name: "test", cacheDirectoryURL: directory)
            )
            let result = try await manager.retrieveImage(with: .network(fakeURL), options: [.lowDataMode(small)])
            #expect(result.source == small)
            #expect(transport.transfers.map(\.policy.allowsConstrainedNetworkAccess) == [false, true])
        }
        let silent = FakeTransport { _ in }
        let downloader = ImageDownloader(name: "test", transport: silent)
        let callers = [Caller.load(with: downloader), Caller.load(with: downloader, [.lowDataMode(small)])]
        #expect(silent.startCount == 2)
        for caller in callers { caller.cancel() }
    }
}
