// All loads of a manager at once: whether any are under way, and how they are cancelled.

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
                return rig.server.url(path)
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
}
