// Request modifiers and redirect handlers of a downloader.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// A slow modifier.
private struct AsyncModifier: AsyncImageDownloadRequestModifier {
    let gate = Gate()
    let startedTask = Promise<DownloadTask?>()
    var change: @Sendable (URLRequest) -> URLRequest? = { $0 }
    func modified(for request: URLRequest) async -> URLRequest? {
        await gate.wait()
        return change(request)
    }
    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { { [startedTask] in startedTask.fulfil($0) } }
}

@Suite struct RequestModifierTests {
    private let silent = FakeTransport { _ in }
    private let immediate = FakeTransport { $0.play(.data(someBytes)) }

    @Test("The URL set by the modifier is loaded and reported") func modifiedURL() async throws {
        try await withDownloader { server, downloader in
            server.route("/new", .data(someBytes))
            let new = server.url("/new")
            let caller = Caller.load(
                server.url("/old"),
                with: downloader,
                [.requestModifier(AnyModifier { _ in URLRequest(url: new) })]
            )
            #expect(await caller.task.isInitialized)
            #expect(await caller.url == new)
            #expect(server.count("/old") == 0)
        }
    }

    @Test("A synchronous modifier is called synchronously") func synchronousModifier() {
        let modifier: any AsyncImageDownloadRequestModifier = AnyModifier { $0 }
        let downloader = ImageDownloader(name: "test", transport: silent)
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        #expect(silent.startCount == 1)
        caller.cancel()
    }

    @Test("A modifier that returns nil refuses the request without a transfer") func refusedRequest() async throws {
        let delegate = RecordingDelegate()
        let downloader = ImageDownloader(name: "test", transport: silent)
        downloader.delegate = delegate
        let queue = DispatchQueue(label: "callback"), key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let seen = Promise<(code: Int?, isThere: Bool)>()
        downloader.downloadImage(
            with: fakeURL,
            options: [.requestModifier(AnyModifier { _ in nil }), .callbackQueue(.dispatch(queue))]
        ) { result in
            var code: Int?
            if case .failure(let error) = result { code = error.errorCode }
            seen.fulfil((code, DispatchQueue.getSpecific(key: key) == true))
        }
        #expect(await seen.value.code == 1001)
        #expect(await seen.value.isThere)
        #expect(silent.startCount == 0)
        #expect(delegate.log.value == [])
    }

    @Test("A request without a URL is invalid") func requestWithoutURL() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        var modifier = AsyncModifier()
        modifier.change = { request in
            var request = request
            request.url = nil
            return request
        }
        modifier.gate.open()
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        guard case .requestError(reason: .invalidURL(let request)) = await caller.error else {
            Issue.record("another error")
            return
        }
        #expect(request.url == nil)
        #expect(modifier.startedTask.valueIfFulfilled == nil)
        #expect(silent.startCount == 0)
    }

    @Test("An asynchronous modifier is notified of the task that was returned") func asyncModifierTask()
        async throws
    {
        let modifier = AsyncModifier()
        let downloader = ImageDownloader(name: "test", transport: immediate)
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        #expect(await !caller.task.isInitialized)
        #expect(caller.resultIfAny == nil)
        modifier.gate.open()
        let startedTask = await modifier.startedTask.value
        #expect(await startedTask === caller.task)
        #expect(startedTask?.isInitialized == true)
        #expect(await caller.data == someBytes)
    }

    @Test("The modifier of a subscriber that joins is notified of its task as well")
    func joiningModifierTask() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let first = Caller.load(with: downloader)
        let modifier = AsyncModifier()
        modifier.gate.open()
        let second = Caller.load(with: downloader, [.requestModifier(modifier)])
        #expect(await modifier.startedTask.value != nil)
        #expect(silent.startCount == 1)
        silent.transfers[0].play(.data(someBytes))
        #expect(await first.data == someBytes)
        #expect(await second.data == someBytes)
    }

    @Test("A timeout set by the modifier applies") func modifiedTimeout() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let modifier = AnyModifier { request in
            var request = request
            request.timeoutInterval = 3
            return request
        }
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        #expect(silent.transfers[0].policy.idleTimeout == 3)
        caller.cancel()
    }
}

@Suite struct RedirectHandlerTests {
    @Test("Redirects are followed, and the reported URL is the first one") func redirects() async throws {
        try await withDownloader { server, downloader in
            server.route("/1", .redirect(to: "/2"))
            server.route("/2", .redirect(to: "/3", status: 308))
            server.route("/3", .data(someBytes))
            let caller = Caller.load(server.url("/1"), with: downloader)
            #expect(await caller.data == someBytes)
            #expect(await caller.url == server.url("/1"))
            #expect(await caller.task.sessionTask?.originalURL == server.url("/1"))
        }
    }

    @Test("A redirect handler gets the response and may change the request") func redirectHandler() async throws {
        try await withDownloader { server, downloader in
            server.route("/1", .redirect(to: "/2"))
            server.route("/2", .data(someBytes))
            let seen = Box<[Int]>([])
            let handler = AnyRedirectHandler { _, response, request, proceed in
                seen.change { $0.append(response.statusCode) }
                var request = request
                request.setValue("yes", forHTTPHeaderField: "X-Mine")
                proceed(request)
                proceed(nil)
            }
            let caller = Caller.load(server.url("/1"), with: downloader, [.redirectHandler(handler)])
            #expect(await caller.data == someBytes)
            #expect(seen.value == [302])
            #expect(server.lastRequest("/2")?.header("X-Mine") == "yes")
        }
    }

    @Test("A handler that returns nil makes the redirect the response") func refusedRedirect() async throws {
        try await withDownloader { server, downloader in
            server.route("/1", .redirect(to: "/2"))
            let handler = AnyRedirectHandler { _, _, _, proceed in proceed(nil) }
            let caller = Caller.load(server.url("/1"), with: downloader, [.redirectHandler(handler)])
            #expect(await caller.error?.errorCode == 4001)
            #expect(server.count("/2") == 0)
        }
    }

    @Test("Downloads with other redirect handlers do not share a transfer; equal handlers do")
    func redirectHandlersInKey() async throws {
        try await withDownloader { server, downloader in
            let gate = Gate()
            server.route("/1", .redirect(to: "/2").with { $0.gate = gate })
            server.route("/2") { TestResponse.data(Data(($0.header("X-Handler") ?? "none").utf8)) }
            struct Naming: ImageDownloadRedirectHandler, Hashable {
                let name: String
                func handleHTTPRedirection(
                    for task: SessionDataTask,
                    response: HTTPURLResponse,
                    newRequest: URLRequest
                ) async -> URLRequest? {
                    var request = newRequest
                    request.setValue(name, forHTTPHeaderField: "X-Handler")
                    return request
                }
            }
            let names = ["none", "a", "b", "b"]
            let callers = names.map { name in
                Caller.load(
                    server.url("/1"),
                    with: downloader,
                    name == "none" ? [] : [.redirectHandler(Naming(name: name))]
                )
            }
            gate.open()
            for (name, caller) in zip(names, callers) { #expect(await caller.data == Data(name.utf8)) }
            #expect(server.count("/1") == 3)
        }
    }

    @Test("A redirect handler that never calls back ends in a timeout") func silentRedirectHandler() async throws {
        try await withDownloader { server, downloader in
            downloader.downloadTimeout = 0.3
            server.route("/1", .redirect(to: "/2"))
            let handler = AnyRedirectHandler { _, _, _, _ in }
            let caller = Caller.load(server.url("/1"), with: downloader, [.redirectHandler(handler)])
            #expect(await caller.error?.urlError?.code == .timedOut)
        }
    }

    @Test("A redirect loop ends after twenty hops", arguments: [false, true]) func redirectLoop(hasHandler: Bool)
        async throws
    {
        try await withDownloader { server, downloader in
            server.route("/loop", .redirect(to: "/loop"))
            let handler = AnyRedirectHandler { _, _, request, proceed in proceed(request) }
            let caller = Caller.load(
                server.url("/loop"),
                with: downloader,
                hasHandler ? [.redirectHandler(handler)] : []
            )
            #expect(await caller.error?.urlError?.code.rawValue == -1007)
            #expect(server.count("/loop") == 21)
        }
    }

    @Test("Credentials do not follow a redirect to another origin") func credentialHeaders() async throws {
        try await withDownloader { server, downloader in
            let other = try await TestServer.start()
            other.route("/2", .data(someBytes))
            server.route("/1", .redirect(to: other.url("/2").absoluteString))
            let modifier = AnyModifier { request in
                var request = request
                request.setValue("secret", forHTTPHeaderField: "Authorization")
                request.setValue("plain", forHTTPHeaderField: "X-Plain")
                return request
            }
            let caller = Caller.load(server.url("/1"), with: downloader, [.requestModifier(modifier)])
            #expect(await caller.data == someBytes)
            #expect(server.lastRequest("/1")?.header("Authorization") == "secret")
            #expect(other.lastRequest("/2")?.header("Authorization") == nil)
            #expect(other.lastRequest("/2")?.header("X-Plain") == "plain")
            await other.stop()
        }
    }

    @Test("Credentials of a URL do not follow a redirect to another origin")
    func urlCredentials() async throws {
        try await withDownloader { server, downloader in
            let other = try await TestServer.start()
            other.route("/3", .data(someBytes))
            server.route("/1", .redirect(to: "/2"))
            server.route("/2", .redirect(to: other.url("/3").absoluteString))
            var parts = try #require(URLComponents(url: server.url("/1"), resolvingAgainstBaseURL: false))
            (parts.user, parts.password) = ("me", "s@fe")
            let caller = Caller.load(try #require(parts.url), with: downloader)
            #expect(await caller.data == someBytes)
            let field = "Basic bWU6c0BmZQ=="
            #expect(server.requests.map { $0.header("Authorization") } == [field, field])
            #expect(other.lastRequest("/3")?.header("Authorization") == nil)
            await other.stop()
        }
    }

    @Test("A redirect from HTTPS to HTTP needs a handler") func redirectToHTTP() async throws {
        let secure = try await TestServer.start(usesTLS: true)
        try await withDownloader { server, downloader in
            downloader.trustedHosts = ["localhost"]
            secure.route("/1", .redirect(to: server.url("/2").absoluteString))
            server.route("/2", .data(someBytes))
            let refused = Caller.load(secure.url("/1"), with: downloader)
            #expect(await refused.error?.errorCode == 2003)
            #expect(server.count("/2") == 0)
            let handler = AnyRedirectHandler { _, _, request, proceed in proceed(request) }
            let allowed = Caller.load(secure.url("/1"), with: downloader, [.redirectHandler(handler)])
            #expect(await allowed.data == someBytes)
        }
        await secure.stop()
    }
}
