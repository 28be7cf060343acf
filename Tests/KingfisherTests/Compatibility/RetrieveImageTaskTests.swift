// Loads as they were written before version 5: four values to the handler, and a task that is always there.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("Section 15: loads as before version 5") struct RetrieveImageTaskTests {
    /// What a handler of four parameters is told.
    private final class Told: Sendable {
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
        var hasEnded: Bool { first.valueIfKept != nil }

        var handler: CompletionHandler {
            { [calls, first] image, error, cacheType, url in
                calls.add()
                let (width, domain, code) = (image?.pixelWidth, error?.domain, error?.code)
                first.keep(End(width: width, domain: domain, code: code, cacheType: cacheType, url: url))
            }
        }
    }

    @discardableResult
    private func load(_ rig: Rig, _ url: URL, _ told: Told, _ options: KingfisherOptionsInfo = []) -> RetrieveImageTask
    {
        rig.manager.asBefore.retrieveImage(
            with: url,
            options: options,
            progressBlock: nil,
            completionHandler: told.handler
        )
    }

    @Test("an image, where it was found, and the URL it came from")
    func images() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try Picture.png()))
            let url = rig.server.url("/a.png")
            for type in [CacheType.none, .memory, .disk] {
                if type == .disk { rig.cache.clearMemoryCache() }
                let told = Told()
                let task = load(rig, url, told, [.waitForCache])
                let end = await told.end
                #expect(end.width == 64 && end.code == nil && end.cacheType == type && end.url == url)
                task.cancel()
                #expect(told.calls.value == 1)
            }
            let told = Told()
            load(rig, rig.server.url("/missing"), told, [.alternativeSources([.network(url)])])
            #expect(await told.end.url == url, "That of the source that worked.")
        }
    }

    @Test("an error, as an NSError, and the URL that was asked for")
    func errors() async throws {
        try await Rig.run { rig in
            let (url, told) = (rig.server.url("/missing"), Told())
            load(rig, url, told)
            let end = await told.end
            #expect(end.width == nil && end.cacheType == .none && end.url == url)
            #expect(end.domain == KingfisherError.domain && end.code == 2002)
        }
    }

    @Test("cancelling a load under way: one call, with a cancellation")
    func cancelling() async throws {
        try await Rig.run { rig in
            let (gate, told) = (Gate(), Told())
            rig.server.route("/a.png", TestResponse.data(try Picture.png()).with { $0.gate = gate })
            let url = rig.server.url("/a.png")
            let task = load(rig, url, told)
            await rig.server.waitForRequests(to: "/a.png")
            let download = try #require(task.downloadTask)
            #expect(download.url == url)
            #expect(download.ownerDownloader === rig.manager.downloader)
            task.cancel()
            task.cancel()
            download.cancel()
            #expect(await told.end.code == 1003)
            gate.open()
            #expect(told.calls.value == 1)
        }
    }

    @Test("cancelled before there is a download, there never is one")
    func cancellingBeforeTheDownload() async throws {
        struct Slow: AsyncImageDownloadRequestModifier {
            let asked = Promise<Void>()
            let gate = Gate()
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
            func modified(for request: URLRequest) async -> URLRequest? {
                asked.keep(())
                await gate.wait()
                return request
            }
        }
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try Picture.png()))
            let (modifier, told) = (Slow(), Told())
            let task = load(rig, rig.server.url("/a.png"), told, [.requestModifier(modifier)])
            await modifier.asked.value
            #expect(task.downloadTask == nil)
            task.cancel()
            #expect([1003, 1005].contains(await told.end.code))
            modifier.gate.open()
            #expect(rig.server.count("/a.png") == 0 && told.calls.value == 1)
        }
    }

    @Test("a task that is cancelled before the load starts nothing, and the handler is told")
    func cancelledBefore() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let (task, told) = (RetrieveImageTask(), Told())
            task.cancel()
            let download = rig.manager.downloadAndCacheImage(
                with: url,
                forKey: "a",
                retrieveImageTask: task,
                progressBlock: nil,
                completionHandler: told.handler,
                options: [.callbackQueue(.untouch)]
            )
            #expect(download == nil && told.hasEnded)
            #expect(await told.end.code == 1005)
            #expect(await told.end.url == url)
            #expect(rig.server.count("/a.png") == 0 && told.calls.value == 1)
        }
    }

    @Test("a task follows the load that is started with it, also when it was cancelled in between")
    func following() {
        let (task, handle, cancelled) = (RetrieveImageTask(), DownloadTask(), Counter())
        handle.onCancel { cancelled.add() }
        task.cancel()
        task.follow(RetrieveImageDownloadTask(task: handle, ownerDownloader: nil))
        #expect(cancelled.value == 1)
    }

    @Test("the empty task is nobody's: it can be used again and again")
    func theEmptyTask() async throws {
        RetrieveImageTask.empty.cancel()
        #expect(RetrieveImageTask.empty.downloadTask == nil)
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try Picture.png()).with { $0.gate = gate })
            let told = Told()
            let download = rig.manager.downloadAndCacheImage(
                with: rig.server.url("/a.png"),
                forKey: "a",
                retrieveImageTask: .empty,
                progressBlock: nil,
                completionHandler: told.handler,
                options: []
            )
            RetrieveImageTask.empty.cancel()
            gate.open()
            #expect(await told.end.width == 64)
            #expect(download != nil && RetrieveImageTask.empty.downloadTask == nil)
        }
    }

    @Test("downloading and caching: always a download, kept under the key given")
    func downloadingAndCaching() async throws {
        try await Rig.run { rig in
            let (url, bytes) = (rig.server.url("/a.png"), try Picture.png())
            for count in 1...2 {
                // What is reported when all has arrived may be too late to be told.
                let gate = Gate()
                let response = TestResponse.data(bytes).with { $0.interruption = .hold(after: 50, until: gate) }
                rig.server.route("/a.png", response)
                let (task, told, received) = (RetrieveImageTask(), Told(), Promise<Int64>())
                rig.manager.downloadAndCacheImage(
                    with: url,
                    forKey: "mine",
                    retrieveImageTask: task,
                    progressBlock: { _, total in received.keep(total) },
                    completionHandler: told.handler,
                    options: [.waitForCache, .onlyFromCache]
                )
                #expect(await received.value == Int64(bytes.count))
                gate.open()
                let end = await told.end
                #expect(end.width == 64 && end.cacheType == .none && end.url == url)
                #expect(rig.server.count("/a.png") == count)
            }
            #expect(rig.cache.diskStorage.isCached(forKey: "mine") && !rig.cache.isCached(forKey: url.cacheKey))
        }
    }

    @Test("nobody needs to listen, and a download keeps no downloader alive")
    func nobodyListens() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try Picture.png()))
            let url = rig.server.url("/a.png")
            let task = rig.manager.asBefore.retrieveImage(
                with: url,
                options: nil,
                progressBlock: nil,
                completionHandler: nil
            )
            // Joins the load, if that is not over.
            #expect(try await rig.manager.retrieveImage(with: url).image.pixelWidth == 64)
            #expect(rig.server.count("/a.png") == 1)
            task.cancel()
        }
    }

    @Test("a download can be hurried once it is there, and keeps no downloader alive")
    func downloads() {
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
        #expect(none.url == nil && none.priority == 0.5, "There is nothing yet to be urgent.")
    }
}
