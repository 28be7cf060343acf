// Results as bytes of a file: made once, kept as they are sent, and removed with their source.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// An animation of three frames of one colour each.
private struct Slides: ImageFrameSource {
    var data: Data? { nil }
    var frameCount: Int { 3 }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        Bitmap(width: 16, height: 16) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: 0xFF00_0000 | UInt32(index * 100))
        }
    }

    func duration(at index: Int) -> TimeInterval { 0.1 }
}

@Suite(.timeLimit(.minutes(5))) struct EncodedTests {
    private let webp = ImageEncoding(.webp)

    /// Loads encodings of one source at the same time, with a server that answers when all wait for it.
    private func load(
        _ rig: Rig,
        _ encodings: [ImageEncoding],
        _ options: KingfisherOptionsInfo = []
    ) async throws -> [EncodedImage] {
        let gate = Gate()
        rig.server.route("/a.png", TestResponse(body: try SampleImage.png()).with { $0.gate = gate })
        async let results = withThrowingTaskGroup(of: EncodedImage.self) { group in
            for encoding in encodings {
                group.addTask {
                    let url = rig.server.url("/a.png")
                    return try await rig.manager.retrieveEncoded(with: url, options: options, as: encoding)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        func subscribers() -> Int { rig.manager.loads.all.reduce(0) { $0 + $1.subscribers.count } }
        while subscribers() < encodings.count { await Task.yield() }
        let transfers = rig.manager.downloader.loader.transfers
        while transfers.all.first?.subscribers.count ?? 0 < Set(encodings).count { await Task.yield() }
        gate.open()
        return try await results
    }

    @Test("The file is made once; it comes from memory, and from the disk without being decoded")
    func layers() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(80, 60)))
            let (url, processor) = (rig.server.url("/a.png"), CountingProcessor())
            func load() async throws -> EncodedImage {
                let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
                return try await rig.manager.retrieveEncoded(with: url, options: options, as: webp)
            }
            let made = try await load()
            #expect(ImageContentType(sniffing: made.data) == .webp && made.mimeType == "image/webp")
            #expect(made.pixelWidth == 80 && made.pixelHeight == 60 && made.frameCount == 1 && !made.isDamaged)
            #expect(rig.cache.memoryStorage.totalCacheCost() == made.data.count)
            #expect(try await load().cacheType == .memory)
            rig.cache.clearMemoryCache()
            let fromDisk = try await load()
            #expect(fromDisk.cacheType == .disk && fromDisk.data == made.data && fromDisk.pixelWidth == 80)
            #expect(try await load().cacheType == .memory)
            #expect(made.cacheType == .none && processor.runs.value == 1 && rig.server.count("/a.png") == 1)
            let files = rig.files.filter { !$0.hasPrefix(".") }
            let folder = rig.cache.diskStorage.directoryURL
            #expect(try files.map { try Data(contentsOf: folder.appendingPathComponent($0)) } == [made.data])
        }
    }

    @Test("All who ask for the same at one time get one file; other formats share the download and the processing")
    func sharing() async throws {
        try await Rig.run { rig in
            let processor = CountingProcessor()
            let encodings = [webp, ImageEncoding(.jpeg), ImageEncoding(.jpeg, quality: 0.2)]
            let results = try await load(
                rig,
                encodings + encodings + encodings,
                [.processor(processor), .waitForCache]
            )
            #expect(Set(results.map(\.data)).count == 3 && processor.runs.value == 1)
            #expect(rig.server.count("/a.png") == 1)
            #expect(rig.files.count { !$0.hasPrefix(".") } == 3)
        }
    }

    @Test("No two encodings, processors or sources have one key") func keys() {
        let names = ["", "a", "1:a", "@ encoded ", "a@ encoded 0:", "3:a|>", "|>b"]
        var encodings: [ImageEncoding] = []
        for format in [
            nil, .webp, .jpeg, ImageContentType(rawValue: "0:"), ImageContentType(rawValue: "public.webp3:0.5"),
        ]
            as [ImageContentType?]
        {
            for quality in [nil, 0.5, 0.25] {
                for lossless in [true, false] {
                    for budget in [nil, 1, 11] {
                        var encoding = ImageEncoding(format, quality: quality)
                        (encoding.isLossless, encoding.maxBytes) = (lossless, budget)
                        encodings.append(encoding)
                    }
                }
            }
        }
        var first = ImageEncoding(), exif = ImageEncoding(), location = ImageEncoding(), profile = ImageEncoding()
        first.frames = .first
        (exif.keptMetadata, location.keptMetadata) = (.exif, .exifWithLocation)
        profile.embedsProfile = true
        var score = ImageEncoding(), limited = ImageEncoding()
        (score.targetScore, limited.targetScore, limited.searchedQualities) = (75, 75, 0.4...0.9)
        encodings += [first, exif, location, profile, score, limited]
        var keys: Set<String> = []
        for name in names {
            for encoding in encodings {
                let processor = EncodedProcessor(CountingProcessor(name), encoding)
                // URLs have no blanks.
                for url in ["http://a/b", "http://a/b@", "http://a/b@1:a", "http://a/b@encoded"] {
                    let key = url.computedKey(with: processor.identifier)
                    #expect(keys.insert(key).inserted, "\(key)")
                }
            }
        }
        #expect(keys.count == names.count * encodings.count * 4)
    }

    @Test("Removing a source removes its files, and those of no other", arguments: [true, false])
    func removal(usesHashedNames: Bool) async throws {
        try await Rig.run { rig in
            rig.cache.diskStorage.config.usesHashedFileName = usesHashedNames
            let urls = ["/a.png", "/b.png"].map { rig.server.url($0) }
            for (url, path) in zip(urls, ["/a.png", "/b.png"]) {
                rig.server.route(path, .data(try SampleImage.png()))
                for encoding in [webp, ImageEncoding(.jpeg)] {
                    _ = try await rig.manager.retrieveEncoded(with: url, options: [.waitForCache], as: encoding)
                }
                _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            }
            func found(_ url: URL, _ encoding: ImageEncoding) async -> CacheType? {
                let result = try? await rig.manager.retrieveEncoded(with: url, options: [.onlyFromCache], as: encoding)
                return result?.cacheType
            }
            #expect(rig.files.count { !$0.hasPrefix(".") } == 6)
            try await rig.cache.removeImage(forKey: urls[0].cacheKey)
            #expect(rig.files.count { !$0.hasPrefix(".") } == 3)
            for encoding in [webp, ImageEncoding(.jpeg)] {
                #expect(await found(urls[0], encoding) == nil)
                #expect(await found(urls[1], encoding) == .memory)
            }
            rig.cache.clearMemoryCache()
            #expect(await found(urls[1], webp) == .disk)
        }
    }

    @Test("A stale file is confirmed by its server without being made again, or replaced") func revalidation()
        async throws
    {
        try await Rig.run { rig in
            let processor = CountingProcessor()
            func response(_ etag: String, _ width: Int) throws -> TestResponse {
                let fields = ["Cache-Control": "max-age=60", "Age": "100"]
                return TestResponse(headers: fields, body: try SampleImage.png(width, 64)).with { $0.etag = etag }
            }
            func load() async throws -> EncodedImage {
                let options: KingfisherOptionsInfo = [.respectCacheControl, .waitForCache, .processor(processor)]
                return try await rig.manager.retrieveEncoded(
                    with: rig.server.url("/a.png"),
                    options: options,
                    as: webp
                )
            }
            rig.server.route("/a.png", try response("\"1\"", 64))
            let made = try await load()
            let confirmed = try await load()
            #expect(confirmed.revalidation?.isNotModified == true)
            #expect(confirmed.data == made.data && processor.runs.value == 1)
            #expect(confirmed.cacheMetadata?.eTag == "\"1\"")
            rig.server.route("/a.png", try response("\"2\"", 32))
            let replaced = try await load()
            #expect(replaced.pixelWidth == 32 && replaced.cacheType == .none && processor.runs.value == 2)
        }
    }

    @Test("A file that is too large is made again with lower qualities") func byteBudget() async throws {
        let image = SampleImage.gradient(300, 200)
        let full = try await image.kf.encoded(as: ImageEncoding(.jpeg, quality: 0.95))
        for share in [2, 4] {
            var encoding = ImageEncoding(.jpeg, quality: 0.95)
            encoding.maxBytes = full.data.count / share
            #expect(try await image.kf.encoded(as: encoding).data.count <= full.data.count / share)
        }
        var impossible = ImageEncoding(.jpeg, quality: 0.95)
        impossible.maxBytes = 1
        let lowest = try await image.kf.encoded(as: ImageEncoding(.jpeg, quality: 0.1))
        #expect(try await image.kf.encoded(as: impossible).data == lowest.data)
    }

    @Test("Without a format it is that of the source, if that holds the result") func sourceFormat() async throws {
        try await Rig.run { rig in
            let opaque = SampleImage.gradient(), clear = SampleImage.gradient(alpha: true)
            let sources: [(Data, ImageContentType)] = [
                (try Codecs.encode(opaque, as: .jpeg), .jpeg), (try Codecs.encode(opaque, as: .png), .png),
                (try Codecs.encode(clear, as: .webp), .webp), (try Codecs.encode(opaque, as: .gif), .gif),
            ]
            for (index, (data, type)) in sources.enumerated() {
                rig.server.route("/\(index)", .data(data))
                let url = rig.server.url("/\(index)")
                #expect(try await rig.manager.retrieveEncoded(with: url).contentType == type)
                // A JPEG with round corners is none any more.
                let corners = RoundCornerImageProcessor(cornerRadius: 20)
                let round = try await rig.manager.retrieveEncoded(with: url, options: [.processor(corners)])
                #expect(round.contentType == (type == .jpeg ? .png : type))
            }
        }
    }

    @Test("EXIF is kept if asked for, also when the image is made of a cached original", arguments: [false, true])
    func metadata(isOriginalInMemory: Bool) async throws {
        try await Rig.run { rig in
            var options = ImageEncodingOptions()
            // One directory with one field: the maker, "abc".
            options.metadata.exif = Data(
                [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x0F, 1, 2, 0, 4, 0, 0, 0, 0x61, 0x62, 0x63, 0, 0, 0, 0, 0]
            )
            let url = rig.server.route("/a", .data(try Codecs.encode(SampleImage.gradient(), as: .jpeg, options)))
            var keeping = ImageEncoding(.webp)
            keeping.keptMetadata = .exif
            func maker(_ encoding: ImageEncoding) async throws -> Bool {
                let file = try await rig.manager.retrieveEncoded(
                    with: url,
                    options: [.processor(CountingProcessor()), .waitForCache, .cacheOriginalImage],
                    as: encoding
                )
                return file.data.range(of: Data("abc".utf8)) != nil
            }
            if isOriginalInMemory { _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache]) }
            #expect(try await maker(webp) == false)
            #expect(try await maker(keeping))
            #expect(rig.server.count("/a") == 1)
        }
    }

    @Test(
        "JPEG and WebP carry the profile of sRGB only where it is asked for",
        arguments: [ImageContentType.jpeg, .webp]
    )
    func profile(format: ImageContentType) async throws {
        var encoding = ImageEncoding(format)
        let plain = try await SampleImage.gradient().kf.encoded(as: encoding).data
        encoding.embedsProfile = true
        let described = try await SampleImage.gradient().kf.encoded(as: encoding).data
        #expect(try ImageInfo(data: plain).colorProfileName == nil)
        #expect(try ImageInfo(data: described).colorProfileName?.contains("sRGB") == true)
        #expect(described.count > plain.count + 400)
    }

    @Test("All frames of an animation are processed and encoded, or the first") func frames() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.gif", .data(try Codecs.encode(Slides(), as: .gif)))
            let (url, scaling) = (
                rig.server.url("/a.gif"), ResizingImageProcessor(referenceSize: CGSize(width: 8, height: 8))
            )
            func load(_ encoding: ImageEncoding) async throws -> EncodedImage {
                try await rig.manager.retrieveEncoded(with: url, options: [.processor(scaling)], as: encoding)
            }
            var first = webp
            first.frames = .first
            let all = try await load(webp), still = try await load(first), jpeg = try await load(ImageEncoding(.jpeg))
            #expect(all.frameCount == 3 && all.pixelWidth == 8)
            #expect(still.frameCount == 1 && still.contentType == .webp && jpeg.frameCount == 1)
            #expect(try await load(ImageEncoding()).contentType == .gif)
        }
    }

    @Test("A result of a damaged source says so, and is not kept on disk") func damaged() async throws {
        try await Rig.run { rig in
            let whole = try SampleImage.jpeg(300, 200)
            let response = TestResponse.data(whole).with { $0.headers["Content-Length"] = "\(whole.count * 7 / 10)" }
            let url = rig.server.route("/a", response)
            let result = try await rig.manager.retrieveEncoded(with: url, options: [.waitForCache], as: webp)
            #expect(result.isDamaged && rig.files.allSatisfy { $0.hasPrefix(".") })
            #expect(try await rig.manager.retrieveEncoded(with: url, as: webp).isDamaged)
        }
    }

    @Test("An options processor that begins anew does not lose the encoding") func optionsProcessor() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            rig.manager.optionsProcessor = AnyOptionsProcessor { _, _ in KingfisherParsedOptionsInfo() }
            let file = try await rig.manager.retrieveEncoded(with: rig.server.url("/a.png"), as: webp)
            #expect(file.contentType == .webp)
        }
    }

    @Test("Alternatives are tried, and what cannot be encoded is an error") func failures() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let alternatives: KingfisherOptionsInfo = [.alternativeSources([.network(rig.server.url("/a.png"))])]
            let missing = rig.server.url("/missing")
            #expect(
                try await rig.manager.retrieveEncoded(with: missing, options: alternatives, as: webp).pixelWidth == 64
            )
            let error = await failure {
                try await rig.manager.retrieveEncoded(with: rig.server.url("/a.png"), as: ImageEncoding(.jp2))
            }
            #expect(error?.errorCode == 4001)
        }
    }
}
