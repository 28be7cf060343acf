// Encoded results that choose their format, are looked up without asking a server, or are files as they came.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// Two colours, one after the other, as often as wanted.
private struct Blinking: ImageFrameSource {
    let frameCount: Int
    var width = 16
    var height = 16
    var data: Data? { nil }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        Bitmap(width: width, height: height) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: index % 2 == 0 ? 0xFF00_0000 : 0xFFFF_FFFF)
        }
    }

    func duration(at index: Int) -> TimeInterval { 0.1 }
}

/// Gives the bytes it is given.
private struct Unchanged: ImageProcessor {
    let identifier = "unchanged"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        if case .data(let data) = item { Image(encodedResult: data) } else { nil }
    }
}

@Suite(.timeLimit(.minutes(5))) struct EncodedChoicesTests {
    private func encoded(_ source: Data, _ encoding: ImageEncoding) async throws -> EncodedImage {
        var result: EncodedImage?
        try await Rig.run { rig in
            rig.server.route("/a", .data(source))
            result = try await rig.manager.retrieveEncoded(with: rig.server.url("/a"), as: encoding)
        }
        return try #require(result)
    }

    @Test("A preferred format is taken, the source's if it is allowed, or one that holds the result")
    func formats() async throws {
        let still = Image(cgImage: try #require(Blinking(frameCount: 1).frame(at: 0)))
        let clear = Image(cgImage: Bitmap(width: 16, height: 16) { _, _ in })
        let moving = try Codecs.encode(Blinking(frameCount: 5), as: .webp)
        let webP = try Codecs.encode(still, as: .webp)
        let clearWebP = try Codecs.encode(clear, as: .webp)
        var encoding = ImageEncoding()
        encoding.allowedFormats = [.jpeg, .png, .gif]
        #expect(try await encoded(webP, encoding).contentType == .jpeg)
        #expect(try await encoded(clearWebP, encoding).contentType == .png)
        #expect(try await encoded(moving, encoding).contentType == .gif)
        encoding.allowedFormats = [.png, .webp]
        #expect(try await encoded(webP, encoding).contentType == .webp)
        encoding.preferredFormats = [.jxl, .jpeg]
        #expect(try await encoded(webP, encoding).contentType == (Codecs.canEncode(as: .jxl) ? .jxl : .jpeg))
        #expect(try await encoded(clearWebP, encoding).contentType != .jpeg)
        encoding.preferredFormats = [.avif, .png, .webp]
        #expect(try await encoded(moving, encoding).contentType == .webp)
    }

    @Test(
        "A source of BMP or TIFF gives another format, unless that one is named or allowed",
        arguments: [ImageContentType.bmp, .tiff]
    )
    func unusualFormats(type: ImageContentType) async throws {
        let still = Image(cgImage: try #require(Blinking(frameCount: 1).frame(at: 0)))
        let source = try Codecs.encode(still, as: type)
        #expect(try await encoded(source, ImageEncoding()).contentType == .jpeg)
        #expect(try await encoded(source, ImageEncoding(type)).contentType == type)
        var encoding = ImageEncoding()
        encoding.allowedFormats = [.png, type]
        #expect(try await encoded(source, encoding).contentType == type)
        // There is no quality that could be lowered.
        var small = ImageEncoding(type)
        small.maxBytes = 1
        #expect(try await encoded(source, small).data == encoded(source, ImageEncoding(type)).data)
    }

    @Test("A format whose files are not as large as the result gives way to one whose files are")
    func largeResults() async throws {
        let cases: [(Int, Int, [ImageContentType], [ImageContentType], ImageContentType)] = [
            (1, 16_383, [.webp], [], .webp), (1, 16_384, [.webp], [], .png), (16_384, 1, [.webp, .avif], [], .avif),
            (1, 32_769, [.avif, .webp], [.jpeg], .jpeg), (1, 65_501, [.avif, .webp], [.webp, .jpeg], .png),
            (256, 1, [], [.ico, .webp], .ico), (257, 1, [], [.ico, .webp], .webp),
        ]
        for (width, height, preferred, allowed, expected) in cases {
            let still = Blinking(frameCount: 1, width: width, height: height).frame(at: 0)
            let source = try Codecs.encode(Image(cgImage: try #require(still)), as: .png)
            var encoding = ImageEncoding()
            (encoding.preferredFormats, encoding.allowedFormats) = (preferred, allowed)
            let result = try await encoded(source, encoding)
            #expect(result.contentType == expected, "\(width)×\(height)")
            #expect(result.pixelWidth == width && result.pixelHeight == height)
        }
        let moving = try Codecs.encode(Blinking(frameCount: 3, width: 16_384, height: 2), as: .gif)
        for allowed in [[ImageContentType](), [.png, .webp]] {
            var encoding = ImageEncoding()
            (encoding.preferredFormats, encoding.allowedFormats) = ([.avif, .webp], allowed)
            let result = try await encoded(moving, encoding)
            #expect(result.contentType == .gif && result.frameCount == 3)
        }
    }

    @Test("A format may have a quality of its own, and an animation a most number of frames")
    func qualityAndFrames() async throws {
        let photo = try Codecs.encode(try #require(Image(data: try SampleImage.png(80, 60))), as: .png)
        var encoding = ImageEncoding(.jpeg, quality: 0.3)
        let low = try await encoded(photo, encoding)
        encoding.quality = 0.9
        encoding.formatQuality = [.jpeg: 0.3]
        #expect(try await encoded(photo, encoding).data == low.data)
        encoding.formatQuality = [.webp: 0.3]
        #expect(try await encoded(photo, encoding).data != low.data)
        let moving = try Codecs.encode(Blinking(frameCount: 5), as: .gif)
        for (most, count) in [(3, 3), (1, 1), (9, 5)] {
            var encoding = ImageEncoding()
            encoding.maxFrameCount = most
            let result = try await encoded(moving, encoding)
            #expect(result.frameCount == count && result.contentType == .gif)
        }
    }

    @Test("No two rules for formats, qualities and frames have one key") func keys() {
        let lists: [[ImageContentType]] = [[], [.png], [.webp], [.png, .webp], [.webp, .png]]
        let qualities: [[ImageContentType: Double]] = [[:], [.png: 0.5], [.webp: 0.5], [.webp: 0.5, .png: 0.5]]
        var encodings: [ImageEncoding] = []
        for preferred in lists {
            for allowed in lists {
                for quality in qualities {
                    for most in [nil, 1, 10] {
                        var encoding = ImageEncoding()
                        (encoding.preferredFormats, encoding.allowedFormats) = (preferred, allowed)
                        (encoding.formatQuality, encoding.maxFrameCount) = (quality, most)
                        encodings.append(encoding)
                    }
                }
            }
        }
        var copyright = ImageEncoding()
        copyright.keptMetadata = .copyright
        encodings.append(copyright)
        #expect(Set(encodings.map(\.identifier)).count == encodings.count)
    }

    @Test("The bytes of a file are the result, whatever the encoding says") func files() async throws {
        let moving = try Codecs.encode(Blinking(frameCount: 5), as: .gif)
        try await Rig.run { rig in
            rig.server.route("/a", .data(moving))
            rig.server.route("/b", .data(Data("none".utf8)))
            func load(_ path: String, _ encoding: ImageEncoding) async throws -> EncodedImage {
                let url = rig.server.url(path)
                return try await rig.manager.retrieveEncoded(
                    with: url,
                    options: [.processor(Unchanged())],
                    as: encoding
                )
            }
            for encoding in [ImageEncoding(), ImageEncoding(.jpeg)] {
                let result = try await load("/a", encoding)
                #expect(result.data == moving && result.contentType == .gif && result.frameCount == 5)
            }
            #expect(await failure { try await load("/b", ImageEncoding()) }?.errorCode == 4001)
        }
    }

    @Test("Results have one checksum wherever they come from, and others have another one") func checksum() async throws
    {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(80, 60)))
            func load(_ encoding: ImageEncoding) async throws -> EncodedImage {
                let url = rig.server.url("/a")
                return try await rig.manager.retrieveEncoded(with: url, options: [.waitForCache], as: encoding)
            }
            let made = try await load(ImageEncoding(.webp))
            rig.cache.clearMemoryCache()
            let (kept, other) = (try await load(ImageEncoding(.webp)), try await load(ImageEncoding(.jpeg)))
            #expect(kept.cacheType == .disk && kept.checksum == made.checksum && other.checksum != made.checksum)
        }
    }

    @Test("A look-up asks no server, makes nothing, and does not take what is stale")
    func lookUp() async throws {
        for control in ["max-age=1000", "no-cache", "max-age=0, stale-while-revalidate=1000"] {
            try await Rig.run { rig in
                let response = TestResponse.data(try SampleImage.png(80, 60)).with {
                    $0.headers["Cache-Control"] = control
                    $0.etag = "\"1\""
                }
                rig.server.route("/a", response)
                let (source, options) = (
                    Source.network(rig.server.url("/a")),
                    [.respectCacheControl, .waitForCache] as KingfisherOptionsInfo
                )
                func found() async -> EncodedImage? {
                    await rig.manager.cachedEncoded(with: source, options: options)
                }
                #expect(await found() == nil && rig.server.count("/a") == 0)
                _ = try await rig.manager.retrieveEncoded(with: source, options: options)
                rig.cache.clearMemoryCache()
                let image = await found()
                #expect(image?.cacheType == (control == "no-cache" ? nil : .disk))
                // Asking about what may be used meanwhile is the caller's.
                #expect(image?.isStale ?? false == control.contains("stale") && image?.revalidation == nil)
                #expect(rig.server.count("/a") == 1)
                let asked = [.refreshCached] as KingfisherOptionsInfo
                let renewed = try await rig.manager.retrieveEncoded(with: source, options: options + asked)
                #expect(renewed.revalidation?.isNotModified == true, "\(control)")
                #expect(!renewed.isStale && rig.server.count("/a") == 2)
                // The original would have to be encoded.
                #expect(
                    await rig.manager.cachedEncoded(with: source, options: options, as: ImageEncoding(.webp)) == nil
                )
            }
        }
    }

    @Test("A downloader follows as many redirects as it says") func redirects() async throws {
        try await Rig.run { rig in
            for step in 0..<3 { rig.server.route("/\(step)", .redirect(to: "/\(step + 1)")) }
            rig.server.route("/3", .data(try SampleImage.png(8, 8)))
            rig.manager.downloader.maxRedirectCount = 2
            let error = await failure { try await rig.manager.retrieveImage(with: rig.server.url("/0")) }
            #expect(error?.urlError?.code == .httpTooManyRedirects)
            _ = try await rig.manager.retrieveImage(with: rig.server.url("/1"))
        }
    }
}
