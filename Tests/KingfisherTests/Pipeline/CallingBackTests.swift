// The queues of handlers, handlers that call the manager again, and a main thread that is busy: no load waits for
// another without end.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct CallingBackTests {
    /// What a handler does in its manager.
    enum Action: CaseIterable {
        case load, sameLoad, cancelAll, clear, remove, configure, prefetch
    }

    @Test("A handler may use its manager, whether the image was in memory or was loaded", arguments: Action.allCases)
    func handlers(action: Action) async throws {
        try await Rig.run { rig in
            let url = try rig.route("/a", width: 8), other = try rig.route("/b", width: 9)
            for isInMemory in [false, true] {
                let (calls, done) = (Counter(), Promise<Int>())
                rig.manager.retrieveImage(with: url) { result in
                    calls.add()
                    #expect((try? result.get())?.cacheType == (isInMemory ? .memory : CacheType.none))
                    Self.perform(action, rig, url, other) { done.fulfil($0) }
                }
                #expect(await done.value == 0 && calls.value == 1)
                rig.cache.memoryStorage.store(value: SampleImage.gradient(8, 8), forKey: url.cacheKey)
            }
            #expect(try await rig.manager.retrieveImage(with: url).image.pixelWidth == 8)
        }
    }

    /// Uses the manager; `done` is called with the code of an error, 0 for none.
    private static func perform(
        _ action: Action,
        _ rig: Rig,
        _ url: URL,
        _ other: URL,
        _ done: @escaping @Sendable (Int) -> Void
    ) {
        switch action {
        case .load: rig.manager.retrieveImage(with: other) { done($0.code) }
        case .sameLoad: rig.manager.retrieveImage(with: url, options: [.forceRefresh]) { done($0.code) }
        case .cancelAll:
            rig.manager.cancelAll()
            done(0)
        case .clear: rig.cache.clearCache { done(0) }
        case .remove: rig.cache.removeImage(forKey: url.cacheKey) { done(0) }
        case .configure:
            rig.manager.defaultOptions += [.cacheMemoryOnly]
            rig.manager.failedURLs = FailedURLRegistry()
            done(0)
        case .prefetch:
            let prefetcher = ImagePrefetcher(urls: [other], options: rig.viewOptions) { _, failed, _ in
                done(failed.count)
            }
            prefetcher.start()
        }
    }

    @Test("A handler that begins the next load each time gets as far as it wants") func chain() async throws {
        /// Loads from the provider and from memory in turn.
        @Sendable func load(_ rest: Int, _ manager: KingfisherManager, _ source: Source, _ end: Promise<Void>) {
            guard rest > 0 else {
                end.fulfil(())
                return
            }
            let options: KingfisherOptionsInfo = rest % 2 == 0 ? [.cacheMemoryOnly] : [.forceRefresh, .cacheMemoryOnly]
            manager.retrieveImage(with: source, options: options) { result in
                #expect(result.code == 0)
                load(rest - 1, manager, source, end)
            }
        }
        try await Rig.run { rig in
            let end = Promise<Void>()
            let source = Source.provider(RawImageDataProvider(data: try SampleImage.png(4, 4), cacheKey: "a"))
            load(500, rig.manager, source, end)
            await end.value
            #expect(!rig.manager.isRunning)
        }
    }

    @Test("A handler that cancels its own load, or the next one before it begins, is called once for each")
    func cancellingInside() async throws {
        try await Rig.run { rig in
            let url = try rig.route("/a"), other = try rig.route("/b")
            let (calls, own, end) = (Counter(), Box<DownloadTask?>(nil), Promise<Int>())
            own.value = rig.manager.retrieveImage(with: url) { result in
                calls.add()
                #expect(result.code == 0)
                own.value?.cancel()
                let next = rig.manager.retrieveImage(with: other) { result in
                    calls.add()
                    end.fulfil(result.error?.isCancelled == true ? 1 : 0)
                }
                next?.cancel()
            }
            #expect(await end.value == 1)
            #expect(calls.value == 2 && rig.server.count("/a") == 1)
        }
    }

    @Test("Loads that a main thread began before it was blocked end there, and call their handlers when it is free")
    func blockedMainThread() async throws {
        try await Rig.run { rig in
            rig.manager.defaultOptions = []
            rig.server.route("/p.png", .data(try SampleImage.png(8, 8)))
            let bytes = try SampleImage.png(8, 8)
            let (begun, mayGoOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
            let (calls, onMain, isBlocked, end) = (Counter(), Counter(), Box(true), Promise<Void>())
            DispatchQueue.main.async {
                for number in 0..<40 {
                    let source: Source =
                        number % 2 == 0
                        ? .network(rig.server.url("/p.png?\(number)"))
                        : .provider(RawImageDataProvider(data: bytes, cacheKey: "\(number)"))
                    rig.manager.retrieveImage(with: source, options: [.waitForCache]) { result in
                        #expect(result.code == 0 && !isBlocked.value)
                        if CallbackQueue.isMain { onMain.add() }
                        if calls.add() == 40 { end.fulfil(()) }
                    }
                }
                begun.fulfil(())
                mayGoOn.wait()
                isBlocked.value = false
            }
            await begun.value
            // The loads end while nothing runs on the main thread.
            while rig.manager.isRunning, !Task.isCancelled { await Task.yield() }
            #expect(calls.value == 0 && rig.files.count == 40)
            mayGoOn.signal()
            await end.value
            #expect(calls.value == 40 && onMain.value == 40)
        }
    }

    @Test("An image in memory comes to a main thread that lets nothing else run") @MainActor
    func hitOnMainThread() async throws {
        try await Rig.run { rig in
            rig.manager.defaultOptions = []
            let source = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "a"))
            rig.cache.store(SampleImage.gradient(3, 3), forKey: "a", toDisk: false)
            let widths = Box<[Int]>([])
            rig.manager.retrieveImage(with: source) { first in
                rig.manager.retrieveImage(with: source) { second in
                    widths.value = [first, second].map { (try? $0.get())?.image.pixelWidth ?? 0 }
                }
            }
            #expect(widths.value == [3, 3])
        }
    }

    @Test("With `waitForCache` and cached originals, the completion handler is called on the callback queue")
    func callbackQueue() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let (queue, mark, done) = (DispatchQueue(label: "callbacks"), DispatchSpecificKey<Bool>(), Promise<Bool>())
            queue.setSpecific(key: mark, value: true)
            rig.manager.retrieveImage(
                with: rig.server.url("/a.png"),
                options: [
                    .callbackQueue(.dispatch(queue)), .waitForCache, .cacheOriginalImage,
                    .processor(CountingProcessor()),
                ]
            ) { _ in done.fulfil(DispatchQueue.getSpecific(key: mark) == true) }
            #expect(await done.value)
            #expect(rig.files.count == 2)
        }
    }

    @Test("A hit does not need the main queue when the callback queue is another one", .timeLimit(.minutes(5)))
    func blockedMainQueue() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let (blocked, mayGoOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
            DispatchQueue.main.async {
                blocked.fulfil(())
                mayGoOn.wait()
            }
            await blocked.value
            defer { mayGoOn.signal() }
            for queue in [CallbackQueue.untouch, .dispatch(DispatchQueue(label: "other"))] {
                for type in [CacheType.disk, .memory] {
                    if type == .disk { rig.cache.clearMemoryCache() }
                    let done = Promise<CacheType?>()
                    rig.manager.retrieveImage(with: url, options: [.callbackQueue(queue)]) {
                        done.fulfil((try? $0.get())?.cacheType)
                    }
                    #expect(await done.value == type)
                }
            }
        }
    }

    @Test("With `waitForCache` and cached originals, the completion handler is called once on any queue")
    func oneCompletionEach() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            for queue in [CallbackQueue.untouch, .dispatch(.global())] {
                let (calls, all) = (Counter(), Promise<Void>())
                for number in 0..<40 {
                    let url = rig.server.url("/a.png?\(number)")
                    let options: KingfisherOptionsInfo = [
                        .callbackQueue(queue), .waitForCache, .cacheOriginalImage, .forceRefresh,
                        .processor(CountingProcessor()),
                    ]
                    rig.manager.retrieveImage(with: url, options: options) { _ in
                        if calls.add() == 40 { all.fulfil(()) }
                    }
                }
                await all.value
                await rig.cache.clearDiskCache()
                #expect(calls.value == 40)
            }
        }
    }

    @Test(
        "A subscriber does not wait for the callback queue of an earlier subscriber",
        .timeLimit(.minutes(5))
    )
    func queuesOfOthers() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let url = rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let queue = DispatchQueue(label: "stopped")
            queue.suspend()
            let (first, second) = (Promise<Void>(), Promise<Void>())
            rig.manager.retrieveImage(with: url, options: [.callbackQueue(.dispatch(queue)), .waitForCache]) { _ in
                first.fulfil(())
            }
            rig.manager.retrieveImage(with: url, options: [.callbackQueue(.untouch), .waitForCache]) { _ in
                second.fulfil(())
            }
            gate.open()
            await second.value
            #expect(rig.server.count("/a.png") == 1)
            queue.resume()
            await first.value
        }
    }
}
