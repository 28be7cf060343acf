// The cache metadata of a response are stored with its entry on disk and survive a restart.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct CacheMetadataStorageTests {
    private func response(eTag: String? = "\"1\"", _ others: [String: String] = [:]) throws -> TestResponse {
        TestResponse.data(try Picture.png()).with { response in
            response.headers["ETag"] = eTag
            for (name, value) in others { response.headers[name] = value }
        }
    }

    @Test("a download's cache metadata are stored with its entry") func ofDownload() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", try response(["Cache-Control": "max-age=60", "Last-Modified": "yesterday"]))
            let url = rig.server.url("/a.png")
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])

            let metadata = try #require(try await rig.cache.cacheMetadata(forKey: url.absoluteString))
            #expect(metadata.eTag == "\"1\"")
            #expect(metadata.cacheControl == "max-age=60")
            #expect(metadata.lastModified == "yesterday")
            #expect(metadata.url == url)

            let nextStart = try ImageCache(name: "test", cacheDirectoryURL: rig.directory)
            #expect(try await nextStart.cacheMetadata(forKey: url.absoluteString) == metadata)

            try await rig.cache.removeImage(forKey: url.absoluteString)
            #expect(try await rig.cache.cacheMetadata(forKey: url.absoluteString) == nil)
        }
    }

    @Test("the processed image and the original both keep them") func factsOfBothEntries() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", try response())
            let url = rig.server.url("/a.png")
            let processor = CountingProcessor("half")
            let options: KingfisherOptionsInfo = [.processor(processor), .cacheOriginalImage, .waitForCache]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            let key = url.absoluteString
            #expect(try await rig.cache.cacheMetadata(forKey: key)?.eTag == "\"1\"")
            #expect(try await rig.cache.cacheMetadata(forKey: key, processorIdentifier: "half")?.eTag == "\"1\"")
        }
    }

    @Test("a later response replaces them") func replacedFacts() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            for (eTag, expected) in [("\"1\"", "\"1\""), (nil, nil), ("\"2\"", "\"2\"")] as [(String?, String?)] {
                rig.server.route("/a.png", try response(eTag: eTag))
                _ = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh, .waitForCache])
                #expect(try await rig.cache.cacheMetadata(forKey: url.absoluteString)?.eTag == expected)
            }
        }
    }

    @Test("images from providers have none") func providerFacts() async throws {
        try await Rig.run { rig in
            let provider = RawImageDataProvider(data: try Picture.png(), cacheKey: "raw")
            _ = try await rig.manager.retrieveImage(with: .provider(provider), options: [.waitForCache])
            #expect(rig.cache.isCached(forKey: "raw"))
            #expect(try await rig.cache.cacheMetadata(forKey: "raw") == nil)
        }
    }
}
