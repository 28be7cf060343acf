// Storing the cache metadata of responses: with their entry on disk, across restarts.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct CacheMetadataStorageTests {
    private func response(eTag: String? = "\"1\"", _ others: [String: String] = [:]) throws -> TestResponse {
        TestResponse.data(try SampleImage.png()).with { response in
            response.headers["ETag"] = eTag
            for (name, value) in others { response.headers[name] = value }
        }
    }

    @Test("A download's cache metadata are stored with its entry") func ofDownload() async throws {
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

    @Test("The entries of the processed image and of the original both keep the cache metadata")
    func factsOfBothEntries() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try response())
            let processor = CountingProcessor("half")
            let options: KingfisherOptionsInfo = [.processor(processor), .cacheOriginalImage, .waitForCache]
            _ = try await rig.manager.retrieveImage(with: url, options: options)
            let key = url.absoluteString
            #expect(try await rig.cache.cacheMetadata(forKey: key)?.eTag == "\"1\"")
            #expect(try await rig.cache.cacheMetadata(forKey: key, processorIdentifier: "half")?.eTag == "\"1\"")
        }
    }

    @Test("A later response replaces the cache metadata") func replacedFacts() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            for (eTag, expected) in [("\"1\"", "\"1\""), (nil, nil), ("\"2\"", "\"2\"")] as [(String?, String?)] {
                rig.server.route("/a.png", try response(eTag: eTag))
                _ = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh, .waitForCache])
                #expect(try await rig.cache.cacheMetadata(forKey: url.absoluteString)?.eTag == expected)
            }
        }
    }

    @Test("Images from providers have no cache metadata") func providerFacts() async throws {
        try await Rig.run { rig in
            let provider = RawImageDataProvider(data: try SampleImage.png(), cacheKey: "raw")
            _ = try await rig.manager.retrieveImage(with: .provider(provider), options: [.waitForCache])
            #expect(rig.cache.isCached(forKey: "raw"))
            #expect(try await rig.cache.cacheMetadata(forKey: "raw") == nil)
        }
    }
}
