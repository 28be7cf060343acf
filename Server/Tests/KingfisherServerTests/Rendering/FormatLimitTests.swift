// Results that are larger than files of a format can be: another format is chosen, or they are made smaller.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
@_spi(Server) import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FormatLimitTests {
    static let chosen: [(width: Int, height: Int, formats: [FileFormat], type: ImageContentType)] = [
        (4, 16_383, [.webp], .webp), (4, 16_384, [.webp], .png), (16_384, 4, [.webp], .png),
        (4, 16_384, [.avif, .webp], .avif), (16_384, 4, [.webp, .avif], .avif), (1, 32_768, [.avif, .webp], .avif),
        (1, 32_769, [.avif, .webp], .png), (32_769, 1, [.webp, .avif], .png),
    ]

    @Test("A format that is chosen for the client gives way to one that holds the result", arguments: chosen)
    func negotiation(width: Int, height: Int, formats: [FileFormat], type: ImageContentType) async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png(width, height))
            let result = try await rig.render("", preferring: formats)
            #expect(result.image.contentType == type && result.warning == nil)
            #expect(result.image.pixelWidth == width && result.image.pixelHeight == height)
        }
    }

    @Test("A browser gets an answer for an image that is taller than WebP can be") func browser() async throws {
        let output = ServerConfiguration.read(["KF_AUTO_WEBP": "1"]).configuration.output
        try await RenderingServer.run({ $0.output = output }) { server in
            for (size, type) in [("2:16384", "image/jpeg"), ("16384:2", "image/jpeg"), ("2:16383", "image/webp")] {
                let path = "/_/rs:force:\(size):1/plain/local:///b.jpg"
                let accept = "text/html,image/webp,image/apng,*/*;q=0.8"
                let answer = try await server.get(path, ["Accept": accept])
                #expect(answer.fields["content-type"] == type)
            }
        }
    }

    @Test("The server's preferred formats give way, too, and so does the source's") func preferred() async throws {
        func choose(_ formats: [FileFormat], _ options: String) async throws -> ImageContentType {
            var type = ImageContentType.unknown
            try await RenderingRig.run({ $0.output.preferredFormats = formats }) { rig in
                let webp = try await Quadrants.image().kf.encoded(as: ImageEncoding(.webp)).data
                rig.server.route("/a", .data(webp))
                type = try await rig.render(options).image.contentType
            }
            return type
        }
        #expect(try await choose([.webp, .png], "") == .webp)
        #expect(try await choose([.webp, .png], "rs:force:16384:2:1") == .png)
        #expect(try await choose([.webp], "rs:force:16384:2:1") == .jpeg)
    }

    static let named: [(options: String, width: Int, height: Int, expected: [Int])] = [
        ("f:webp", 4, 16_384, [4, 16_383]), ("f:webp", 16_384, 4, [16_383, 4]), ("f:avif", 1, 32_769, [1, 32_768]),
        ("f:jpg", 1, 65_501, [1, 65_500]), ("f:gif", 65_536, 1, [65_535, 1]), ("f:ico", 512, 128, [256, 64]),
        ("rs:force:16400:2:1/f:webp", 20, 10, [16_383, 2]),
    ]

    @Test("For a format that the URL names the result is made smaller, and the log says so", arguments: named)
    func smaller(options: String, width: Int, height: Int, expected: [Int]) async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png(width, height))
            let result = try await rig.render(options)
            #expect([result.image.pixelWidth, result.image.pixelHeight] == expected)
            #expect(result.warning?.contains("\(expected[0])×\(expected[1]) pixels") == true)
            #expect(Image(data: result.image.data)?.pixelWidth == expected[0])
        }
    }

    @Test(
        "Another program sees results of the size that the format or the URL sets",
        .enabled(if: OtherReader.isInstalled, "\(OtherReader.advice)")
    )
    func seenByOthers() async throws {
        let icons = [
            ("rs:force:64:64:1/f:ico", [64, 64]), ("w:150/f:ico", [150, 75]), ("rs:force:9:9/f:ico", [9, 9]),
        ]
        let asked = Self.named + icons.map { (options: $0.0, width: 200, height: 100, expected: $0.1) }
        try await RenderingRig.run { rig in
            for (index, row) in asked.enumerated() {
                rig.server.route("/\(index)", try Quadrants.png(row.width, row.height))
                let image = try await rig.render(row.options, path: "/\(index)").image
                let fileExtension = try #require(image.contentType.preferredFileExtension)
                let seen = try OtherReader.read([image.data], fileExtension: fileExtension)
                #expect(seen.map(\.size) == [row.expected] && seen.map(\.frameCount) == [1], "\(row.options)")
            }
            rig.server.route("/a", .data(try await Quadrants.animation()))
            for (format, side) in [("gif", 65_535), ("webp", 16_383)] {
                let image = try await rig.render("rs:force:\(side + 1):2:1/f:\(format)").image
                let seen = try OtherReader.read([image.data], fileExtension: format)
                #expect(seen.map(\.size) == [[side, 2]] && seen.map(\.frameCount) == [3], "\(format)")
            }
        }
    }

    @Test("All that is added around an image is within the limit, too") func padding() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png(4, 16_380))
            let image = try await rig.render("pd:5/f:webp").image
            #expect(image.contentType == .webp && (16_380...16_383).contains(image.pixelHeight))
            let icon = try await rig.render("rs:fit:250:250:0:1/pd:7:5/f:ico").image
            #expect(icon.contentType == .ico && (250...256).contains(max(icon.pixelWidth, icon.pixelHeight)))
        }
    }

    @Test("An icon has the size that was asked for") func icons() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png(200, 100))
            for (options, size) in [("rs:force:64:64:1", [64, 64]), ("w:150", [150, 75]), ("rs:force:9:9", [9, 9])] {
                let result = try await rig.render(options + "/f:ico")
                #expect([result.image.pixelWidth, result.image.pixelHeight] == size && result.warning == nil)
                let icon = result.image.data
                let sides = (0..<Int(icon[4])).map { Int(icon[6 + $0 * 16]) }
                #expect(sides.max() == size[0])
            }
        }
    }

    @Test("Animations that are too long for WebP stay GIF, or are made smaller") func animations() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try await Quadrants.animation()))
            let wide = "rs:force:16384:2:1"
            for formats in [[FileFormat.webp], [.avif, .webp]] {
                let image = try await rig.render(wide, preferring: formats).image
                #expect(image.contentType == .gif && image.frameCount == 3 && image.pixelWidth == 16_384)
            }
            let named = try await rig.render(wide + "/f:webp")
            #expect(named.image.contentType == .webp && named.image.frameCount == 3)
            #expect(named.image.pixelWidth == 16_383 && named.warning != nil)
        }
    }

    @Test("Results of one plan in two formats do not share pixels where one of them is made smaller")
    func keys() async throws {
        try await RenderingRig.run { rig in
            let gate = Gate()
            rig.server.route("/a", try Quadrants.png(4, 16_384).with { $0.gate = gate })
            async let exact = rig.render("f:png")
            async let smaller = rig.render("f:webp")
            await rig.server.waitForRequests(1, to: "/a")
            gate.open()
            let heights = try await [exact.image.pixelHeight, smaller.image.pixelHeight]
            #expect(heights == [16_384, 16_383])
        }
    }
}
