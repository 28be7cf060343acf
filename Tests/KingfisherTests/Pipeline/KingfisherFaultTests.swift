// Faults known from Kingfisher for Apple's platforms, and the forms from before version 5 under stress.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct KingfisherFaultTests {
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
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let url = rig.server.url("/a.png")
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

    @Test("A load cancelled during the pause before a retry ends at once and does not retry")
    func cancelledRetryPause() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .status(503))
            let (retried, done, calls) = (Promise<Void>(), Promise<KingfisherError?>(), Counter())
            let task = rig.manager.retrieveImage(
                with: rig.server.url("/a.png"),
                options: [
                    .retryStrategy(
                        DelayRetryStrategy(
                            maxRetryCount: 3,
                            retryInterval: .custom { _ in
                                retried.fulfil(())
                                return 100_000
                            }
                        )
                    )
                ]
            ) { result in
                calls.add()
                if case .failure(let error) = result { done.fulfil(error) } else { done.fulfil(nil) }
            }
            await retried.value
            task?.cancel()
            #expect(await done.value?.isCancelled == true)
            #expect(calls.value == 1 && rig.server.count("/a.png") == 1)
        }
    }

    @Test(
        "Concurrent 304 responses end with the cached image, also in older forms, and fail if the entry is not an image"
    )
    func notModified() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.etag = "\"1\"" })
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let condition = KingfisherOptionsInfoItem.requestModifier(
                AnyModifier { request in
                    var request = request
                    request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
                    return request
                }
            )
            let manager = rig.manager
            async let one = manager.retrieveImage(with: url, options: [.forceRefresh, condition])
            async let two = manager.retrieveImage(with: url, options: [.forceRefresh, condition])
            async let three = manager.retrieveImage(with: url, options: [condition])
            let types = [try await one.cacheType, try await two.cacheType, try await three.cacheType]
            #expect(types == [.memory, .memory, .memory])
            rig.cache.clearMemoryCache()
            let completed = Promise<(Int?, NSError?, CacheType, URL?)>()
            manager.downloadAndCacheImage(
                with: url,
                forKey: url.cacheKey,
                retrieveImageTask: RetrieveImageTask(),
                progressBlock: nil,
                completionHandler: { completed.fulfil(($0?.pixelWidth, $1, $2, $3)) },
                options: [condition]
            )
            let end = await completed.value
            #expect(end.0 == 64 && end.1 == nil && end.2 == .disk && end.3 == url)
            rig.cache.clearMemoryCache()
            try await rig.cache.storeToDisk(Data("no image".utf8), forKey: url.cacheKey)
            let error = await failure {
                try await manager.retrieveImage(with: url, options: [.forceRefresh, condition])
            }
            #expect(error?.isInvalidResponseStatusCode(304) == true)
            #expect(rig.files.isEmpty)
            // A load in an older form with a condition, and nothing in the cache.
            let plain = Promise<(Int?, NSError?, CacheType, URL?)>()
            let handler: CompletionHandler = { plain.fulfil(($0?.pixelWidth, $1, $2, $3)) }
            manager.deprecatedForms.retrieveImage(
                with: url,
                options: [condition],
                progressBlock: nil,
                completionHandler: handler
            )
            let plainEnd = await plain.value
            #expect(
                plainEnd.0 == nil && plainEnd.1?.code == 2002 && plainEnd.1?.domain == KingfisherError.domain
                    && plainEnd.2 == .none
            )
            #expect(plainEnd.1?.localizedDescription.contains("304") == true)
        }
    }

    @Test("Tasks from before version 5 that are cancelled at any moment call their handler once")
    func cancellingOlderTasks() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let url = rig.server.url("/a.png")
            let calls = (0..<300).map { _ in Counter() }
            let dones = (0..<300).map { _ in Promise<Int?>() }
            await withTaskGroup(of: Void.self) { group in
                for i in 0..<300 {
                    let manager = rig.manager
                    group.addTask {
                        let task = RetrieveImageTask()
                        let handler: CompletionHandler = { _, error, _, _ in
                            calls[i].add()
                            dones[i].fulfil(error?.code)
                        }
                        if i % 3 == 0 { Task.detached { task.cancel() } }
                        manager.downloadAndCacheImage(
                            with: url,
                            forKey: "k\(i)",
                            retrieveImageTask: task,
                            progressBlock: nil,
                            completionHandler: handler,
                            options: []
                        )
                        if i % 3 == 1 { task.cancel() }
                    }
                }
            }
            for i in 0..<300 {
                let code = await dones[i].value
                #expect([nil, 1003, 1005].contains(code))
                if i % 3 == 2 { #expect(code == nil) }
            }
            #expect(calls.allSatisfy { $0.value == 1 })
        }
    }

    @Test("Two concurrent loads of one live photo share the downloads; unusual extensions stay in the directory")
    func livePhotos() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            for path in ["/l.heic", "/l.mov"] {
                rig.server.route(path, TestResponse.data(Data(path.utf8)).with { $0.gate = gate })
            }
            let source = LivePhotoSource(urls: ["/l.heic", "/l.mov"].map { rig.server.url($0) })
            let manager = rig.manager
            let joined = StartCounter(awaited: 4)
            async let one = manager.retrieveLivePhoto(with: source, options: [.requestModifier(joined)])
            async let two = manager.retrieveLivePhoto(with: source, options: [.requestModifier(joined)])
            await joined.haveStarted.value
            gate.open()
            let (a, b) = (try await one, try await two)
            #expect(a.fileURLs == b.fileURLs && a.data() == [Data("/l.heic".utf8), Data("/l.mov".utf8)])
            #expect(b.data() == a.data())
            #expect(rig.server.count("/l.heic") == 1 && rig.server.count("/l.mov") == 1)

            for ext in ["../../x", "a/b", String(repeating: "x", count: 300), "a\0b", "ü😀", ".", "HEIC"] {
                let odd = LivePhotoSource(resources: [
                    LivePhotoResource(downloadURL: rig.server.url("/l.heic"), cacheKey: "odd", fileType: .other(ext))
                ])
                let r = await failure { try await manager.retrieveLivePhoto(with: odd) }
                #expect(r == nil, "\(ext)")
                if r == nil {
                    let again = try await manager.retrieveLivePhoto(with: odd)
                    #expect(again.cacheType == .disk)
                    #expect(
                        again.fileURLs[0].deletingLastPathComponent().path == rig.cache.diskStorage.directoryURL.path
                    )
                }
            }
            // One resource named twice.
            let url = rig.server.url("/l.mov")
            await rig.cache.clearDiskCache()
            let twice = try await manager.retrieveLivePhoto(with: LivePhotoSource(urls: [url, url]))
            #expect(twice.data().count == 2)
            #expect(try await manager.retrieveLivePhoto(with: LivePhotoSource(urls: [])).fileURLs.isEmpty)
        }
    }
}

/// Leaves requests unchanged, and signals when the given number of downloads have begun or joined another.
private struct StartCounter: ImageDownloadRequestModifier {
    let awaited: Int
    let haveStarted = Promise<Void>()
    private let count = Counter()

    init(awaited: Int) { self.awaited = awaited }

    func modified(for request: URLRequest) -> URLRequest? { request }

    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
        { [self] _ in if count.add() == awaited { haveStarted.fulfil(()) } }
    }
}
