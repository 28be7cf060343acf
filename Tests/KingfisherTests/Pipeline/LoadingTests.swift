// Loads of a manager: sharing, cancelling, storing, and the errors of bad input.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LoadingTests {
    @Test("Concurrent loads of an uncached URL share one request and one decoding") func sharedColdLoads() async throws
    {
        try await Rig.run { rig in
            let gate = Gate(), processor = CountingProcessor(), bytes = try SampleImage.png()
            let url = rig.server.route("/a.png", TestResponse.data(bytes).with { $0.gate = gate })
            let tasks = (0..<1000).map { _ in
                Task.immediate { try await rig.manager.retrieveImage(with: url, options: [.processor(processor)]) }
            }
            gate.open()
            let images = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
                for task in tasks { group.addTask { ObjectIdentifier(try await task.value.image) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(images.count == 1)
            #expect(rig.server.count("/a.png") == 1)
            #expect(processor.runs.value == 1)
        }
    }

    @Test("Concurrent loads share one request also when the response is not held back") func sharedRequest()
        async throws
    {
        try await Rig.run { rig in
            let processor = CountingProcessor()
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 {
                    group.addTask {
                        _ = try await rig.manager.retrieveImage(with: url, options: [.processor(processor)])
                    }
                }
                try await group.waitForAll()
            }
            #expect(rig.server.count("/a.png") == 1)
            #expect(processor.runs.value == 1)
        }
    }

    @Test("Cancelling one of two subscribers does not affect the other")
    func cancellingOneOfTwo() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let url = rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let first = Task.immediate { await failure { try await rig.manager.retrieveImage(with: url) } }
            let second = Task.immediate { try await rig.manager.retrieveImage(with: url) }
            await rig.server.waitForRequests(to: "/a.png")
            first.cancel()
            let error = try #require(await first.value)
            #expect(error.isCancelled)
            gate.open()
            #expect(try await second.value.cacheType == .none)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("Cancelling the only subscriber stops the transfer and calls its handler once")
    func cancellingOnlyCaller() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let outcome = Promise<KingfisherError?>(), calls = Counter()
            let task = rig.manager.retrieveImage(with: rig.server.url("/a.png")) { result in
                calls.add()
                if case .failure(let error) = result { outcome.fulfil(error) } else { outcome.fulfil(nil) }
            }
            await rig.server.waitForRequests(to: "/a.png")
            let handle = try #require(task)
            #expect(handle.isInitialized)
            handle.cancel()
            let error = try #require(await outcome.value)
            #expect(error.isTaskCancelled && error.errorCode == 1003)
            await rig.server.lastRequest("/a.png")?.disconnected.wait()
            handle.cancel()
            #expect(calls.value == 1)
            #expect(!rig.cache.isCached(forKey: rig.server.url("/a.png").cacheKey))
            gate.open()
        }
    }

    @Test("A load in a task that is already cancelled does not start")
    func cancelledTask() async throws {
        try await Rig.run { rig in
            let gate = Gate(), url = rig.server.url("/a.png")
            let task = Task {
                await gate.wait()
                return await failure { try await rig.manager.retrieveImage(with: url) }
            }
            task.cancel()
            gate.open()
            #expect(await task.value?.errorCode == 1005)
            #expect(rig.server.requests.isEmpty)
        }
    }

    @Test("Loads that are cancelled immediately all end")
    func immediateCancellations() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            for index in 0..<50 {
                let url = rig.server.url("/a.png?\(index)")
                let task = Task { await failure { try await rig.manager.retrieveImage(with: url) } }
                task.cancel()
                if let error = await task.value { #expect(error.isCancelled) }
            }
        }
    }

    @Test("A provider's error is wrapped in an image setting error")
    func providerErrors() async throws {
        struct Broken: Error {}
        struct Provider: ImageDataProvider {
            let cacheKey = "broken"
            func data() async throws -> Data { throw Broken() }
        }
        try await Rig.run { rig in
            let error = await failure { try await rig.manager.retrieveImage(with: Provider().convertToSource()) }
            guard case .imageSettingError(.dataProviderError(_, let inner)) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(inner is Broken)
        }
    }

    @Test("Cancelling a provider's load ends it at once, whatever the provider does")
    func cancelledProvider() async throws {
        struct Provider: ImageDataProvider {
            let cacheKey = "slow", started = Gate(), gate = Gate()
            func data() async throws -> Data {
                started.open()
                await gate.wait()
                return Data()
            }
        }
        try await Rig.run { rig in
            let provider = Provider(), calls = Counter(), outcome = Promise<Int?>()
            let task = rig.manager.retrieveImage(with: .provider(provider)) { result in
                calls.add()
                if case .failure(let error) = result { outcome.fulfil(error.errorCode) } else { outcome.fulfil(nil) }
            }
            await provider.started.wait()
            #expect(task?.isInitialized == true)
            task?.cancel()
            #expect(await outcome.value == 1006)
            provider.gate.open()
            #expect(calls.value == 1)
        }
    }

    @Test("A response that is not an image fails in the processor and is not cached")
    func undecodableResponses() async throws {
        let jpeg = try SampleImage.jpeg(200, 200)
        let bodies: [(String, Data)] = [
            ("html", Data("<!doctype html><html><body>Not found</body></html>".utf8)), ("empty", Data()),
            ("random", Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ 7) })),
            ("header", jpeg.prefix(100)),
        ]
        try await Rig.run { rig in
            for (name, body) in bodies {
                rig.server.route("/\(name)", .data(body))
                let url = rig.server.url("/\(name)")
                let error = await failure { try await rig.manager.retrieveImage(with: url, options: [.waitForCache]) }
                #expect(error?.errorCode == 4001, "\(name)")
                #expect(!rig.cache.isCached(forKey: url.cacheKey))
            }
            #expect(rig.files.isEmpty)
        }
    }

    @Test("Invalid responses and broken connections are not cached") func uncachedFailures() async throws {
        try await Rig.run { rig in
            let picture = try SampleImage.png(200, 200)
            rig.server.route("/404", .status(404))
            rig.server.route("/500", .status(500))
            rig.server.route("/cut", TestResponse.data(picture).with { $0.interruption = .cut(after: 100) })
            rig.server.route("/loop", .redirect(to: "/loop"))
            let expected: [(String, Int)] = [("/404", 2002), ("/500", 2002), ("/cut", 2003), ("/loop", 2003)]
            for (path, code) in expected {
                let url = rig.server.url(path)
                let error = await failure { try await rig.manager.retrieveImage(with: url) }
                #expect(error?.errorCode == code, "\(path): \(String(describing: error))")
                #expect(!rig.cache.isCached(forKey: url.cacheKey))
            }
            #expect(rig.files.isEmpty)
        }
    }

    @Test("A load succeeds when its image cannot be stored, and reports the cache error")
    func failingCache() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let occupied = rig.directory.appendingPathComponent("occupied")
            try Data("a file".utf8).write(to: occupied)
            for directory in [occupied, URL(fileURLWithPath: "/proc/kingfisher")] {
                let cache = ImageCache(name: "ailing", directory: directory)
                let result = try await rig.manager.retrieveImage(
                    with: rig.server.url("/a.png"),
                    options: [.targetCache(cache), .waitForCache]
                )
                #expect(result.image.pixelWidth == 64)
                let stored = try #require(result.cacheStoreResult)
                guard case .failure(let error) = stored.diskCacheResult else {
                    return #expect(Bool(false), "nothing can be stored below \(directory.path)")
                }
                #expect(error.description.contains(directory.path))
            }
        }
    }

    @Test("Progress grows up to the whole length, on the main queue")
    func progressReachesTheTotal() async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.png(300, 300)
            rig.server.route("/a.png", TestResponse.data(bytes).with { $0.pieceSize = 1000 })
            let seen = Box<[Int64]>([]), done = Promise<Void>()
            _ = try await rig.manager.retrieveImage(
                with: rig.server.url("/a.png"),
                progressBlock: { received, total in
                    #expect(CallbackQueue.isMain)
                    #expect(total == Int64(bytes.count))
                    seen.change { $0.append(received) }
                }
            )
            CallbackQueue.mainAsync.execute { done.fulfil(()) }
            await done.value
            #expect(seen.value == seen.value.sorted())
            #expect(Set(seen.value).count == seen.value.count)
            #expect((seen.value.last ?? 0) <= Int64(bytes.count))
        }
    }

    @Test("A cached original that cannot be processed fails the load without a download")
    func failedOriginals() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await rig.manager.retrieveImage(
                with: url,
                options: [.processor(CountingProcessor()), .cacheOriginalImage, .waitForCache]
            )
            let failing = CountingProcessor("failing", fails: true)
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.processor(failing)])
            }
            #expect(error?.errorCode == 4001 && failing.runs.value == 1)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("An original is stored only on disk, with its bytes unchanged")
    func originals() async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.jpeg()
            let url = rig.server.route("/a.jpg", .data(bytes))
            _ = try await rig.manager.retrieveImage(
                with: url,
                options: [.processor(CountingProcessor()), .cacheOriginalImage, .waitForCache]
            )
            #expect(!rig.cache.memoryStorage.isCached(forKey: url.cacheKey))
            #expect(try rig.cache.diskStorage.value(forKey: url.cacheKey) == bytes)
        }
    }

    @Test("A request modifier that returns nil vetoes a download")
    func veto() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.requestModifier(AnyModifier { _ in nil })])
            }
            #expect(error?.errorCode == 1001 && rig.server.count("/a.png") == 0)
        }
    }
}
