// The downloader's settings: sessions, default fields, acceptance, cookies, suspension, invalidation.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct DownloaderInterfaceTests {
    private let silent = FakeTransport { _ in }

    @Test("A new session configuration ends what is under way, and a new download starts a transfer of its own")
    func newSession() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let old = Caller.load(with: downloader)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "1", "Accept": "image/webp"]
        configuration.timeoutIntervalForRequest = 7
        configuration.timeoutIntervalForResource = 90
        configuration.requestCachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        configuration.httpShouldSetCookies = false
        downloader.sessionConfiguration = configuration
        let new = Caller.load(with: downloader)
        let error = try #require(await old.error)
        #expect(error.urlError?.code == .cancelled && !error.isCancelled)
        #expect(silent.startCount == 2 && silent.transfers[0].isCancelled)
        let transfer = silent.transfers[1]
        let fields = ["X-Session", "Accept", "Cache-Control"].map {
            transfer.originalRequest.value(forHTTPHeaderField: $0)
        }
        #expect(fields == ["1", "image/webp", "no-cache"])
        #expect(transfer.policy.idleTimeout == 7 && transfer.policy.totalTimeout == 90)
        #expect(!transfer.policy.usesCookies)
        transfer.play(.data(someBytes))
        #expect(await new.data == someBytes)
    }

    @Test("A session configuration is copied") func copiedSession() {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let configuration = URLSessionConfiguration.ephemeral
        downloader.sessionConfiguration = configuration
        configuration.httpAdditionalHeaders = ["X-Late": "1"]
        downloader.sessionConfiguration.timeoutIntervalForRequest = 7
        #expect(downloader.sessionConfiguration !== configuration)
        #expect(downloader.sessionConfiguration.httpAdditionalHeaders == nil)
        Caller.load(with: downloader).cancel()
        #expect(silent.transfers[0].originalRequest.value(forHTTPHeaderField: "X-Late") == nil)
    }

    @Test("A file of a live photo is downloaded, with a handler too") func livePhotoHandler() async throws {
        let downloader = ImageDownloader(name: "test", transport: FakeTransport { $0.play(.data(someBytes)) })
        let data = Promise<Data?>()
        let task = downloader.downloadLivePhotoResource(
            with: fakeURL,
            options: KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        ) { result in
            data.fulfil(try? result.get().originalData)
        }
        #expect(await data.value == someBytes)
        #expect(task.sessionTask != nil)
    }

    @Test("A session configuration sets how many connections a host gets, if it says something else than by default")
    func connections() {
        let downloader = ImageDownloader(name: "test")
        downloader.sessionConfiguration = .default
        #expect(downloader.maxConnectionsPerHost == 16)
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 3
        downloader.sessionConfiguration = configuration
        #expect(downloader.maxConnectionsPerHost == 3)
    }

    @Test("Default fields are there before the modifier") func defaultFields() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        downloader.defaultHeaders["X-Default"] = "1"
        let modifier = AnyModifier { request in
            var request = request
            request.setValue(request.value(forHTTPHeaderField: "X-Default"), forHTTPHeaderField: "X-Seen")
            return request
        }
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        let request = silent.transfers[0].originalRequest
        #expect(request.value(forHTTPHeaderField: "X-Seen") == "1")
        #expect(request.value(forHTTPHeaderField: "Accept") == "image/*,*/*;q=0.8")
        caller.cancel()
    }

    @Test("Accepted statuses are the downloader's, or else the delegate's") func statuses() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", TestResponse(status: 404, body: someBytes))
            downloader.acceptableStatusCodes = [404]
            #expect(await Caller.load(server.url("/a"), with: downloader).data == someBytes)
            downloader.acceptableStatusCodes = [200]
            let delegate = RecordingDelegate(isValid: { _ in true })
            downloader.delegate = delegate
            #expect(
                await Caller.load(server.url("/a"), with: downloader).error?.isInvalidResponseStatusCode(404) == true
            )
            downloader.acceptableStatusCodes = nil
            #expect(await Caller.load(server.url("/a"), with: downloader).data == someBytes)
        }
    }

    @Test(
        "Only accepted media types are read",
        arguments: [
            ("image/png", true), ("IMAGE/PNG; charset=binary", true), ("text/html", false), ("imagex/png", false),
        ]
    )
    func types(type: String, isAccepted: Bool) async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes, type: type))
            downloader.acceptableContentTypes = ["image/*"]
            let result = await Caller.load(server.url("/a"), with: downloader).result
            switch result {
            case .success: #expect(isAccepted)
            case .failure(let error):
                #expect(!isAccepted && error.errorCode == 2104)
                #expect("\(error)".contains(type), "\(error)")
            }
        }
    }

    @Test("Cookies are the downloader's own, and go to their host with those of a request") func cookies() async throws
    {
        try await withDownloader { server, downloader in
            server.route("/set", TestResponse(headers: ["Set-Cookie": "a=1; Path=/"], body: someBytes))
            server.route("/a", .data(someBytes))
            #expect(await Caller.load(server.url("/set"), with: downloader).data == someBytes)
            let modifier = AnyModifier(headers: ["Cookie": "b=2"])
            #expect(await Caller.load(server.url("/a"), with: downloader, [.requestModifier(modifier)]).data != nil)
            let field = try #require(server.lastRequest("/a")?.header("Cookie"))
            #expect(Set(field.components(separatedBy: "; ")) == ["a=1", "b=2"])
            let other = ImageDownloader(name: "other")
            #expect(await Caller.load(server.url("/a"), with: other).data != nil)
            #expect(server.lastRequest("/a")?.header("Cookie") == nil)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieAcceptPolicy = .never
            downloader.sessionConfiguration = configuration
            #expect(await Caller.load(server.url("/a"), with: downloader).data != nil)
            #expect(server.lastRequest("/a")?.header("Cookie") == nil)
        }
    }

    @Test("A suspended downloader starts nothing, and goes on with what has begun, redirects too") func suspension()
        async throws
    {
        try await withDownloader { server, downloader in
            let gate = Gate()
            server.route("/a", TestResponse.redirect(to: "/b").with { $0.gate = gate })
            server.route("/b", .data(someBytes))
            let running = Caller.load(server.url("/a"), with: downloader)
            await server.waitForRequests(to: "/a")
            downloader.isSuspended = true
            let waiting = Caller.load(server.url("/b"), with: downloader)
            #expect(downloader.currentDownloadCount == 2)
            gate.open()
            #expect(await running.data == someBytes)
            #expect(server.count("/b") == 1 && waiting.completionCount == 0)
            downloader.isSuspended = false
            #expect(await waiting.data == someBytes)
            #expect(downloader.currentDownloadCount == 0)
        }
    }

    @Test("An invalidated downloader ends its downloads, and refuses those to come") func invalidation() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let running = Caller.load(with: downloader)
        downloader.invalidate()
        #expect(await running.error?.isCancelled == true)
        let late = Caller.load(with: downloader)
        #expect(await late.error?.errorCode == 1104)
        #expect(silent.isInvalidated && silent.startCount == 1)
    }

    @Test("A subclass may override every form, and the initializer with a name") func subclass() async throws {
        final class Mine: ImageDownloader, @unchecked Sendable {
            let forms = Counter()
            override init(name: String) { super.init(name: "mine " + name) }
            override func downloadImage(
                with url: URL,
                options: KingfisherOptionsInfo? = nil,
                completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
            ) -> DownloadTask {
                forms.add()
                return super.downloadImage(with: url, options: options, completionHandler: completionHandler)
            }
            override func downloadImage(
                with url: URL,
                options: KingfisherOptionsInfo? = nil,
                progressBlock: DownloadProgressBlock? = nil,
                completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
            ) -> DownloadTask {
                forms.add()
                return super.downloadImage(
                    with: url,
                    options: options,
                    progressBlock: progressBlock,
                    completionHandler: completionHandler
                )
            }
        }
        let mine = Mine(name: "a")
        #expect(mine.name == "mine a")
        mine.requestsUsePipelining = true
        #expect(mine.requestsUsePipelining)
        mine.downloadImage(with: fakeURL, options: nil, completionHandler: nil).cancel()
        mine.downloadImage(with: fakeURL, options: nil, progressBlock: nil, completionHandler: nil).cancel()
        #expect(mine.forms.value == 2)
        let delegate: any ImageDownloaderDelegate = mine
        #expect(delegate.isValidStatusCode(200, for: mine))
    }

    @Test("The task below a session data task is there with it, and says how far it is") func task() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let caller = Caller.load(with: downloader, [.downloadPriority(0.75)])
        let task = try #require(await caller.task.sessionTask?.task)
        #expect(task == (await caller.task.sessionTask?.task))
        #expect(task.state == .running && task.priority == 0.75 && task.originalRequest.url == fakeURL)
        task.priority = 0.25
        #expect(silent.transfers[0].priority == 0.25)
        silent.transfers[0].play(.data(someBytes))
        #expect(await caller.data == someBytes)
        #expect(task.state == .completed && (task.response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("A live photo's file is downloaded as it is") func livePhotoFile() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes))
            let file = try await downloader.downloadLivePhotoResource(
                with: server.url("/a"),
                options: KingfisherParsedOptionsInfo()
            )
            #expect(file.originalData == someBytes && file.url == server.url("/a"))
        }
    }
}
