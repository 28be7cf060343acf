// The watermark on results: where it lies, how opaque it is, where it comes from, and what it does to keys.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct WatermarkTests {
    /// An image of one colour.
    static func mark(_ width: Int = 20, _ height: Int = 12, _ color: UInt8 = 255) throws -> Data {
        let bitmap = Bitmap(width: width, height: height) { bytes, _ in
            for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : color }
        }
        return try #require(Image(cgImage: bitmap).pngData())
    }

    /// Runs a test with a watermark of 20×12 white pixels, and a source of 200×100 at `/a`.
    private func run(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (RenderingRig) async throws -> Void
    ) async throws {
        let mark = try Self.mark()
        try await RenderingRig.run({
            $0.watermark.origin = .data(mark)
            configure(&$0)
        }) { rig in
            rig.server.route("/a", try Quadrants.png())
            try await body(rig)
        }
    }

    /// The rectangle of the white pixels, if they are one: x, y, width, height.
    private func whitePart(_ pixels: Pixels) -> [Int] {
        let places = (0..<pixels.size[1]).flatMap { y in
            (0..<pixels.size[0]).compactMap { pixels.color($0, y) == "white" ? (x: $0, y: y) : nil }
        }
        guard let left = places.map(\.x).min(), let right = places.map(\.x).max(), let top = places.first?.y,
            let bottom = places.last?.y
        else { return [] }
        let (width, height) = (right - left + 1, bottom - top + 1)
        return width * height == places.count ? [left, top, width, height] : []
    }

    @Test(
        "It lies where the URL says, in its own size, and at least a corner of it stays",
        arguments: [
            ("wm:1", [90, 44, 20, 12]), ("wm:1:no", [90, 0, 20, 12]), ("wm:1:so", [90, 88, 20, 12]),
            ("wm:1:we", [0, 44, 20, 12]), ("wm:1:ea", [180, 44, 20, 12]), ("wm:1:nowe", [0, 0, 20, 12]),
            ("wm:1:noea", [180, 0, 20, 12]), ("wm:1:sowe", [0, 88, 20, 12]), ("wm:1:soea", [180, 88, 20, 12]),
            ("wm:1:soea:10:5", [170, 83, 20, 12]), ("wm:1:no:5:0.1", [95, 10, 20, 12]),
            ("wm:1:ce:-0.1:0.2", [70, 64, 20, 12]), ("wm:1:nowe:-10:-4", [0, 0, 10, 8]),
            ("wm:1:nowe:-500:0", [0, 0, 1, 12]), ("wm:1:soea:0:-500", [180, 99, 20, 1]),
            ("w:100/dpr:2/wm:1:nowe:10:5", [20, 10, 20, 12]), ("wm:0", []), ("pd:8:8:8:8/wm:1:nowe", [0, 0, 20, 12]),
        ]
    )
    func places(options: String, part: [Int]) async throws {
        try await run { rig in
            let pixels = try await rig.pixels(options)
            #expect(whitePart(pixels) == part)
        }
    }

    @Test(
        "A scale is that of the result, padding included, whatever is larger",
        arguments: [
            ("wm:1:nowe:0:0:0.5", [83, 50]), ("w:40/h:20/wm:1:nowe:0:0:1", [33, 20]),
            ("pd:50:0/wm:1:nowe:0:0:0.1", [20, 12]),
        ]
    )
    func scale(options: String, size: [Int]) async throws {
        try await run { rig in
            let pixels = try await rig.pixels(options)
            #expect(whitePart(pixels).suffix(2) == size[...])
        }
    }

    @Test("Repeated, it covers the result around one in the middle, with space between; on a chessboard half of it")
    func tiles() async throws {
        try await run { rig in
            for (options, isShown) in [
                ("wm:1:re:20:12", { _, _ in true }), ("w:100/dpr:2/wm:1:re:10:6", { _, _ in true }),
                ("wm:1:ch:20:0.12", { ($0 + $1).isMultiple(of: 2) }),
            ] as [(String, (Int, Int) -> Bool)] {
                let pixels = try await rig.pixels(options)
                // From the one in the middle, which begins at 90 and 44; all numbers are positive.
                let wrong = (0..<100).flatMap { y in
                    (0..<200).filter { x in
                        let (column, row) = ((x + 110) / 40, (y + 76) / 24)
                        let isWhite = (x + 110) % 40 < 20 && (y + 76) % 24 < 12 && isShown(column - 5, row - 5)
                        return (pixels.color(x, y) == "white") != isWhite
                    }
                }
                #expect(wrong.isEmpty, "\(options)")
            }
            #expect(try await whitePart(rig.pixels("wm:1:re")) == [0, 0, 200, 100])
            #expect(try await whitePart(rig.pixels("wm:1:re:-5:1e9")) == [0, 44, 200, 12])
            let faint = try await rig.pixels("wm:0.5:re:20:12")
            #expect(faint.color(10, 20) == "[128, 128, 255, 255]" && faint.color(0, 20) == "red")
        }
    }

    @Test("Its opacity is that of the URL times the server's, and its own") func opacity() async throws {
        try await run({ $0.watermark.opacity = 0.5 }) { rig in
            // On red; blue and green are the watermark's share.
            #expect(try await rig.pixels("wm:0.5:nowe").color(0, 0) == "[64, 64, 255, 255]")
            #expect(try await rig.pixels("wm:1:nowe").color(0, 0) == "[128, 128, 255, 255]")
            // It comes last: over the background, and what is added around the image.
            let padded = try await rig.pixels("pd:8:8:8:8/bg:000/wm:1:nowe")
            #expect(padded.color(0, 0) == "[128, 128, 128, 255]" && padded.color(215, 0) == "black")
        }
    }

    @Test("Every frame of an animation has it") func animation() async throws {
        try await run { rig in
            rig.server.route("/gif", .data(try await Quadrants.animation()))
            let result = try await rig.render("wm:1:nowe/f:webp", path: "/gif")
            let options = KingfisherParsedOptionsInfo(nil)
            let image = DefaultImageProcessor.default.process(item: .data(result.image.data), options: options)
            let frames = try #require(image?.kf.frameSource)
            #expect(frames.frameCount == 3)
            for index in 0..<3 {
                let frame = try #require(frames.frame(at: index))
                let pixels = try Pixels(#require(Image(cgImage: frame).pngData()))
                #expect(pixels.color(5, 5) == "white" && pixels.color(60, 5) == "red", "\(index)")
            }
        }
    }

    @Test("Without a watermark on the server, results are those without wm, and share their keys") func none()
        async throws
    {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            let plain = try await rig.render("w:50/f:png")
            #expect(await rig.renderer.cached(try rig.request("w:50/wm:0.5/f:png"))?.entityTag == plain.entityTag)
            #expect(try await rig.render("w:50/wm:0.5/f:png").entityTag == plain.entityTag)
            #expect(rig.server.count("/a") == 1)
        }
        try await run({ $0.watermark.opacity = 0 }) { rig in
            let pixels = try await rig.pixels("wm:1")
            #expect(whitePart(pixels) == [])
        }
    }

    @Test("Another watermark, or another opacity of it, has other keys") func keys() async throws {
        try await run { rig in
            let request = try rig.request("wm:1/f:png")
            let white = try await rig.renderer.render(request)
            #expect(await rig.renderer.cached(request)?.entityTag == white.entityTag)
            func renderer(_ change: (inout WatermarkSettings) -> Void) -> ImageRenderer {
                var configuration = rig.configuration
                change(&configuration.watermark)
                return ImageRenderer(configuration: configuration, cache: rig.cache)
            }
            let black = try Self.mark(20, 12, 0)
            for other in [renderer { $0.origin = .data(black) }, renderer { $0.opacity = 0.5 }] {
                #expect(await other.cached(request) == nil)
                #expect(other.memoryLookup(for: request)() == nil)
                #expect(try await other.render(request).entityTag != white.entityTag)
            }
            // The same image from elsewhere is the same one.
            let file = rig.directory.appendingPathComponent("mark.png")
            try Self.mark().write(to: file)
            #expect(await renderer { $0.origin = .file(file.path) }.cached(request)?.entityTag == white.entityTag)
        }
    }

    @Test("One of a URL is loaded once, asked about as its server says, and results follow it") func source()
        async throws
    {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            let url = rig.server.url("/mark").absoluteString
            var configuration = rig.configuration
            configuration.watermark.origin = .source(url)
            let renderer = ImageRenderer(configuration: configuration, cache: rig.cache)
            func color(_ options: String) async throws -> String {
                let image = try await renderer.render(rig.request(options + "/wm:1:nowe/f:png"))
                return try Pixels(image.image.data).color(0, 0)
            }
            func route(_ data: Data, _ control: String) {
                rig.server.route("/mark", TestResponse(headers: ["Cache-Control": control], body: data))
            }
            route(try Self.mark(), "max-age=1000")
            let request = try rig.request("w:100/wm:1:nowe/f:png")
            #expect(renderer.memoryLookup(for: request)() == nil)
            for options in ["w:100", "w:150", "w:200"] { #expect(try await color(options) == "white") }
            #expect(rig.server.count("/mark") == 1)
            #expect(await renderer.cached(request) != nil)
            let lookup = renderer.memoryLookup(for: request)
            #expect(lookup() != nil)
            // A purge is one way to be asked again.
            route(try Self.mark(20, 12, 0), "max-age=0")
            var plan = ImagePlan()
            plan.source = url
            try await renderer.purge(plan, .delete)
            for count in 2...3 {
                #expect(try await color("w:100") == "black")
                #expect(rig.server.count("/mark") == count)
            }
            #expect(lookup() == nil)
        }
    }

    @Test("One that cannot be loaded or used is 500 and says why, without its path") func failures() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            rig.server.route("/secret", .status(404))
            func error(_ origin: WatermarkSettings.Origin) async throws -> RenderingError? {
                var configuration = rig.configuration
                configuration.watermark.origin = origin
                let renderer = ImageRenderer(configuration: configuration, cache: rig.cache)
                #expect(try await renderer.render(rig.request("w:10")).image.pixelWidth == 10)
                let request = try rig.request("w:10/wm:1")
                do throws(RenderingError) { _ = try await renderer.render(request) } catch { return error }
                return nil
            }
            for origin in [
                .source(rig.server.url("/secret").absoluteString), .data(Data("text".utf8)), .file("/nowhere"),
            ]
                as [WatermarkSettings.Origin]
            {
                let error = try #require(try await error(origin))
                #expect(error.status == 500 && error.kind == "watermark" && !error.reason.contains("secret"))
            }
            #expect(try await error(.source(rig.server.url("/secret").absoluteString))?.reason.contains("404") == true)
        }
    }

    @Test("At the start one that cannot be read or decoded is an error, with the name of its setting") func start()
        throws
    {
        func summary(_ origin: WatermarkSettings.Origin) throws(InvalidConfiguration) -> String {
            var configuration = ServerConfiguration()
            configuration.watermark.origin = origin
            return try configuration.watermarkSummary()
        }
        #expect(try summary(.data(Self.mark(7, 5))) == "7×5 pixels")
        #expect(try ServerConfiguration().watermarkSummary() == "none")
        for (origin, words) in [
            (.file("/nowhere.png"), ["KF_WATERMARK_PATH", "/nowhere.png", "No such file"]),
            (.file("/"), ["KF_WATERMARK_PATH"]), (.data(Data("text".utf8)), ["KF_WATERMARK_DATA", "no image"]),
        ] as [(WatermarkSettings.Origin, [String])] {
            #expect {
                _ = try summary(origin)
            } throws: { error in
                words.allSatisfy { "\(error)".contains($0) }
            }
        }
    }
}
