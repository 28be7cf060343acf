// What must not happen when a server is asked about a cached image: a wrong image, one that may not be kept, one that
// nobody asks about any more.

import Foundation
import KFStorage
import KFSupport
import KingfisherTestSupport
import Testing

@_spi(Server) @testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct RevalidationTests {
    private let respecting: KingfisherOptionsInfo = [.respectCacheControl, .waitForCache]
    private let refreshing: KingfisherOptionsInfo = [.refreshCached, .waitForCache]

    private func image(_ fields: [String: String] = [:], etag: String? = "\"1\"", width: Int = 64) throws
        -> TestResponse
    {
        TestResponse(headers: fields, body: try SampleImage.png(width, 64)).with { $0.etag = etag }
    }

    /// Meets a challenge with a name and a password.
    private final class Responder: AuthenticationChallengeResponsible, Sendable {
        func downloader(
            _ downloader: ImageDownloader,
            task: SessionDataTask,
            didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            (.useCredential, URLCredential(user: "a", password: "b", persistence: .none))
        }
    }

    @Test("What came for the password of a challenge is not stored in a shared cache", arguments: ["", "public, "])
    func challenge(control: String) async throws {
        try await Rig.run { rig in
            let body = try SampleImage.png()
            rig.server.route("/a.png") { request in
                guard request.header("Authorization") != nil else {
                    return TestResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"images\""])
                }
                return TestResponse(headers: ["Cache-Control": "\(control)max-age=100"], body: body)
            }
            let (url, responder) = (rig.server.url("/a.png"), Responder())
            rig.manager.downloader.authenticationChallengeResponder = responder
            rig.cache.isShared = true
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(rig.cache.isCached(forKey: url.cacheKey) == !control.isEmpty)
        }
    }

    @Test("What a loader brings is not stored in a shared cache, unless it says that it may")
    func loader() async throws {
        struct Loader: ImageLoading {
            let (data, control): (Data, String)

            func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool { true }
            func load(
                _ url: URL,
                options: KingfisherParsedOptionsInfo,
                progress: @escaping @Sendable (Int64, Int64) -> Void
            ) async throws -> (Data, URLResponse?) {
                let fields = ["Cache-Control": control]
                return (data, HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
            }
        }
        try await Rig.run { rig in
            rig.cache.isShared = true
            let data = try SampleImage.png()
            for (control, isStored) in [("max-age=100", false), ("public, max-age=100", true)] {
                rig.manager.loaders.add(Loader(data: data, control: control))
                let url = try #require(URL(string: "own://host/\(isStored)"))
                _ = try await rig.manager.retrieveImage(with: url, options: respecting)
                #expect(rig.cache.isCached(forKey: url.cacheKey) == isStored)
            }
        }
    }

    /// Says "not modified" to who has something, else sends the image.
    private final class Store: ConditionalImageLoading {
        let data: Data
        let calls = Locked<[[String: String]]>([])
        let gate = Gate()

        init(data: Data) { self.data = data }

        func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool { true }
        func load(_ url: URL, unless conditions: [String: String]) async throws -> (Data, URLResponse?) {
            let isFirst = calls.withLock { calls in
                calls.append(conditions)
                return calls.count == 1
            }
            if !isFirst { await gate.wait() }
            let status = conditions.isEmpty ? 200 : 304
            let fields = ["ETag": "\"1\"", "Cache-Control": "max-age=0"]
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
            guard let response, status == 200 else {
                throw KingfisherError.responseError(reason: .invalidHTTPStatusCode(response: try #require(response)))
            }
            return (data, response)
        }
    }

    @Test("What a conditional loader brings is kept in a shared cache, and confirmed for those only who have it")
    func conditionalLoader() async throws {
        try await Rig.run { rig in
            rig.cache.isShared = true
            let store = Store(data: try SampleImage.png())
            rig.manager.loaders.add(store)
            let url = try #require(URL(string: "own://host/a"))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(rig.cache.isCached(forKey: url.cacheKey))
            // One has the image and asks on a condition, the other wants something else made of it.
            let small = respecting + [.processor(ResizingImageProcessor(referenceSize: CGSize(width: 8, height: 8)))]
            async let confirmed = rig.manager.retrieveImage(with: url, options: respecting)
            async let other = rig.manager.retrieveEncoded(with: .network(url), options: small + [.forceRefresh])
            while store.calls.withLock({ $0.count }) < 3 { await Task.yield() }
            store.gate.open()
            #expect(try await confirmed.revalidation?.isNotModified == true)
            #expect(try await other.pixelWidth == 8)
            #expect(Set(store.calls.withLock { $0 }) == [[:], ["If-None-Match": "\"1\""]])
        }
    }

    @Test("A 304 that forbids storing removes the image from the cache", arguments: ["no-store", "private"])
    func confirmedAndForbidden(control: String) async throws {
        try await Rig.run { rig in
            rig.cache.isShared = true
            let forbidding = TestResponse(status: 304, headers: ["Cache-Control": control])
            let url = rig.server.route("/a.png", sequence: [try image(["Cache-Control": "max-age=0"]), forbidding])
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            let result = try await rig.manager.retrieveImage(with: url, options: respecting)
            try #require(result.revalidation?.isNotModified == true)
            while rig.cache.isCached(forKey: url.cacheKey) { await Task.yield() }
        }
    }

    @Test("A server that cannot be reached does not make what must not be stored usable")
    func forbiddenAndUnreachable() {
        let time = Date(timeIntervalSince1970: 0)
        let gone = KingfisherError.responseError(reason: .URLSessionError(error: URLError(.cannotConnectToHost)))
        func mayBeUsed(_ control: String, inShared isShared: Bool) -> Bool {
            CacheMetadata(cacheControl: control, storedAt: time).mayBeUsed(after: gone, at: time, inShared: isShared)
        }
        #expect(!mayBeUsed("no-store", inShared: false) && !mayBeUsed("private", inShared: true))
        #expect(mayBeUsed("private", inShared: false))
    }

    @Test("Validators are not sent for another URL with the same key") func otherURL() async throws {
        try await Rig.run { rig in
            let images = [try image(), try image(width: 8)]
            rig.server.route("/a.png") { request in images[request.query == "id=1" ? 0 : 1] }
            func load(_ id: Int) async throws -> RetrieveImageResult {
                let resource = KF.ImageResource(downloadURL: rig.server.url("/a.png?id=\(id)"), cacheKey: "me")
                return try await rig.manager.retrieveImage(with: resource, options: refreshing)
            }
            _ = try await load(1)
            let other = try await load(2)
            #expect(other.image.pixelWidth == 8)
        }
    }

    @Test("An image behind a redirect is confirmed as any other") func redirect() async throws {
        try await Rig.run { rig in
            rig.server.route("/moved", .redirect(to: "/a.png"))
            rig.server.route("/a.png", try image())
            for _ in 0..<3 {
                _ = try await rig.manager.retrieveImage(with: rig.server.url("/moved"), options: refreshing)
            }
            #expect(rig.server.count("/a.png") == 3)
            #expect(rig.server.lastRequest("/a.png")?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test("Where a filter makes the keys, validators are sent for URLs with the same key")
    func filteredURL() async throws {
        try await Rig.run { rig in
            rig.manager.cacheKeyFilter = QueryItemsCacheKeyFilter(removing: ["sig"])
            rig.server.route("/a.png", try image())
            _ = try await rig.manager.retrieveImage(with: rig.server.url("/a.png?sig=1"), options: refreshing)
            let next = try await rig.manager.retrieveImage(with: rig.server.url("/a.png?sig=2"), options: refreshing)
            #expect(next.revalidation?.isNotModified == true)
            #expect(rig.server.lastRequest("/a.png")?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test("Using an image does not prolong its freshness, whatever the option says") func prolonging() async throws {
        try await Rig.run { rig in
            let start = Date()
            let now = Locked(start)
            let memory = MemoryStorage.Backend<KFCrossPlatformImage>(
                config: MemoryStorage.Config(totalCostLimit: 0, cleanInterval: 0),
                clock: { now.withLock { $0 } }
            )
            let cache = ImageCache(memoryStorage: memory, diskStorage: rig.cache.diskStorage)
            let extending = ExpirationExtending.expirationTime(.days(7))
            var options = KingfisherParsedOptionsInfo(respecting + [.memoryCacheAccessExtendingExpiration(extending)])
            options.memoryCacheExpiration = .date(start + 1_000)
            try await cache.store(SampleImage.gradient(8, 8), forKey: "a", options: options)
            #expect(cache.retrieveImageInMemoryCache(forKey: "a", options: options) != nil)
            now.withLock { $0 = start + 999 }
            #expect(cache.findFreshInMemory(EntryKey("a", options), options) != nil)
            now.withLock { $0 = start + 1_001 }
            #expect(cache.findFreshInMemory(EntryKey("a", options), options) == nil)
            #expect(cache.retrieveImageInMemoryCache(forKey: "a", options: options) != nil)
        }
    }

    @Test("A cell that shows another image by now is not shown an old one") func staleForSuperseded() async throws {
        try await Rig.run { rig in
            let (gate, url) = (Gate(), rig.server.url("/a.png"))
            rig.server.route("/a.png", sequence: [try image(), try image(etag: "\"2\"").with { $0.gate = gate }])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let queue = DispatchQueue(label: "callbacks")
            queue.suspend()
            let shown = Counter()
            let options = refreshing + [.onStaleImage { _ in shown.add() }, .callbackQueue(.dispatch(queue))]
            let ended = Promise<Void>()
            let task = rig.manager.retrieveImage(with: url, options: options) { _ in ended.fulfil(()) }
            await rig.server.waitForRequests(2, to: "/a.png")
            task?.cancel()
            queue.resume()
            await ended.value
            #expect(shown.value == 0)
            gate.open()
        }
    }

    @Test("A refresh that fails is an error if the options say so") func failureIsError() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", sequence: [try image(), .status(404)])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let old = try await rig.manager.retrieveImage(with: url, options: refreshing)
            #expect(old.revalidation?.failure != nil)
            for more in [KingfisherOptionsInfoItem.refreshFailureIsError, .respectCacheControl] {
                let error = await failure {
                    try await rig.manager.retrieveImage(with: url, options: refreshing + [more])
                }
                #expect(error?.isInvalidResponseStatusCode(404) == true)
            }
        }
    }

    @Test("A field that is too long to be kept does not make a response fresh for ever") func longFields() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        func kept(_ fields: [String: String]) throws -> CacheMetadata {
            let metadata = CacheMetadata(url: url) { fields[$0] }
            return try #require(CacheMetadata(encoded: metadata.encoded()))
        }
        let long = String(repeating: "x", count: 1_400)
        let tagged = try kept(["ETag": "\"\(long)\"", "Cache-Control": "max-age=10", "Vary": "Accept"])
        #expect(tagged.cacheControl == "max-age=10" && tagged.vary == "Accept")
        #expect(try kept(["Cache-Control": "max-age=10, x=\(long)"]).freshUntil(inShared: false) == .distantPast)
    }

    @Test("An original in memory is marked when it depends on the request, and does not come back when it is removed")
    func originalInMemory() async throws {
        try await Rig.run { rig in
            let body = try SampleImage.png()
            let url = rig.server.route("/a.png") { _ in
                TestResponse(headers: ["Vary": "X-Width", "Cache-Control": "max-age=100"], body: body)
            }
            let options = respecting + [.processor(CountingProcessor("one")), .originalStoreCacheLayers(.all)]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            let plain = KingfisherParsedOptionsInfo(respecting)
            let modified = KingfisherParsedOptionsInfo(
                respecting + [.requestModifier(AnyModifier(headers: ["X-Width": "8"]))]
            )
            #expect(rig.cache.findFreshInMemory(EntryKey(url.cacheKey, plain), plain) != nil)
            #expect(rig.cache.findFreshInMemory(EntryKey(url.cacheKey, modified), modified) == nil)
        }
    }
}
