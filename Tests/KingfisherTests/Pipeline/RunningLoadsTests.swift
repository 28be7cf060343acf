// Loads under way: whether there are any, how they are cancelled, one or all, and that they keep their manager.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct RunningLoadsTests {
    @Test("A manager is running while a load is under way, and not after its end") func running() async throws {
        try await Rig.run { rig in
            let gate = Gate(), url = rig.server.url("/a")
            rig.server.route("/a", TestResponse.data(try SampleImage.png(8, 8)).with { $0.gate = gate })
            #expect(!rig.manager.isRunning)
            let load = Task.immediate { try await rig.manager.retrieveImage(with: url) }
            #expect(rig.manager.isRunning)
            gate.open()
            _ = try await load.value
            #expect(!rig.manager.isRunning)
            _ = try await rig.manager.retrieveImage(with: url)
            #expect(!rig.manager.isRunning)
        }
    }

    @Test("Cancelling all loads ends each once with the error it would end with alone, whichever form it has")
    func cancellingAll() async throws {
        try await Rig.run { rig in
            let (never, calls, code) = (Gate(), Counter(), Promise<Int?>())
            let urls = ["/a", "/b", "/live.heic", "/live.mov"].map { path in
                rig.server.route(path, TestResponse.data(Data("bytes".utf8)).with { $0.gate = never })
            }
            let first = Task.immediate { await failure { try await rig.manager.retrieveImage(with: urls[0]) } }
            let second = Task.immediate { await failure { try await rig.manager.retrieveImage(with: urls[1]) } }
            rig.manager.retrieveImage(with: urls[0]) { result in
                calls.add()
                if case .failure(let error) = result { code.fulfil(error.errorCode) } else { code.fulfil(nil) }
            }
            let photo = Task.immediate {
                await failure {
                    try await rig.manager.retrieveLivePhoto(with: LivePhotoSource(urls: Array(urls[2...])))
                }
            }
            for url in urls { await rig.server.waitForRequests(to: url.path) }
            rig.manager.cancelAll()
            #expect(await first.value?.errorCode == 1003)
            #expect(await second.value?.errorCode == 1003)
            #expect(await code.value == 1003)
            #expect(await photo.value?.errorCode == 1004)
            for url in urls { await rig.server.lastRequest(url.path)?.disconnected.wait() }
            #expect(calls.value == 1 && !rig.manager.isRunning)
            rig.manager.cancelAll()
            #expect(calls.value == 1)
            never.open()
        }
    }

    @Test("A load that waits for a retry is cancelled with the others, and no alternative is tried")
    func waitingForRetry() async throws {
        try await Rig.run { rig in
            let clock = ManualClock(), url = rig.server.url("/a")
            rig.server.route("/a", .status(500))
            let strategy = DelayRetryStrategy(
                maxRetryCount: 3,
                retryInterval: .seconds(10),
                shouldRetry: { _ in true },
                clock: clock
            )
            let options: KingfisherOptionsInfo = [
                .retryStrategy(strategy), .alternativeSources([.network(rig.server.url("/b"))]),
            ]
            let load = Task { await failure { try await rig.manager.retrieveImage(with: url, options: options) } }
            await clock.waitForSleepers()
            #expect(rig.manager.isRunning)
            rig.manager.cancelAll()
            #expect(await load.value?.isCancelled == true)
            #expect(clock.sleeperCount == 0 && rig.server.requests.map(\.path) == ["/a"])
        }
    }

    @Test("A load of a provider that never returns its data is cancelled, and later loads go their way")
    func provider() async throws {
        struct Silent: ImageDataProvider {
            let cacheKey = "silent"
            let called: Gate
            let never: Gate
            func data() async throws -> Data {
                called.open()
                await never.wait()
                return Data()
            }
        }
        try await Rig.run { rig in
            let silent = Silent(called: Gate(), never: Gate()), calls = Counter(), code = Promise<Int?>()
            rig.manager.retrieveImage(with: .provider(silent)) { result in
                calls.add()
                if case .failure(let error) = result { code.fulfil(error.errorCode) } else { code.fulfil(nil) }
            }
            await silent.called.wait()
            rig.manager.cancelAll()
            #expect(await code.value == 1006)
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            #expect(try await rig.manager.retrieveImage(with: rig.server.url("/a")).cacheType == .none)
            silent.never.open()
            #expect(calls.value == 1)
        }
    }

    @Test("A load keeps its manager until it has ended")
    func releasedManager() async throws {
        try await withTemporaryDirectory { directory in
            let server = try await TestServer.start()
            let gate = Gate()
            server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            var manager: KingfisherManager? = KingfisherManager(
                downloader: ImageDownloader(name: "short"),
                cache: try ImageCache(name: "short", cacheDirectoryURL: directory)
            )
            let done = Promise<Int?>()
            manager?.retrieveImage(with: server.url("/a.png"), options: [.callbackQueue(.untouch)]) {
                done.fulfil((try? $0.get())?.image.pixelWidth)
            }
            manager = nil
            await server.waitForRequests(to: "/a.png")
            gate.open()
            #expect(await done.value == 64)
            await server.stop()
        }
    }

    @Test("One cancellation stops the look-up and the load, and the handler is called once")
    func cancellingLookUp() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let (ticket, mayEnd) = (rig.cache.operations.ticket(forKey: url.cacheKey), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let (calls, end) = (Counter(), Promise<KingfisherError?>())
            let task = rig.manager.retrieveImage(with: url) { result in
                calls.add()
                if case .failure(let error) = result { end.fulfil(error) } else { end.fulfil(nil) }
            }
            task?.cancel()
            #expect(await end.value?.isCancelled == true)
            mayEnd.fulfil(())
            await slow.value
            #expect(calls.value == 1 && rig.server.count("/a.png") == 0)
        }
    }

    private final class CountedProvider: ImageDataProvider {
        let cacheKey = "counted"
        let calls: Counter

        init(_ calls: Counter) { self.calls = calls }

        func data() async throws -> Data {
            calls.add()
            return try SampleImage.png()
        }
    }

    @Test("A cancelled load finishes its look-up, but does not load its source", .timeLimit(.minutes(5)))
    func unwantedLoad() async throws {
        try await Rig.run { rig in
            let calls = Counter()
            var provider: CountedProvider? = CountedProvider(calls)
            weak let watched = provider
            let (ticket, mayEnd) = (rig.cache.operations.ticket(forKey: "counted"), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let wasCancelled = Promise<Bool>()
            var task = provider.flatMap { provider in
                rig.manager.retrieveImage(with: .provider(provider)) { result in
                    if case .failure(let error) = result { wasCancelled.fulfil(error.isCancelled) }
                }
            }
            provider = nil
            task?.cancel()
            task = nil
            #expect(await wasCancelled.value)
            #expect(watched != nil, "It is still being looked up.")
            mayEnd.fulfil(())
            await slow.value
            while watched != nil, !Task.isCancelled { await Task.yield() }
            #expect(watched == nil)
            #expect(calls.value == 0)
        }
    }
}
