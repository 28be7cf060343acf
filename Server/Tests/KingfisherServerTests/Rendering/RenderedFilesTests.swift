// What is added to the pixels of results, and the files that they become.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RenderedFilesTests {
    @Test("Canvas and padding are transparent, of the background's colour, or white where nothing is transparent")
    func canvas() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            let padded = try await rig.pixels("pd:10:20:30:40")
            #expect(padded.size == [260, 140] && padded.corners == Array(repeating: "clear", count: 4))
            #expect(padded.color(40, 10) == "red" && padded.color(239, 109) == "yellow")
            #expect(padded.color(39, 10) == "clear" && padded.color(240, 109) == "clear")
            let colored = try await rig.pixels("pd:10/bg:00ff00")
            #expect(colored.corners == Array(repeating: "green", count: 4) && colored.image.hasAlpha == false)
            let extended = try await rig.pixels("rs:fit:200:200:0:1:so:0:10")
            #expect(extended.size == [200, 200] && extended.color(0, 89) == "clear" && extended.color(0, 90) == "red")
            #expect(extended.color(199, 189) == "yellow" && extended.color(199, 190) == "clear")
            let jpeg = try Pixels(try await rig.render("pd:16/f:jpg").image.data)
            #expect(jpeg.corners == Array(repeating: "white", count: 4) && jpeg.color(120, 20) == "green")
            let clear = Image(cgImage: Bitmap(width: 8, height: 8) { _, _ in })
            rig.server.route("/clear", .data(try #require(clear.pngData())))
            #expect(try await rig.pixels("", path: "/clear").color(4, 4) == "clear")
            #expect(try await rig.pixels("bg:255:0:0", path: "/clear").color(4, 4) == "red")
        }
    }

    @Test("Blurring, sharpening and squares change the result, not its size") func effects() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            let plain = try await rig.pixels("w:100")
            let blurred = try await rig.pixels("w:100/bl:4")
            let sharpened = try await rig.pixels("w:100/bl:2/sh:2")
            #expect(blurred.size == plain.size && sharpened.size == plain.size)
            #expect(!Quadrants.names.contains(blurred.color(50, 10)) && blurred.corners == Quadrants.names)
            #expect(sharpened.color(50, 10) != blurred.color(50, 10))
            // The middle of 100×50 is within a square of 20.
            let squares = try await rig.pixels("w:100/pix:20")
            #expect(squares.size == plain.size && squares.color(41, 1) == squares.color(59, 15))
            #expect(squares.color(0, 0) == "red")
        }
    }

    @Test("Pixels that stay as they are stored keep the tag that says how to turn them") func orientationTag()
        async throws
    {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg(orientation: 6)))
            func orientation(_ options: String) async throws -> Orientation {
                try ImageInfo(data: try await rig.render(options).image.data).orientation
            }
            #expect(try await orientation("sm:0/ar:0") == .right)
            #expect(try await orientation("sm:0/ar:0/w:50/f:webp") == .right)
            #expect(try await orientation("sm:0") == .up)
            #expect(try await orientation("ar:0") == .up)
        }
    }

    @Test("No result carries the profile of sRGB", arguments: ["jpg", "webp", "gif", "avif"])
    func profile(format: String) async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            let data = try await rig.render("f:" + format).image.data
            #expect(try ImageInfo(data: data).colorProfileName == nil)
        }
    }

    @Test("The URL's format, the client's, the source's, or one that can hold the result") func formats() async throws {
        func choose(
            _ options: String,
            _ path: String,
            _ formats: [FileFormat] = [],
            _ configure: (inout ServerConfiguration) -> Void = { _ in }
        ) async throws -> ImageContentType {
            var type = ImageContentType.unknown
            try await RenderingRig.run(configure) { rig in
                let image = Quadrants.image()
                rig.server.route("/jpeg", .data(try Quadrants.jpeg()))
                rig.server.route("/png", try Quadrants.png())
                rig.server.route("/webp", .data(try await image.kf.encoded(as: ImageEncoding(.webp)).data))
                let clear = Image(cgImage: Bitmap(width: 8, height: 8) { _, _ in })
                rig.server.route("/clear", .data(try await clear.kf.encoded(as: ImageEncoding(.webp)).data))
                rig.server.route("/gif", .data(try await Quadrants.animation()))
                rig.server.route("/moving", .data(try await Quadrants.animation(as: .webp)))
                let result = try await rig.render("w:50" + options, path: path, preferring: formats).image
                type = result.contentType
                #expect(ImageContentType(sniffing: result.data) == type)
            }
            return type
        }
        #expect(try await choose("", "/jpeg") == .jpeg)
        #expect(try await choose("/pd:5", "/jpeg") == .jpeg)
        #expect(try await choose("", "/png") == .png)
        #expect(try await choose("", "/gif") == .gif)
        #expect(try await choose("", "/webp") == .jpeg)
        #expect(try await choose("", "/clear") == .png)
        #expect(try await choose("", "/moving") == .gif)
        for format in [FileFormat.jpeg, .png, .webp, .avif, .gif, .ico] {
            #expect(try await choose("/f:\(format.rawValue)", "/png").preferredFileExtension != nil)
        }
        #expect(try await choose("/f:avif", "/png") == .avif)
        #expect(try await choose("/f:webp", "/png") == .webp)
        #expect(try await choose("", "/png", [.avif, .webp]) == .avif)
        #expect(try await choose("", "/gif", [.avif, .webp]) == .webp)
        // One that is enforced, in place of the URL's.
        #expect(try await choose("/f:gif", "/png", [.avif]) == .avif)
        #expect(try await choose("/f:gif", "/gif", [.avif]) == .gif)
        #expect(try await choose("", "/webp", []) { $0.output.preferredFormats = [.webp, .png] } == .webp)
    }

    @Test("All frames are made alike, up to the most that are allowed") func animations() async throws {
        // In light, the part of a pixel beyond the edge of a crop is seen.
        try await RenderingRig.run({ $0.output.usesLinearLight = false }) { rig in
            rig.server.route("/a", .data(try await Quadrants.animation()))
            let result = try await rig.render("rs:fill:40:40/g:sm/t:1").image
            #expect(result.pixelWidth == 40 && result.pixelHeight == 40 && result.frameCount == 3)
            let cropped = try await rig.render("c:100:50:soea/w:20").image
            let corners = try Pixels(cropped.data).corners
            #expect(cropped.frameCount == 3 && corners == Array(repeating: "yellow", count: 4))
            #expect(try await rig.render("w:20/maf:2").image.frameCount == 2)
            #expect(try await rig.render("w:20/maf:1").image.frameCount == 1)
            #expect(try await rig.render("w:20/f:jpg").image.frameCount == 1)
            #expect(try await rig.render("w:20/f:webp").image.frameCount == 3)
        }
    }

    @Test("The quality is the URL's, the format's or the server's, and lowered until the file is small enough")
    func quality() async throws {
        try await RenderingRig.run { rig in
            let noise = Image(
                cgImage: Bitmap(width: 256, height: 256, hasAlpha: false) { bytes, _ in
                    var generator = SystemRandomNumberGenerator()
                    for place in bytes.indices {
                        bytes[place] = place % 4 == 3 ? 255 : .random(in: 0...255, using: &generator)
                    }
                }
            )
            rig.server.route("/a", .data(try #require(noise.pngData())))
            func count(_ options: String) async throws -> Int { try await rig.render(options).image.data.count }
            let usual = try await count("f:jpg")
            #expect(try await count("f:jpg/q:80") == usual)
            #expect(try await count("f:jpg/q:90") > usual)
            #expect(try await count("f:jpg/fq:jpg:40") < usual)
            let webP = try await count("f:webp")
            #expect(try await count("f:webp/fq:jpg:10") == webP)
            #expect(try await count("f:webp/q:79") == webP)
            let (least, budget) = (try await count("f:jpg/q:10"), usual / 2)
            let limited = try await count("f:jpg/mb:\(budget)")
            #expect(limited <= budget && limited > least)
            #expect(try await count("f:jpg/mb:1") == least)
        }
    }

    @Test("Sources are sent as they are where that is asked for") func asTheyAre() async throws {
        try await RenderingRig.run { rig in
            let (jpeg, gif) = (try Quadrants.jpeg(orientation: 6), try await Quadrants.animation())
            rig.server.route("/jpeg", .data(jpeg))
            rig.server.route("/gif", .data(gif))
            func bytes(_ options: String, _ path: String, _ formats: [FileFormat] = []) async throws -> Data {
                try await rig.render(options, path: path, preferring: formats).image.data
            }
            #expect(try await bytes("raw:1/w:10", "/jpeg") == jpeg)
            #expect(try await bytes("raw:1/f:png", "/gif") == gif)
            #expect(try await bytes("skp:jpg:gif/w:10", "/jpeg") == jpeg)
            #expect(try await bytes("skp:gif/w:10", "/gif") == gif)
            #expect(try await bytes("skp:jpg/w:10/f:jpg", "/jpeg") == jpeg)
            #expect(try await bytes("skp:jpg/w:10/f:png", "/jpeg") != jpeg)
            #expect(try await bytes("skp:png/w:10", "/jpeg") != jpeg)
            // Whatever the client prefers, and whether results have the format or not.
            #expect(try await bytes("skp:jpg/w:10", "/jpeg", [.webp]) == jpeg)
            let webP = try await Quadrants.image().kf.encoded(as: ImageEncoding(.webp)).data
            rig.server.route("/webp", .data(webP))
            #expect(try await bytes("skp:webp/w:10", "/webp") == webP)
        }
    }

    @Test("A drawing stays one where the URL names no format or its own, cleaned unless that is switched off")
    func drawings() async throws {
        let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect onclick=\"a()\"/></svg>"
        let text = Data(drawing.utf8).base64EncodedString()
        let program =
            "import base64, gzip; print(base64.b64encode(gzip.compress(base64.b64decode('\(text)'))).decode())"
        let printed = try Python.output(of: program).trimmingCharacters(in: .whitespacesAndNewlines)
        let compressed = try #require(Data(base64Encoded: printed))
        let cleaned = drawing.replacing(" onclick=\"a()\"", with: "")
        for (cleans, expected) in [(true, cleaned), (false, drawing)] {
            try await RenderingRig.run({ $0.sources.cleansDrawings = cleans }) { rig in
                rig.server.route("/s.svg", .data(Data(drawing.utf8)))
                rig.server.route("/s.svgz", .data(compressed))
                rig.server.route("/p.png", try Quadrants.png())
                let url = rig.server.url("/").absoluteString
                try await rig.serving { server, _ in
                    for (options, ending) in [("w:20", ""), ("f:svg", ""), ("w:20", "@svg"), ("w:20", "")] {
                        let answer = try await server.get("/_/\(options)/plain/\(url)s.svg\(ending)")
                        #expect(answer.status == 200 && answer.text == expected, "\(options) \(ending)")
                        #expect(answer.fields["content-type"] == "image/svg+xml")
                        #expect(answer.fields["content-disposition"] == "inline; filename=\"s.svg\"")
                        #expect(answer.fields["content-security-policy"]?.contains("default-src 'none'") == true)
                        await ImageCache.allCachesWillTerminate(within: 60)
                        rig.cache.clearMemoryCache()
                    }
                    let inflated = try await server.get("/_/plain/\(url)s.svgz")
                    #expect(inflated.text == expected && inflated.fields["content-type"] == "image/svg+xml")
                    // Those of one size are found on disk.
                    #expect(rig.server.count("/s.svg") == 3)
                    #expect(try await server.get("/_/plain/\(url)p.png@svg").status == 422)
                }
            }
        }
        let canDraw = ImageContentType.readable.contains(.svg)
        try await RenderingRig.run({ $0.sources.rasterizesDrawings = true }) { rig in
            rig.server.route("/a", .data(Data(drawing.utf8)))
            for options in ["f:svg", "skp:svg"] {
                let result = try await rig.render(options)
                #expect(result.image.contentType == .svg, "\(options)")
            }
            let sized = drawing.replacing("><rect", with: " width=\"40\" height=\"30\"><rect")
            rig.server.route("/b", .data(Data(sized.utf8)))
            let drawn = try await rig.error("w:20", path: "/b")
            #expect(canDraw ? drawn == nil : drawn?.kind == "not_an_image")
            rig.server.route("/a", .data(Data("<svg><a></svg>".utf8)))
            let broken = try await rig.error("f:svg/w:3")
            #expect(broken?.kind == "damaged")
        }
        if !canDraw { print("Drawings were not made pixels of: the trait SVG is not built in.") }
    }

    @Test("A raw source is sent whatever it is, from the caches too, and as a download if it is no image")
    func raw() async throws {
        try await RenderingRig.run { rig in
            let sources: [(name: String, data: Data, type: String, disposition: String)] = [
                ("a.txt", Data("<script>alert(1)</script>".utf8), "application/octet-stream", "attachment"),
                ("b.pdf", Data("%PDF-1.7".utf8), "application/pdf", "attachment"),
                ("c.svg", Data("<svg xmlns='http://www.w3.org/2000/svg'></svg>".utf8), "image/svg+xml", "inline"),
                ("d.jpg", try Quadrants.jpeg().prefix(500), "image/jpeg", "inline"),
            ]
            for source in sources { rig.server.route("/" + source.name, .data(source.data)) }
            try await rig.serving { server, _ in
                for round in 0..<3 {
                    for source in sources {
                        let url = rig.server.url("/" + source.name).absoluteString
                        let answer = try await server.get("/_/raw:1/w:10/plain/" + url)
                        #expect(answer.status == 200 && Data(answer.body) == source.data, "\(source.name)")
                        #expect(answer.fields["content-type"] == source.type)
                        let disposition = "\(source.disposition); filename=\"\(source.name)\""
                        #expect(answer.fields["content-disposition"] == disposition)
                        #expect(answer.fields["x-content-type-options"] == "nosniff")
                        #expect(answer.fields["content-security-policy"]?.contains("sandbox") == true)
                        #expect(rig.server.count("/" + source.name) == 1)
                    }
                    await ImageCache.allCachesWillTerminate(within: 60)
                    if round == 0 { rig.cache.clearMemoryCache() }
                }
            }
            #expect(try await rig.error("raw:1/msfs:10", path: "/a.txt")?.kind == "too_large")
        }
    }

    @Test("Of the metadata all, the copyright or nothing is kept") func metadata() async throws {
        try await RenderingRig.run { rig in
            // Big-endian EXIF with a model (0x0110) and a copyright (0x8298), both of three letters.
            func field(_ tag: [UInt8], _ text: String) -> [UInt8] { tag + [0, 2, 0, 0, 0, 4] + Array(text.utf8) + [0] }
            let fields = [0, 2] + field([1, 0x10], "CAM") + field([0x82, 0x98], "ANN") + [0, 0, 0, 0]
            let block = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8] + fields
            var data = try #require(Quadrants.image().jpegData(compressionQuality: 0.9))
            data.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(block.count + 2)] + block, at: 2)
            rig.server.route("/a", .data(data))
            func kept(_ options: String) async throws -> [String] {
                let data = try await rig.render("w:50/" + options).image.data
                return ["CAM", "ANN"].filter { data.range(of: Data($0.utf8)) != nil }
            }
            #expect(try await kept("sm:1") == ["ANN"])
            #expect(try await kept("kcr:0").isEmpty)
            #expect(try await kept("sm:0") == ["CAM", "ANN"])
        }
    }
}
