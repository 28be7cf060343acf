// What a server says about caching: when it is asked, what its responses do, and what is not stored.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@_spi(Server) @testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct HTTPCachingTests {
    private static let fresh = ["Cache-Control": "max-age=1000"]
    private let respecting: KingfisherOptionsInfo = [.respectCacheControl, .waitForCache]
    private let refreshing: KingfisherOptionsInfo = [.refreshCached, .waitForCache]

    private func image(_ fields: [String: String] = [:], etag: String? = "\"1\"", width: Int = 64) throws
        -> TestResponse
    {
        TestResponse(headers: fields, body: try SampleImage.png(width, 64)).with { $0.etag = etag }
    }

    /// A response that is older than its freshness when it arrives.
    private func stale(_ more: String = "", etag: String? = "\"1\"", width: Int = 64) throws -> TestResponse {
        try image(["Cache-Control": "max-age=60" + more, "Age": "100"], etag: etag, width: width)
    }

    // MARK: What is fresh

    @Test("A fresh image is used without a request, in memory and on disk", arguments: [true, false])
    func fresh(isInMemory: Bool) async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try image(Self.fresh))
            let first = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(first.cacheType == .none && first.revalidation == nil)
            #expect(first.cacheMetadata?.cacheControl == "max-age=1000")
            for _ in 0..<2 {
                if !isInMemory { rig.cache.clearMemoryCache() }
                let next = try await rig.manager.retrieveImage(with: url, options: respecting)
                #expect(next.cacheType == (isInMemory ? .memory : .disk) && next.revalidation == nil)
            }
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("An image whose server says nothing about caching is used for as long as the cache says")
    func undated() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try image(etag: nil))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(try await rig.manager.retrieveImage(with: url, options: respecting).cacheType == .memory)
            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: url, options: respecting).cacheType == .disk)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("What is unstated is fresh for the time that is set, and as long again while its server is asked")
    func assumedFreshness() async throws {
        let cases: [(age: Double, more: String, isAsked: Bool, isWaitedFor: Bool)] = [
            (500, "", false, false), (700, "", true, false), (1_300, "", true, true),
            (700, "must-revalidate", true, true), (10, "no-cache", true, true), (700, "max-age=1000", false, false),
            (1_100, "max-age=1000", true, true),
        ]
        for (age, more, isAsked, isWaitedFor) in cases {
            try await Rig.run { rig in
                rig.server.route("/a.png", try image(more.isEmpty ? [:] : ["Cache-Control": more]))
                let (url, options) = (rig.server.url("/a.png"), respecting + [.unstatedFreshness(600)])
                let first = try await rig.manager.retrieveImage(with: url, options: options)
                var metadata = try #require(first.cacheMetadata)
                metadata.storedAt -= age
                #expect(try await rig.cache.updateCacheMetadata(metadata, forKey: url.cacheKey))
                rig.cache.clearMemoryCache()
                let next = try await rig.manager.retrieveImage(with: url, options: options)
                switch next.revalidation {
                case nil: #expect(!isAsked, "\(age) \(more)")
                case .inBackground?: #expect(isAsked && !isWaitedFor, "\(age) \(more)")
                case .notModified?: #expect(isWaitedFor, "\(age) \(more)")
                default: Issue.record("\(age) \(more)")
                }
                if isAsked { await rig.server.waitForRequests(2, to: "/a.png") }
                #expect(rig.server.count("/a.png") == (isAsked ? 2 : 1), "\(age) \(more)")
            }
        }
    }

    @Test("With such a time, what an entry without metadata is worth is not known") func unknownAge() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try image(etag: nil))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            rig.cache.clearMemoryCache()
            for count in [2, 2] {
                let options = respecting + [.unstatedFreshness(600)]
                _ = try await rig.manager.retrieveImage(with: url, options: options)
                rig.cache.clearMemoryCache()
                #expect(rig.server.count("/a.png") == count)
            }
        }
    }

    @Test("An image in memory that another load stored without regard to its server is looked up on disk")
    func storedWithoutRegard() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try stale())
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(try await rig.manager.retrieveImage(with: url).cacheType == .memory)
            let result = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(result.revalidation?.isNotModified == true)
            #expect(rig.server.lastRequest("/a.png")?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test("A stale image is confirmed by a 304, or replaced", arguments: ["", ", must-revalidate", ", no-cache"])
    func staleImage(directive: String) async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try stale(directive))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            let confirmed = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(confirmed.revalidation?.isNotModified == true)
            #expect(confirmed.cacheType == .disk && confirmed.image.pixelWidth == 64)
            rig.server.route("/a.png", try stale(directive, etag: "\"2\"", width: 32))
            let replaced = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(replaced.revalidation?.isModified == true)
            #expect(replaced.cacheType == .none && replaced.image.pixelWidth == 32)
            #expect(rig.server.count("/a.png") == 3)
            let metadata = try await rig.cache.cacheMetadata(forKey: url.cacheKey)
            #expect(metadata?.eTag == "\"2\"")
        }
    }

    @Test("A 304 that says how long the image is fresh makes it fresh") func renewal() async throws {
        try await Rig.run { rig in
            let confirmation = TestResponse(status: 304, headers: ["Cache-Control": "max-age=1000", "Age": "0"])
            let url = rig.server.route("/a.png", sequence: [try stale(), confirmation])
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            let result = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(result.cacheMetadata?.cacheControl == "max-age=1000" && result.cacheMetadata?.eTag == "\"1\"")
            #expect(try await rig.manager.retrieveImage(with: url, options: respecting).cacheType == .memory)
            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: url, options: respecting).cacheType == .disk)
            #expect(rig.server.count("/a.png") == 2)
        }
    }

    @Test("What is not fresh takes the place of a fresh image in memory") func staleAfterFresh() async throws {
        try await Rig.run { rig in
            let answers = [try image(Self.fresh), try stale(etag: "\"2\"", width: 32)]
            let url = rig.server.route("/a.png", sequence: answers)
            for (options, width) in [([], 64), ([.forceRefresh], 32), ([], 32)] as [(KingfisherOptionsInfo, Int)] {
                let result = try await rig.manager.retrieveImage(with: url, options: respecting + options)
                #expect(result.image.pixelWidth == width)
            }
        }
    }

    // MARK: What may be used though it is stale

    @Test("While the server is asked, a stale image may be the result, if the server allows it")
    func whileRevalidating() async throws {
        try await Rig.run { rig in
            let next = try image(Self.fresh, etag: "\"2\"", width: 32)
            let url = rig.server.route("/a.png", sequence: [try stale(", stale-while-revalidate=1000"), next])
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            let result = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(result.revalidation?.isInBackground == true)
            #expect(result.image.pixelWidth == 64)
            await rig.server.waitForRequests(2, to: "/a.png")
            let parsed = KingfisherParsedOptionsInfo(respecting)
            while rig.cache.findFreshInMemory(EntryKey(url.cacheKey, parsed), parsed) == nil { await Task.yield() }
            let replaced = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(replaced.cacheType == .memory && replaced.image.pixelWidth == 32)
        }
    }

    @Test("The download that a view keeps is renewed with its image in the background", .timeLimit(.minutes(5)))
    func keptDownload() async throws {
        try await Rig.run { rig in
            let next = try image(Self.fresh, etag: "\"2\"", width: 32)
            rig.server.route("/a.png", sequence: [try stale(", stale-while-revalidate=1000"), next])
            let source = Source.network(rig.server.url("/a.png"))
            var options = rig.manager.parsed(respecting + [.processor(CountingProcessor("p")), .waitForCache])
            options.load.keepsDownload = true
            _ = try await rig.manager.retrieveImage(with: source, parsed: options)
            #expect(try await rig.cache.cacheMetadata(forKey: source.cacheKey)?.eTag == "\"1\"")
            _ = try await rig.manager.retrieveImage(with: source, parsed: options)
            while try await rig.cache.cacheMetadata(forKey: source.cacheKey)?.eTag != "\"2\"", !Task.isCancelled {
                await Task.yield()
            }
            #expect(!Task.isCancelled)
        }
    }

    @Test(
        "After an error of the server a stale image is the result where stale-if-error allows it",
        arguments: [(", stale-if-error=1000", true), (", stale-if-error=10", false), ("", false)]
    )
    func ifError(directive: String, isUsed: Bool) async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", sequence: [try stale(directive), .status(503)])
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            guard isUsed else {
                let error = await failure { try await rig.manager.retrieveImage(with: url, options: respecting) }
                #expect(error?.isInvalidResponseStatusCode(503) == true)
                return
            }
            let result = try await rig.manager.retrieveImage(with: url, options: respecting)
            let error = try #require(result.revalidation?.failure)
            #expect(error.isInvalidResponseStatusCode(503) && result.cacheType == .disk)
        }
    }

    @Test("When the server cannot be reached, a stale image is the result, unless it must be validated")
    func unreachable() async throws {
        try await Rig.run { rig in
            let cut = TestResponse(status: 200).with { $0.interruption = .cutBeforeHead }
            for (path, directive) in [("/a.png", ""), ("/b.png", ", must-revalidate")] {
                let url = rig.server.route(path, sequence: [try stale(directive), cut])
                _ = try await rig.manager.retrieveImage(with: url, options: respecting)
                let result = await Result { () async throws(KingfisherError) in
                    try await rig.manager.retrieveImage(with: url, options: respecting)
                }
                switch result {
                case .success(let image):
                    #expect(image.revalidation?.failure != nil)
                    #expect(directive.isEmpty)
                case .failure(let error): #expect(!directive.isEmpty && error.errorCode == 2003)
                }
            }
        }
    }

    // MARK: What is not stored

    @Test("What must not be stored is nowhere, and takes the place of what was") func noStore() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try stale())
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            rig.server.route("/a.png", try image(["Cache-Control": "no-store"], etag: nil, width: 32))
            let result = try await rig.manager.retrieveImage(with: url, options: respecting)
            #expect(result.image.pixelWidth == 32 && result.cacheStoreResult == nil)
            await rig.cache.core.operations.ticketForAll(isBarrier: false).run {}
            #expect(!rig.cache.isCached(forKey: url.cacheKey) && rig.files.isEmpty)
            // Without the option the cache does as it always did.
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(rig.cache.isCached(forKey: url.cacheKey))
        }
    }

    // MARK: Refreshing

    @Test("A refresh asks about a fresh image too, and shows it before") func refresh() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let next = try image(etag: "\"2\"", width: 32).with { $0.gate = gate }
            let url = rig.server.route("/a.png", sequence: [try image(Self.fresh), next])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let shown = Box<[Int]>([])
            let show = KingfisherOptionsInfoItem.onStaleImage { stale in
                shown.change { $0.append(stale.image.pixelWidth) }
                gate.open()
            }
            let result = try await rig.manager.retrieveImage(with: url, options: refreshing + [show])
            #expect(result.revalidation?.isModified == true)
            #expect(shown.value == [64] && result.image.pixelWidth == 32)
            #expect(try await rig.manager.retrieveImage(with: url).image.pixelWidth == 32)
        }
    }

    @Test("A refresh of an image without validators is unconditional, and equal bytes are no change")
    func refreshWithoutValidators() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try image(etag: nil))
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let result = try await rig.manager.retrieveImage(with: url, options: refreshing)
            #expect(result.revalidation?.isNotModified == true)
            #expect(rig.server.lastRequest("/a.png")?.header("If-None-Match") == nil)
        }
    }

    @Test(
        "A forced refresh with a condition of the user's ends with the cached image after a 304, as without the option"
    )
    func forcedRefresh() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", try image(Self.fresh))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            let condition = AnyModifier(headers: ["If-None-Match": "\"1\""])
            let result = try await rig.manager.retrieveImage(
                with: url,
                options: respecting + [.forceRefresh, .requestModifier(condition)]
            )
            #expect(result.cacheType.cached && rig.server.count("/a.png") == 2)
        }
    }

    @Test("A prefetch asks about an image that is not fresh any more, and skips one that is") func prefetch()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/stale.png", try stale())
            rig.server.route("/fresh.png", try image(Self.fresh))
            let sources = ["/stale.png", "/fresh.png"].map { Source.network(rig.server.url($0)) }
            let options = respecting + [.targetCache(rig.cache), .downloader(rig.manager.downloader)]
            for _ in 0..<2 {
                let result = await ImagePrefetcher(sources: sources, options: options, manager: rig.manager).prefetch()
                #expect(result.failed.isEmpty)
            }
            #expect(rig.server.count("/stale.png") == 2 && rig.server.count("/fresh.png") == 1)
            #expect(rig.server.lastRequest("/stale.png")?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test("A refresh that fails has the cached image, and one without any the error") func refreshFails() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", sequence: [try image(), .status(404)])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            let result = try await rig.manager.retrieveImage(with: url, options: refreshing)
            let error = try #require(result.revalidation?.failure)
            #expect(error.isInvalidResponseStatusCode(404) && result.image.pixelWidth == 64)
            let missing = await failure {
                try await rig.manager.retrieveImage(with: rig.server.url("/b.png"), options: refreshing)
            }
            #expect(missing?.isInvalidResponseStatusCode(404) == true)
        }
    }

    @Test("The original that is cached is asked about, and the processed image is made of it") func original()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/a.png", try stale())
            let (url, processor) = (rig.server.url("/a.png"), CountingProcessor("one"))
            _ = try await rig.manager.retrieveImage(with: url, options: respecting)
            let result = try await rig.manager.retrieveImage(with: url, options: respecting + [.processor(processor)])
            #expect(result.revalidation?.isNotModified == true)
            #expect(processor.runs.value == 1 && rig.server.count("/a.png") == 2)
            #expect(rig.server.lastRequest("/a.png")?.header("If-None-Match") == "\"1\"")
            let metadata = try await rig.cache.cacheMetadata(forKey: url.cacheKey, processorIdentifier: "one")
            #expect(metadata?.eTag == "\"1\"")
        }
    }

    @Test("A confirmed image that is in memory is not decoded again") func notDecodedAgain() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", try image())
            let (url, decodes) = (rig.server.url("/a.png"), Counter())
            let plain = DefaultCacheSerializer.default
            let serializer = AnyCacheSerializer {
                plain.data(with: $0, original: $1)
            } image: { data, options in
                decodes.add()
                return plain.image(with: data, options: options)
            }
            let options = refreshing + [.cacheSerializer(serializer)]
            let first = try await rig.manager.retrieveImage(with: url, options: options)
            for isInMemory in [true, false] {
                if !isInMemory { rig.cache.clearMemoryCache() }
                let next = try await rig.manager.retrieveImage(with: url, options: options)
                #expect(next.revalidation?.isNotModified == true)
                #expect((next.image === first.image) == isInMemory && decodes.value == (isInMemory ? 0 : 1))
            }
        }
    }

    @Test("A refresh of many at once is one request") func sharedRefresh() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let url = rig.server.url("/a.png")
            rig.server.route("/a.png", sequence: [try image(), TestResponse(status: 304).with { $0.gate = gate }])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            async let loads = withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await rig.manager.retrieveImage(with: url, options: refreshing).image.pixelWidth
                    }
                }
                return try await group.reduce(0, +)
            }
            await rig.server.waitForRequests(2, to: "/a.png")
            while rig.manager.loads.all.first?.subscribers.count ?? 0 < 20 { await Task.yield() }
            gate.open()
            #expect(try await loads == 20 * 64)
            #expect(rig.server.count("/a.png") == 2)
        }
    }

    @Test("Nonsense of a server counts as stale, and harms nothing") func nonsense() async throws {
        try await Rig.run { rig in
            let fields = [
                "Cache-Control": "max-age=-1, ,=,\"no-store", "Expires": "tomorrow", "Age": "-5", "Date": "never",
                "ETag": "1\u{7F}", "Last-Modified": "",
            ]
            let url = rig.server.route("/a.png", try image(fields, etag: nil))
            for _ in 0..<2 {
                #expect(try await rig.manager.retrieveImage(with: url, options: respecting).image.pixelWidth == 64)
            }
            #expect(rig.server.count("/a.png") == 2)
        }
    }
}
