// Responses with status 304: they end with the cached image, and fail only if there is none.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("An image that its server reports as not modified comes from the cache") struct NotModifiedTests {
    private static func condition(_ etag: String) -> KingfisherOptionsInfoItem {
        .requestModifier(
            AnyModifier { request in
                var request = request
                request.setValue(etag, forHTTPHeaderField: "If-None-Match")
                return request
            }
        )
    }

    private let again: KingfisherOptionsInfo = [.forceRefresh, condition("\"1\""), .waitForCache]

    private func picture(_ etag: String = "\"1\"", width: Int = 64) throws -> TestResponse {
        TestResponse.data(try SampleImage.png(width, 64)).with { $0.etag = etag }
    }

    @Test("A 304 response to a refresh ends with the cached image", arguments: [CacheType.memory, .disk])
    func cachedImage(type: CacheType) async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try picture())
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            if type == .disk { rig.cache.clearMemoryCache() }

            let result = try await rig.manager.retrieveImage(with: url, options: again)
            #expect(result.cacheType == type)
            #expect(result.image.pixelWidth == 64 && result.data() != nil && result.metrics == nil)
            #expect(rig.server.count("/a.png") == 2, "The server was called.")
            #expect(rig.cache.isCached(forKey: url.cacheKey))
        }
    }

    @Test("A 200 response to a refresh ends with the new image") func newImage() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try picture())
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            rig.server.route("/a.png", try picture("\"2\"", width: 32))
            let result = try await rig.manager.retrieveImage(with: url, options: again)
            #expect(result.cacheType == .none && result.image.pixelWidth == 32)
        }
    }

    @Test("A 304 response with nothing in the cache is error 2002 with the status")
    func nothingToConfirm() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try picture())
            let error = await failure { try await rig.manager.retrieveImage(with: url, options: again) }
            #expect(error?.isInvalidResponseStatusCode(304) == true)
            #expect(error?.errorDescription?.contains("304") == true)
            #expect(!rig.cache.isCached(forKey: url.cacheKey))
        }
    }

    @Test("After a 304 response the processed image is looked up, else the original is processed")
    func processedImages() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", try picture())
            let (url, processor) = (rig.server.url("/a.png"), CountingProcessor("one"))
            let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
            _ = try await rig.manager.retrieveImage(with: url, options: options + [.cacheOriginalImage])
            #expect(try await rig.manager.retrieveImage(with: url, options: options + again).cacheType == .memory)
            #expect(processor.runs.value == 1)

            let other = CountingProcessor("other")
            let made = try await rig.manager.retrieveImage(with: url, options: [.processor(other)] + again)
            #expect(made.cacheType == .none && other.runs.value == 1)
            #expect(rig.cache.isCached(forKey: url.cacheKey, processorIdentifier: "other"))
            #expect(rig.server.count("/a.png") == 3)
        }
    }

    @Test("A load that skipped the disk finds the image there after a 304 response")
    func confirmedOnDisk() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try picture())
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            rig.cache.clearMemoryCache()
            let options: KingfisherOptionsInfo = [.fromMemoryCacheOrRefresh, Self.condition("\"1\"")]
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .disk)
        }
    }

    @Test("A 304 response to an unconditional request ends with the cached image, or with error 2103 if there is none")
    func unconditionalRequest() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", sequence: [try picture(), TestResponse(status: 304)])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let result = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh])
            #expect(result.cacheType == .memory)
            try await rig.cache.removeImage(forKey: url.cacheKey)
            #expect(await failure { try await rig.manager.retrieveImage(with: url) }?.errorCode == 2103)
        }
    }

    @Test("A 304 response causes no retry and no alternative source; a replacement is reported once")
    func noFailure() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try picture())
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let retries = Counter()
            let strategy = DelayRetryStrategy(
                maxRetryCount: 5,
                retryInterval: .custom { _ in
                    retries.add()
                    return 0
                }
            )
            let options = again + [.retryStrategy(strategy), .alternativeSources([.network(rig.server.url("/b.png"))])]
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .memory)
            #expect(retries.value == 0 && rig.server.count("/b.png") == 0)

            let (events, done) = (Box<[String]>([]), Promise<Void>())
            rig.manager.retrieveImage(
                with: rig.server.url("/missing"),
                options: again + [.alternativeSources([.network(url)])],
                downloadTaskUpdated: { task in events.change { $0.append(task == nil ? "nil" : "task") } },
                completionHandler: { result in
                    events.change { $0.append("\((try? result.get())?.cacheType as Any)") }
                    done.fulfil(())
                }
            )
            await done.value
            #expect(events.value == ["task", "\(CacheType.memory as CacheType? as Any)"])
        }
    }

    @Test("A 304 response to a download of bytes is an error")
    func bytesOnly() async throws {
        try await withDownloader { server, downloader in
            server.route("/a.png", try picture())
            let delegate = RecordingDelegate()
            downloader.delegate = delegate
            let options = KingfisherParsedOptionsInfo([Self.condition("\"1\"")])
            let error = await failure { () async throws(KingfisherError) in
                try await downloader.downloadData(with: server.url("/a.png"), options: options)
            }
            #expect(error?.isInvalidResponseStatusCode(304) == true)
            #expect(delegate.log.value.last == "finish with error")
            #expect(!delegate.log.value.contains { $0.hasPrefix("data") }, "There is none to change.")
        }
    }

    @Test(
        "Concurrent 304 responses end with the cached image, also in older forms, and fail if the entry is not an image"
    )
    func notModified() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.etag = "\"1\"" })
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
            manager.deprecatedForms.downloadAndCacheImage(
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
}
