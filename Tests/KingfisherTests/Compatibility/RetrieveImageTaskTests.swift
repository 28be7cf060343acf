// Loads in the form they had before version 5: the handler gets four values, and a task is always returned.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("Loads in the form they had before version 5") struct RetrieveImageTaskTests {
    /// The arguments of a handler of four parameters.
    private final class Completion: Sendable {
        struct End: Sendable {
            let width: Int?
            let domain: String?
            let code: Int?
            let cacheType: CacheType
            let url: URL?
        }
        let calls = Counter()
        private let first = Promise<End>()

        var end: End { get async { await first.value } }
        var hasEnded: Bool { first.valueIfFulfilled != nil }

        var handler: CompletionHandler {
            { [calls, first] image, error, cacheType, url in
                calls.add()
                let (width, domain, code) = (image?.pixelWidth, error?.domain, error?.code)
                first.fulfil(End(width: width, domain: domain, code: code, cacheType: cacheType, url: url))
            }
        }
    }

    @discardableResult
    private func load(_ rig: Rig, _ url: URL, _ completion: Completion, _ options: KingfisherOptionsInfo = [])
        -> RetrieveImageTask
    {
        rig.manager.deprecatedForms.retrieveImage(
            with: url,
            options: options,
            progressBlock: nil,
            completionHandler: completion.handler
        )
    }

    @Test("The handler gets an image, its cache type and the URL it came from")
    func images() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            for type in [CacheType.none, .memory, .disk] {
                if type == .disk { rig.cache.clearMemoryCache() }
                let completion = Completion()
                let task = load(rig, url, completion, [.waitForCache])
                let end = await completion.end
                #expect(end.width == 64 && end.code == nil && end.cacheType == type && end.url == url)
                task.cancel()
                #expect(completion.calls.value == 1)
            }
            let completion = Completion()
            load(rig, rig.server.url("/missing"), completion, [.alternativeSources([.network(url)])])
            #expect(await completion.end.url == url, "The URL of the source that succeeded.")
        }
    }

    @Test("The handler gets an NSError and the requested URL")
    func errors() async throws {
        try await Rig.run { rig in
            let (url, completion) = (rig.server.url("/missing"), Completion())
            load(rig, url, completion)
            let end = await completion.end
            #expect(end.width == nil && end.cacheType == .none && end.url == url)
            #expect(end.domain == KingfisherError.domain && end.code == 2002)
        }
    }

    @Test("Cancelling a load under way calls the handler once, with a cancellation")
    func cancelling() async throws {
        try await Rig.run { rig in
            let (gate, completion) = (Gate(), Completion())
            let url = rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let task = load(rig, url, completion)
            await rig.server.waitForRequests(to: "/a.png")
            let download = try #require(task.downloadTask)
            #expect(download.url == url)
            #expect(download.ownerDownloader === rig.manager.downloader)
            task.cancel()
            task.cancel()
            download.cancel()
            #expect(await completion.end.code == 1003)
            gate.open()
            #expect(completion.calls.value == 1)
        }
    }

    @Test("A load cancelled before its download starts none")
    func cancellingBeforeDownload() async throws {
        struct Slow: AsyncImageDownloadRequestModifier {
            let called = Promise<Void>()
            let gate = Gate()
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
            func modified(for request: URLRequest) async -> URLRequest? {
                called.fulfil(())
                await gate.wait()
                return request
            }
        }
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let (modifier, completion) = (Slow(), Completion())
            let task = load(rig, rig.server.url("/a.png"), completion, [.requestModifier(modifier)])
            await modifier.called.value
            #expect(task.downloadTask == nil)
            task.cancel()
            #expect([1003, 1005].contains(await completion.end.code))
            modifier.gate.open()
            #expect(rig.server.count("/a.png") == 0 && completion.calls.value == 1)
        }
    }

    @Test("A task cancelled before the load starts nothing, and the handler is called")
    func cancelledTask() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let (task, completion) = (RetrieveImageTask(), Completion())
            task.cancel()
            let download = rig.manager.deprecatedForms.downloadAndCacheImage(
                with: url,
                forKey: "a",
                retrieveImageTask: task,
                progressBlock: nil,
                completionHandler: completion.handler,
                options: [.callbackQueue(.untouch)]
            )
            #expect(download == nil && completion.hasEnded)
            #expect(await completion.end.code == 1005)
            #expect(await completion.end.url == url)
            #expect(rig.server.count("/a.png") == 0 && completion.calls.value == 1)
        }
    }

    @Test("A task follows the load it was started with, also when it was cancelled in between")
    func taskState() {
        let (task, handle) = (RetrieveImageTask(), DownloadTask())
        task.cancel()
        task.attach(RetrieveImageDownloadTask(task: handle, ownerDownloader: nil))
        #expect(handle.isCancelled)
    }

    @Test("The empty task belongs to no load and can be reused")
    func emptyTask() async throws {
        RetrieveImageTask.empty.cancel()
        #expect(RetrieveImageTask.empty.downloadTask == nil)
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let completion = Completion()
            let download = rig.manager.deprecatedForms.downloadAndCacheImage(
                with: rig.server.url("/a.png"),
                forKey: "a",
                retrieveImageTask: .empty,
                progressBlock: nil,
                completionHandler: completion.handler,
                options: []
            )
            RetrieveImageTask.empty.cancel()
            gate.open()
            #expect(await completion.end.width == 64)
            #expect(download != nil && RetrieveImageTask.empty.downloadTask == nil)
        }
    }

    @Test("`downloadAndCacheImage` always downloads, and stores under the given key")
    func downloadingAndCaching() async throws {
        try await Rig.run { rig in
            let (url, bytes) = (rig.server.url("/a.png"), try SampleImage.png())
            for count in 1...2 {
                // Progress that is reported after all bytes have arrived may come too late.
                let gate = Gate()
                let response = TestResponse.data(bytes).with { $0.interruption = .hold(after: 50, until: gate) }
                rig.server.route("/a.png", response)
                let (task, completion, received) = (RetrieveImageTask(), Completion(), Promise<Int64>())
                rig.manager.deprecatedForms.downloadAndCacheImage(
                    with: url,
                    forKey: "mine",
                    retrieveImageTask: task,
                    progressBlock: { _, total in received.fulfil(total) },
                    completionHandler: completion.handler,
                    options: [.waitForCache, .onlyFromCache]
                )
                #expect(await received.value == Int64(bytes.count))
                gate.open()
                let end = await completion.end
                #expect(end.width == 64 && end.cacheType == .none && end.url == url)
                #expect(rig.server.count("/a.png") == count)
            }
            #expect(rig.cache.diskStorage.isCached(forKey: "mine") && !rig.cache.isCached(forKey: url.cacheKey))
        }
    }

    @Test("The handler is optional, and a download does not keep its downloader alive")
    func noHandler() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            let task = rig.manager.deprecatedForms.retrieveImage(
                with: url,
                options: nil,
                progressBlock: nil,
                completionHandler: nil
            )
            // Joins the load if that has not ended yet.
            #expect(try await rig.manager.retrieveImage(with: url).image.pixelWidth == 64)
            #expect(rig.server.count("/a.png") == 1)
            task.cancel()
        }
    }

    @Test("A download's priority can be raised once it exists, and it does not keep its downloader alive")
    func downloadTask() {
        let transport = FakeTransport { _ in }
        var downloader: ImageDownloader? = ImageDownloader(name: "short", transport: transport)
        let handle = downloader?.downloadImage(with: fakeURL, options: [.downloadPriority(0.7)])
        let download = RetrieveImageDownloadTask(task: handle ?? DownloadTask(), ownerDownloader: downloader)
        #expect(download.url == fakeURL && download.priority == 0.7)
        download.priority = 0.9
        #expect(transport.transfers.first?.priority == 0.9)
        #expect(download.ownerDownloader === downloader)
        downloader = nil
        #expect(download.ownerDownloader == nil)

        let none = RetrieveImageDownloadTask(task: DownloadTask(), ownerDownloader: nil)
        none.priority = 1
        #expect(none.url == nil && none.priority == 0.5, "There is no download yet.")
    }

    @Test("Tasks from before version 5 that are cancelled at any moment call their handler once")
    func cancellingOlderTasks() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
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
                        manager.deprecatedForms.downloadAndCacheImage(
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
}
