// How servers of sources are asked, what takes an image's place, and how results are coded, as settings say.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SourceRequestTests {
    @Test("Servers are told the agent that is set, with the version in it") func userAgent() async throws {
        try await RenderingRig.run({ $0.sources.userAgent = "shop/%current_version" }) { rig in
            rig.server.route("/a", try Quadrants.png())
            _ = try await rig.render("w:10")
            let agent = rig.server.lastRequest("/a")?.header("User-Agent") ?? ""
            #expect(agent.wholeMatch(of: #/shop/\d+\.\d+\.\d+.*/#) != nil, "\(agent)")
        }
    }

    @Test("Cookies are sent, and what is made with them is kept for nobody") func cookies() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            var request = try rig.request("w:10")
            request.cookies = "a=1; b=2"
            for _ in 0..<2 { _ = try await rig.renderer.render(request) }
            #expect(rig.server.requests.map { $0.header("Cookie") } == ["a=1; b=2", "a=1; b=2"])
            let other = try rig.request("w:10")
            #expect(await rig.renderer.cached(other) == nil)
            _ = try await rig.renderer.render(other)
            #expect(rig.server.requests.count == 3 && rig.server.requests.last?.header("Cookie") == nil)
            #expect(await rig.renderer.cached(other) != nil)
            #expect(await rig.renderer.cached(request) == nil)
        }
    }

    @Test("A client's cookies reach sources on the host that it asked, and no other; what they get is for it alone")
    func clientCookies() async throws {
        try await RenderingServer.run({ $0.sources.handsCookiesOn = true }) { server in
            let origin = server.rig.server
            for path in ["/a", "/b", "/c"] { origin.route(path, try Quadrants.png()) }
            origin.route("/within", .redirect(to: "/b"))
            // The same server under its other name.
            origin.route("/away", .redirect(to: origin.url("/c").absoluteString))
            func get(_ path: String, on host: String = "localhost", with cookie: String?) async throws -> String? {
                let source = "http://\(host):\(origin.port)\(path)"
                let answer = try await server.get("/_/w:10/plain/\(source)@png", cookie.map { ["Cookie": $0] } ?? [:])
                #expect(answer.status == 200, "\(source)")
                return answer.fields["cache-control"]
            }
            func cookies(_ path: String) -> [String?] {
                origin.requests.filter { $0.path == path }.map { $0.header("Cookie") }
            }
            let (shared, own) = ("max-age=31536000, public", "max-age=31536000, private")
            #expect(try await get("/a", with: "a=1; b=2") == own)
            #expect(try await get("/a", with: "a=3") == own)
            for _ in 0..<2 { #expect(try await get("/a", with: nil) == shared) }
            #expect(try await get("/a", with: "a=1; b=2") == own)
            #expect(cookies("/a") == ["a=1; b=2", "a=3", nil, "a=1; b=2"])
            // To another host it is a request without cookies.
            #expect(try await get("/a", on: "127.0.0.1", with: "a=1") == shared)
            #expect(cookies("/a").last == .some(nil))
            _ = try await get("/within", with: "a=1")
            _ = try await get("/away", with: "a=1")
            #expect(cookies("/within") == ["a=1"] && cookies("/b") == ["a=1"])
            #expect(cookies("/away") == ["a=1"] && cookies("/c") == [nil])
        }
    }

    @Test("With all handed on, cookies follow no redirect to another host either") func allCookies() async throws {
        let configure: (inout ServerConfiguration) -> Void = {
            ($0.sources.handsCookiesOn, $0.sources.handsCookiesToAll) = (true, true)
        }
        try await RenderingServer.run(configure) { server in
            let origin = server.rig.server
            origin.route("/a", .redirect(to: "http://localhost:\(origin.port)/b"))
            origin.route("/b", try Quadrants.png())
            let answer = try await server.get(
                "/_/w:10/plain/\(origin.url("/a").absoluteString)@png",
                ["Cookie": "a=1"]
            )
            #expect(answer.status == 200)
            #expect(origin.lastRequest("/a")?.header("Cookie") == "a=1")
            #expect(origin.lastRequest("/b").map { $0.header("Cookie") == nil } == true)
        }
    }

    @Test("Certificates are verified, unless that is turned off") func certificates() async throws {
        let server = try await TestServer.start(usesTLS: true)
        server.route("/a", try Quadrants.png())
        for trusts in [false, true] {
            try await RenderingRig.run({ $0.sources.trustsEverybody = trusts }) { rig in
                let error = try await rig.error(source: server.url("/a").absoluteString)
                #expect((error == nil) == trusts, "\(trusts): \(String(describing: error))")
            }
        }
        await server.stop()
    }

    @Test("An answer of 304 that nobody asked for is the fault of the source's server") func unasked() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .status(304))
            let error = try await rig.error()
            #expect(error?.status == 502)
        }
    }

    @Test("Answers have the Last-Modified of their source, or the earliest that is set, or none") func lastModified()
        async throws
    {
        let origin = try await TestServer.start()
        let sent = "Wed, 01 Jan 2025 00:00:00 GMT"
        origin.route("/a", try Quadrants.png().with { $0.headers["Last-Modified"] = sent })
        let cases = [
            ([:], sent), (["IMGPROXY_LAST_MODIFIED_BUSTER": "2024-06-01T00:00:00Z"], sent),
            (["IMGPROXY_LAST_MODIFIED_BUSTER": "2026-06-01T12:00:00Z"], "Mon, 01 Jun 2026 12:00:00 GMT"),
            (["IMGPROXY_USE_LAST_MODIFIED": "0"], nil),
        ]
        for (settings, expected) in cases {
            let delivery = ServerConfiguration.read(settings).configuration.delivery
            try await RenderingServer.run({ $0.delivery = delivery }) { server in
                let path = "/_/w:10/plain/\(origin.url("/a").absoluteString)@png"
                let answer = try await server.get(path)
                #expect(answer.status == 200 && answer.fields["last-modified"] == expected, "\(settings)")
                let again = try await server.get(path, ["If-Modified-Since": sent])
                #expect(again.status == (expected == sent ? 304 : 200), "\(settings)")
            }
        }
        await origin.stop()
    }

    @Test("A source has no more pixels than is set, however small its result is") func resolution() async throws {
        try await RenderingRig.run({ $0.sources.maxMegapixels = 0.02 }) { rig in
            for (name, type) in [("png", ImageContentType.png), ("jpg", .jpeg), ("webp", .webp)] {
                let file = try await Quadrants.image(211, 140).kf.encoded(as: ImageEncoding(type)).data
                rig.server.route("/" + name, .data(file))
                let error = try await rig.error("w:60", path: "/" + name)
                #expect(error?.kind == "too_large", "\(name)")
            }
        }
    }

    @Test("The server's own image takes the place of others, with what the URL does to it") func ownImage() async throws
    {
        let image = try #require(Quadrants.image().pngData())
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try image.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for settings in [
            ["KF_FALLBACK_IMAGE_DATA": image.base64EncodedString()], ["KF_FALLBACK_IMAGE_PATH": file.path],
        ] {
            let read = ServerConfiguration.read(settings.merging(["KF_FALLBACK_IMAGE_TTL": "1"]) { $1 })
            #expect(read.problems.isEmpty)
            try await RenderingServer.run({ $0.delivery.fallback = read.configuration.delivery.fallback }) { server in
                let answer = try await server.get("/_/rs:force:20:30/plain/local:///missing@png")
                #expect(answer.status == 200)
                #expect(try Pixels(Data(answer.body)).size == [20, 30])
            }
        }
        let missing = ServerConfiguration.read(["IMGPROXY_FALLBACK_IMAGE_PATH": "/nowhere"]).problems
        #expect(missing.contains { $0.name == "IMGPROXY_FALLBACK_IMAGE_PATH" && $0.isError })
    }

    @Test("A frame of an animation has no more pixels than is set, and the size of a source is told") func frames()
        async throws
    {
        let animation = try await Quadrants.animation()
        try await RenderingRig.run({ $0.sources.maxFrameMegapixels = 0.01 }) { rig in
            rig.server.route("/gif", .data(animation))
            let error = try await rig.error("w:10", path: "/gif")
            #expect(error?.kind == "too_large")
        }
        try await RenderingRig.run({ $0.sources.maxFrameMegapixels = 0.02 }) { rig in
            rig.server.route("/gif", .data(animation))
            let origin = try #require(try await rig.render("w:10", path: "/gif").origin)
            #expect(origin.width == 200 && origin.height == 100 && origin.byteCount == animation.count)
        }
    }

    @Test("Files are coded as is set: in scans, interlaced, of few colours, with more or less effort") func encoders()
        async throws
    {
        func file(_ format: String, _ change: (inout OutputSettings) -> Void) async throws -> [UInt8] {
            var file: [UInt8] = []
            try await RenderingRig.run({ change(&$0.output) }) { rig in
                rig.server.route("/a", .data(try #require(Self.gradient.pngData())))
                file = Array(try await rig.render("f:" + format).image.data)
            }
            return file
        }
        func has(_ file: [UInt8], _ bytes: [UInt8]) -> Bool { file.firstRange(of: bytes) != nil }
        let baseline = try await file("jpg") { $0.encoder.isProgressive = false }
        let progressive = try await file("jpg") { $0.encoder.isProgressive = true }
        #expect(has(baseline, [0xFF, 0xC0, 0, 17]) && has(progressive, [0xFF, 0xC2, 0, 17]))
        // Bits, then the type of pixels, of which 2 is red, green and blue, 3 a palette; at last whether it is
        // interlaced.
        let usual = try await file("png") { _ in }
        #expect(Array(usual[24...28]) == [8, 2, 0, 0, 0])
        let interlaced = try await file("png") { $0.encoder.isInterlaced = true }
        #expect(Array(interlaced[24...28]) == [8, 2, 0, 0, 1])
        let image = try #require(Image(data: Data(interlaced)))
        #expect(Self.bytes(of: image) == Self.bytes(of: Self.gradient))
        let few = try await file("png") { ($0.limitsColors, $0.mostColors) = (true, 16) }
        #expect(Array(few[24...28]) == [4, 3, 0, 0, 0])
        let both = try await file("png") { ($0.limitsColors, $0.encoder.isInterlaced) = (true, true) }
        #expect(Array(both[24...28]) == [8, 3, 0, 0, 1])
        #expect(Image(data: Data(both))?.pixelWidth == 64)
        for format in ["webp", "avif"] {
            let usual = try await file(format) { _ in }
            let slow = try await file(format) { ($0.encoder.webPEffort, $0.encoder.avifSpeed) = (5, 4) }
            #expect(slow != usual, "\(format)")
        }
        let text = try await file("webp") { $0.encoder.webPPreset = .text }
        let anything = try await file("webp") { _ in }
        #expect(anything != text)
    }

    private static func bytes(of image: Image) -> [UInt8] {
        image.cgImage.map { bitmap in bitmap.withUnsafeBytes { Array($0) } } ?? []
    }

    /// An image of more than 256 colours.
    private static let gradient = Image(
        cgImage: Bitmap(width: 64, height: 64) { bytes, bytesPerRow in
            for y in 0..<64 {
                for x in 0..<64 {
                    let place = y * bytesPerRow + x * 4
                    (bytes[place], bytes[place + 1], bytes[place + 2]) = (
                        UInt8(x * 4), UInt8(y * 4), UInt8((x ^ y) * 4)
                    )
                    bytes[place + 3] = 255
                }
            }
        }
    )
}
