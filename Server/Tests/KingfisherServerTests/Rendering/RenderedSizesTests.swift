// Sizes and places of results, judged by their pixels.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RenderedSizesTests {
    @Test("Results have the published sizes") func published() async throws {
        let table = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../KFImageURLsTests/Resources/sizes.tsv")
        let lines = try String(contentsOf: table, encoding: .utf8).split(separator: "\n")
        let cases = lines.filter { !$0.hasPrefix("#") && !$0.hasPrefix("rt\t") }.map { $0.split(separator: "\t") }
        #expect(cases.count == 167)
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            for fields in cases {
                var options =
                    "rs:\(fields[0]):\(fields[1]):\(fields[2]):\(fields[3]):\(fields[4])/exar:\(fields[5])"
                    + "/rot:\(fields[6])/pd:\(fields[7]):\(fields[8]):\(fields[9]):\(fields[10])/f:png"
                if fields[11] != "0" { options += "/mrd:\(fields[11])" }
                let image = try await rig.render(options).image
                let size = "\(image.pixelWidth)\t\(image.pixelHeight)"
                #expect(size == fields.suffix(2).joined(separator: "\t"), "\(options)")
            }
        }
    }

    static let plans = [
        "rs:fit:300:200", "rs:fill:300:200", "rs:fill:300:200:1", "rs:fill-down:300:200", "rs:force:31:77",
        "rs:auto:90:200", "w:50", "h:33/dpr:2", "z:0.3", "mw:700", "c:0.5:100/rs:fill:40:40", "c:10:10/w:100/el:1",
        "c:100:80:sm/w:50", "rs:fill:50:50/g:sm", "rs:fit:50:50/ex:1:soea", "rs:fill:80:20/exar:1",
        "rs:fit:60:60/pd:1:2:3:4", "rot:90/c:30:20:nowe", "rot:270/rs:fill:60:30/fl:1:1", "w:100/bl:3/sh:1/pix:7",
        "t:10/w:40", "rs:fit:1:1", "rs:fill:1:300:1",
    ]

    @Test("Results have the size of the geometry, whatever the format and the shape", arguments: plans)
    func asComputed(options: String) async throws {
        try await RenderingRig.run { rig in
            for (width, height) in [(640, 427), (200, 301), (33, 7), (1, 1)] {
                let image = Quadrants.image(width, height)
                let webp = try await image.kf.encoded(as: ImageEncoding(.webp)).data
                let sources = [try Quadrants.jpeg(image), try #require(image.pngData()), webp]
                for (index, data) in sources.enumerated() {
                    let path = "/\(width)-\(index)"
                    rig.server.route(path, .data(data))
                    let request = try rig.request(options + "/f:png", path: path)
                    let geometry = ImageGeometry(source: PixelSize(width: width, height: height), plan: request.plan)
                    let result = try await rig.renderer.render(request).image
                    let size = PixelSize(width: result.pixelWidth, height: result.pixelHeight)
                    // Nothing is border here, so trimming changes nothing.
                    #expect(size == geometry.size, "\(width)×\(height), source \(index)")
                    #expect(ImageContentType(sniffing: result.data) == .png)
                }
            }
        }
    }

    @Test("A crop and a fill keep the part that the gravity names, before and after turning")
    func gravity() async throws {
        try await RenderingRig.run({ $0.output.usesLinearLight = false }) { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg(Quadrants.image(800, 600))))
            let all = Quadrants.names
            func only(_ name: String) -> [String] { Array(repeating: name, count: 4) }
            for (gravity, color) in zip(["nowe", "noea", "sowe", "soea"], all) {
                #expect(try await rig.pixels("c:0.5:0.5:\(gravity)/w:50").corners(inside: 1) == only(color))
                #expect(try await rig.pixels("c:400:300/g:\(gravity)").corners == only(color))
            }
            #expect(try await rig.pixels("rs:fill:10:100/g:we").corners == ["red", "red", "blue", "blue"])
            #expect(
                try await rig.pixels("rs:fill:10:100/g:fp:0.9:0.5").corners == ["green", "green", "yellow", "yellow"]
            )
            #expect(try await rig.pixels("rs:fill:100:10/g:so").corners == ["blue", "yellow", "blue", "yellow"])
            // Turned clockwise, the left side is above.
            #expect(try await rig.pixels("rot:90/w:60").corners == ["blue", "red", "yellow", "green"])
            #expect(try await rig.pixels("rot:180/w:60").corners == all.reversed())
            #expect(try await rig.pixels("rot:270/w:60").corners == ["green", "yellow", "red", "blue"])
            #expect(try await rig.pixels("fl:1:0/w:60").corners == ["green", "red", "yellow", "blue"])
            #expect(try await rig.pixels("fl:0:1/w:60").corners == ["blue", "yellow", "red", "green"])
            #expect(try await rig.pixels("rot:90/c:0.5:0.5:nowe/w:20").corners == only("blue"))
            #expect(try await rig.pixels("rot:90/fl:1:0/c:0.5:0.5:nowe/w:20").corners == only("red"))
            #expect(try await rig.pixels("rot:270/c:0.4:0.4:soea/w:20").corners == only("blue"))
        }
    }

    @Test("Sources are upright, unless their orientation is ignored", arguments: 1...8)
    func orientation(number: Int) async throws {
        try await RenderingRig.run { rig in
            let stored = Quadrants.image(320, 160)
            rig.server.route("/a", .data(try Quadrants.jpeg(stored, orientation: UInt8(number))))
            let shown = try #require(Orientation(exif: number))
            let bitmap = try #require(stored.cgImage)
            let expected = Image(cgImage: bitmap, orientation: shown).kf.normalized
            let corners = try Pixels(try #require(expected.pngData())).corners
            for options in ["w:40", "rs:fill:30:30", "t:1/w:30", "c:0.9:0.9/w:30"] {
                #expect(try await rig.pixels(options).corners == corners, "\(options)")
            }
            #expect(try await rig.pixels("").size == [expected.pixelWidth, expected.pixelHeight])
            #expect(try await rig.pixels("ar:0/w:80").corners == Quadrants.names)
            #expect(try await rig.pixels("ar:0/w:80").size == [80, 40])
        }
    }

    @Test("A border of one colour is cut off first, evenly if that is asked for") func trim() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try #require(Quadrants.image(border: 20).pngData())))
            #expect(try await rig.pixels("t:10").size == [200, 100])
            #expect(try await rig.pixels("t:10/w:100").corners == Quadrants.names)
            #expect(try await rig.pixels("t:10:ff0000").size == [240, 140])
            #expect(try await rig.pixels("t:10:ffffff").size == [200, 100])
            // Only the lower half is kept, with the border around it.
            let lower = "c:0:90:so/t:10"
            #expect(try await rig.pixels("t:10/c:0:50:so").corners == ["blue", "yellow", "blue", "yellow"])
            #expect(try await rig.pixels(lower).size == [200, 90])
            let uneven = Quadrants.image(border: 20).kf.crop(to: CGRect(x: 10, y: 0, width: 230, height: 130))
            rig.server.route("/b", .data(try #require(uneven.pngData())))
            #expect(try await rig.pixels("t:10", path: "/b").size == [200, 100])
            #expect(try await rig.pixels("t:10::1:1", path: "/b").size == [210, 110])
        }
    }

    @Test("Single pixels of a border do not count, and transparent ones count as magenta") func trimmedSpecks()
        async throws
    {
        try await RenderingRig.run { rig in
            /// The size of what is left of a black area of 20×10 in a border.
            func size(_ options: String, _ path: String, _ border: (_ x: Int, _ y: Int) -> [UInt8]) async throws
                -> [Int]
            {
                let bitmap = Bitmap(width: 40, height: 30) { bytes, bytesPerRow in
                    for y in 0..<30 {
                        for x in 0..<40 {
                            let isInside = (10..<30).contains(x) && (10..<20).contains(y)
                            let bgra = isInside ? [0, 0, 0, 255] : border(x, y)
                            for offset in 0..<4 { bytes[y * bytesPerRow + x * 4 + offset] = bgra[offset] }
                        }
                    }
                }
                rig.server.route(path, .data(try #require(Image(cgImage: bitmap).pngData())))
                return try await rig.pixels(options, path: path).size
            }
            let (black, white, clear): ([UInt8], [UInt8], [UInt8]) = (
                [0, 0, 0, 255], [255, 255, 255, 255], [0, 0, 0, 0]
            )
            let magenta: [UInt8] = [255, 0, 255, 255]
            let singles = try await size("t:10", "/singles") { x, y in
                x == 3 && y == 3 || x == 35 && y == 25 ? black : white
            }
            #expect(singles == [20, 10])
            let nine = try await size("t:10", "/nine") { x, y in
                (34...36).contains(x) && (24...26).contains(y) ? black : white
            }
            #expect(nine == [27, 17])
            #expect(try await size("t:10", "/magenta") { x, _ in x < 5 ? magenta : clear } == [20, 10])
            #expect(try await size("t:10:ff00ff", "/clear") { _, _ in clear } == [20, 10])
            #expect(try await size("t:10:ffffff", "/other") { _, _ in clear } == [40, 30])
        }
    }

    @Test("A source with more pixels than it may have is refused, however small the result is") func sourceLimit()
        async throws
    {
        try await RenderingRig.run({ $0.sources.maxMegapixels = 0.02 }) { rig in
            let image = Quadrants.image(211, 140)
            let formats: [ImageContentType] = [.jpeg, .png, .webp, .gif, .avif]
            for (index, format) in formats.enumerated() {
                rig.server.route("/\(index)", .data(try await image.kf.encoded(as: ImageEncoding(format)).data))
                for options in ["w:60", "w:60/f:jpg", "rs:fill:10:10", "c:20:20", "t:1/w:9", "ar:0/w:60"] {
                    let error = try await rig.error(options, path: "/\(index)")
                    #expect(error?.status == 422 && error?.kind == "too_large", "\(options), \(format)")
                }
            }
        }
    }

    @Test("A result that is decoded small looks like one that is decoded whole and scaled with Lanczos")
    func likeness() async throws {
        try await RenderingRig.run { rig in
            let waves = Bitmap(width: 1200, height: 800, hasAlpha: false) { bytes, bytesPerRow in
                for y in 0..<800 {
                    for x in 0..<1200 {
                        let place = y * bytesPerRow + x * 4
                        let periods: [Double] = [11, 37, 90]
                        for (channel, period) in periods.enumerated() {
                            let (across, down): (Double, Double) = (sin(Double(x) / period), cos(Double(y) / period))
                            bytes[place + channel] = UInt8(127 + 120 * across * down)
                        }
                        bytes[place + 3] = 255
                    }
                }
            }
            let jpeg = try Quadrants.jpeg(Image(cgImage: waves))
            rig.server.route("/a", .data(jpeg))
            let result = try #require(try await rig.pixels("rs:fill:300:200").image.cgImage)
            let scaling = ResizingImageProcessor(referenceSize: CGSize(width: 300, height: 200), filter: .lanczos3)
            let whole = try #require(scaling.process(item: .data(jpeg), options: KingfisherParsedOptionsInfo()))
            let outcome = ImageComparison.compare(result, try #require(whole.cgImage), atLeast: 44)
            #expect(outcome.isAlike, "\(outcome)")
        }
    }
}
