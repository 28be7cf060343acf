// Sources of images: keys, equality, conversion.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct SourceTests {
    private let url = URL(string: "https://example.com/a/b.png?size=2#part")

    @Test("The key of a URL is its text") func urlKey() throws {
        let url = try #require(url)
        #expect(url.cacheKey == "https://example.com/a/b.png?size=2#part")
        #expect(url.downloadURL == url)
        #expect(KF.ImageResource(downloadURL: url).cacheKey == url.cacheKey)
        #expect(KF.ImageResource(downloadURL: url, cacheKey: "mine").cacheKey == "mine")
    }

    @Test("A file's key has three slashes after the prefix, and the query")
    func fileKey() throws {
        #expect(URL(fileURLWithPath: "/a/b/c.png").cacheKey == "kingfisher.local.cacheKey///a/b/c.png")
        let withQuery = try #require(URL(string: "file:///a/c.png?v=2"))
        #expect(withQuery.cacheKey == "kingfisher.local.cacheKey///a/c.png?v=2")
    }

    @Test("Two install locations of one bundle have equal keys")
    func bundledFileKey() {
        let one = URL(fileURLWithPath: "/containers/1/My.app/images/a.png")
        let two = URL(fileURLWithPath: "/containers/2/My.app/images/a.png")
        #expect(one.cacheKey == "kingfisher.local.cacheKey/My.app/images/a.png")
        #expect(one.cacheKey == two.cacheKey)
        #expect(
            URL(fileURLWithPath: "/x/Out.app/in/In.appex/a.png").cacheKey == "kingfisher.local.cacheKey/In.appex/a.png"
        )
    }

    @Test("A file URL becomes a provider and keeps an explicit key")
    func fileURLProvider() {
        let file = URL(fileURLWithPath: "/a/b.png")
        guard case .provider(let provider) = file.convertToSource() else {
            return #expect(Bool(false), "a file is not downloaded")
        }
        #expect(provider.contentURL == file)
        #expect(KF.ImageResource(downloadURL: file, cacheKey: "mine").convertToSource().cacheKey == "mine")
        #expect(file.convertToSource(overrideCacheKey: "other").cacheKey == "other")
    }

    @Test("Sources are equal by kind, key and URL")
    func equality() throws {
        let url = try #require(url), other = try #require(URL(string: "https://example.com/other"))
        #expect(Source.network(url) == Source.network(KF.ImageResource(downloadURL: url)))
        #expect(Source.network(url) != Source.network(other))
        #expect(Source.network(url) != Source.network(KF.ImageResource(downloadURL: url, cacheKey: "mine")))
        let provider = RawImageDataProvider(data: Data(), cacheKey: url.cacheKey)
        #expect(Source.provider(provider) != Source.network(url))
        #expect(Set([Source.network(url), .network(url), .network(other)]).count == 2)
        #expect(Source.network(url).url == url && Source.provider(provider).url == nil)
    }

    @Test("Malformed Base64 is an error, valid Base64 is data")
    func malformedBase64() async throws {
        let good = Base64ImageDataProvider(base64String: Data("hello".utf8).base64EncodedString(), cacheKey: "k")
        #expect(try await good.data() == Data("hello".utf8))
        let bad = Base64ImageDataProvider(base64String: "not base64 !", cacheKey: "k")
        await #expect(throws: Base64ImageDataProvider.MalformedBase64.self) { try await bad.data() }
    }

    @Test("Raw and Base64 providers call their handler before they return")
    func synchronousProviders() {
        let calls = Counter()
        RawImageDataProvider(data: Data([1]), cacheKey: "k").data { if (try? $0.get()) == Data([1]) { calls.add() } }
        Base64ImageDataProvider(base64String: "AQ==", cacheKey: "k").data {
            if (try? $0.get()) == Data([1]) { calls.add() }
        }
        #expect(calls.value == 2)
    }

    @Test("A provider reports a missing file as an error") func missingFile() async {
        let provider = LocalFileImageDataProvider(fileURL: URL(fileURLWithPath: "/nowhere/at/all.png"))
        await #expect(throws: (any Error).self) { try await provider.data() }
    }

    @Test("A provider that implements neither form of its data ends the program with a message")
    func emptyProvider() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                struct Empty: ImageDataProvider { let cacheKey = "empty" }
                _ = try await Empty().data()
            }
        )
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("Empty implements neither data() nor data(handler:)"), "\(message)")
    }

    @Test("Resources become sources with their key and URL; the older name of one still compiles")
    func resources() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let resource = KF.ImageResource(downloadURL: url, cacheKey: "key")
        guard case .network(let wrapped) = resource.convertToSource() else {
            return #expect(Bool(false), "It is to be downloaded.")
        }
        #expect(wrapped.cacheKey == "key" && wrapped.downloadURL == url)
        #expect(URL(fileURLWithPath: "/a.png").cacheKey != URL(fileURLWithPath: "/a.png").absoluteString)
    }
}
