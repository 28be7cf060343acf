// Responses that depend on fields of the request, and caches that several people share.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct VaryTests {
    private let respecting: KingfisherOptionsInfo = [.respectCacheControl, .waitForCache]

    /// A request modifier that sets a field; two with one value are equal.
    private struct Field: ImageDownloadRequestModifier, Hashable {
        let name: String
        let value: String

        func modified(for request: URLRequest) -> URLRequest? {
            var request = request
            request.setValue(value, forHTTPHeaderField: name)
            return request
        }
    }

    private func setting(_ value: String, _ name: String = "Accept") -> KingfisherOptionsInfo {
        respecting + [.requestModifier(Field(name: name, value: value))]
    }

    /// A server whose images are as wide as the field `X-Width` of the request says, else 64 pixels.
    private func serveWidths(_ rig: Rig, vary: String, control: String = "max-age=1000") -> URL {
        rig.server.route("/a.png") { request in
            let width = request.header("X-Width").flatMap { Int($0) } ?? 64
            let fields = ["Vary": vary, "Cache-Control": control]
            return TestResponse(headers: fields, body: (try? SampleImage.png(width, 64)) ?? Data())
        }
    }

    @Test("An image is used for requests with the same in the fields on which it depends", arguments: [true, false])
    func sameFields(isInMemory: Bool) async throws {
        try await Rig.run { rig in
            let url = serveWidths(rig, vary: "X-Width, Accept-Encoding")
            func width(_ options: KingfisherOptionsInfo) async throws -> Int {
                if !isInMemory { rig.cache.clearMemoryCache() }
                return try await rig.manager.retrieveImage(with: url, options: options).image.pixelWidth
            }
            for _ in 0..<2 {
                let narrow = try await width(setting("32", "X-Width"))
                #expect(narrow == 32)
            }
            #expect(rig.server.count("/a.png") == 1)
            #expect(try await width(setting("16", "X-Width")) == 16)
            #expect(try await width(respecting) == 64)
            #expect(rig.server.count("/a.png") == 3)
            #expect(try await width(respecting) == 64)
            #expect(try await width(setting("64", "Unrelated")) == 64)
            #expect(rig.server.count("/a.png") == 3)
            #expect(try await width(setting("32", "X-Width")) == 32)
        }
    }

    @Test("Without request modifiers an image that depends on the request stays in memory")
    func inMemory() async throws {
        try await Rig.run { rig in
            let url = serveWidths(rig, vary: "X-Width")
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(try await rig.manager.retrieveImage(with: url, options: respecting).cacheType == .memory)
            let other = try await rig.manager.retrieveImage(with: url, options: setting("8", "X-Width"))
            #expect(other.image.pixelWidth == 8)
            #expect(try await rig.manager.retrieveImage(with: url, options: respecting).image.pixelWidth == 64)
        }
    }

    @Test("An image that depends on everything is used for no other request") func everything() async throws {
        try await Rig.run { rig in
            let url = serveWidths(rig, vary: "*")
            for _ in 0..<2 {
                rig.cache.clearMemoryCache()
                _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            }
            #expect(rig.server.count("/a.png") == 2)
        }
    }

    @Test("Images that are not compressed otherwise do not depend on Accept-Encoding") func encoding() async throws {
        try await Rig.run { rig in
            let url = serveWidths(rig, vary: "accept-encoding")
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(try await rig.manager.retrieveImage(with: url, options: setting("x")).cacheType == .memory)
        }
    }

    @Test("A field that is too long to be kept depends on everything") func longField() throws {
        let names = (0..<200).map { "Field-\($0)" }.joined(separator: ", ")
        let url = try #require(URL(string: "https://example.com/a.png"))
        let (request, time) = (URLRequest(url: url), Date(timeIntervalSince1970: 0))
        let metadata = CacheMetadata(url: url, request: request, storedAt: time) { $0 == "Vary" ? names : nil }
        let kept = try #require(CacheMetadata(encoded: metadata.encoded()))
        #expect(kept == metadata && kept.vary == "*" && !kept.answers(request))
    }

    @Test("What a request had in the fields is kept as a digest") func secrets() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        var request = URLRequest(url: url)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        let metadata = CacheMetadata(url: url, request: request) { $0 == "Vary" ? "Authorization, Accept" : nil }
        let bytes = metadata.encoded()
        let kept = try #require(CacheMetadata(encoded: bytes))
        #expect(kept.answers(request) && !kept.answers(URLRequest(url: url)))
        #expect(Data(bytes).range(of: Data("secret".utf8)) == nil)
    }

    // MARK: Shared caches

    @Test(
        "A shared cache keeps what is not private",
        arguments: [
            ("max-age=100", true), ("private, max-age=100", false), ("public, max-age=100", true), ("no-store", false),
        ]
    )
    func shared(control: String, isStored: Bool) async throws {
        try await Rig.run { rig in
            rig.cache.isShared = true
            let url = serveWidths(rig, vary: "Accept", control: control)
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect((rig.cache.imageCachedType(forKey: url.cacheKey) != .none) == isStored)
        }
    }

    @Test(
        "A shared cache keeps the response to a request with credentials if the server allows it",
        arguments: [
            ("max-age=100", false), ("public, max-age=100", true), ("s-maxage=100", true),
            ("must-revalidate, max-age=100", true), ("", false),
        ]
    )
    func credentials(control: String, isStored: Bool) async throws {
        try await Rig.run { rig in
            rig.cache.isShared = true
            let url = serveWidths(rig, vary: "", control: control)
            let options = setting("Basic YTpi", "Authorization")
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            #expect((rig.cache.imageCachedType(forKey: url.cacheKey) != .none) == isStored)
            rig.cache.isShared = false
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(rig.cache.imageCachedType(forKey: url.cacheKey) != .none)
        }
    }

    @Test("In a shared cache s-maxage comes first, and forbids to use what is stale") func sharedAge() {
        func metadata(_ control: String) -> CacheMetadata {
            CacheMetadata(cacheControl: control, storedAt: Date(timeIntervalSince1970: 0))
        }
        let both = metadata("max-age=10, s-maxage=100, stale-if-error=1000")
        let (early, late) = (Date(timeIntervalSince1970: 50), Date(timeIntervalSince1970: 150))
        #expect(!both.isFresh(at: early) && both.isFresh(at: early, inShared: true))
        #expect(!both.isFresh(at: late, inShared: true))
        let gone = KingfisherError.responseError(reason: .URLSessionError(error: URLError(.cannotConnectToHost)))
        #expect(both.mayBeUsed(after: gone, at: late, inShared: false))
        #expect(!both.mayBeUsed(after: gone, at: late, inShared: true))
        let proxies = metadata("max-age=10, proxy-revalidate")
        #expect(proxies.mayBeUsed(after: gone, at: late, inShared: false))
        #expect(!proxies.mayBeUsed(after: gone, at: late, inShared: true))
    }
}
