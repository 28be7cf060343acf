// Qualities that are found for a score: `autoquality`, and the settings of that name.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FoundQualityTests {
    @Test("The quality is the lowest allowed one that reaches the score", arguments: ["jpg", "webp", "avif"])
    func found(format: String) async throws {
        let picture = Self.picture
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try #require(picture.pngData())))
            func file(_ options: String) async throws -> Data {
                try await rig.render("f:\(format)/\(options)").image.data
            }
            let (fair, good) = (try await file("aq:ssimulacra2:50"), try await file("aq:ssimulacra2:80"))
            #expect(fair.count < good.count)
            let result = try #require(Image(data: good))
            let score = try #require(picture.kf.similarity(to: result))
            #expect((78...95).contains(score), "\(score)")
            #expect(try await file("aq:ssimulacra2:1:70") == file("q:70"))
            #expect(try await file("aq:ssimulacra2:100:1:30") == file("q:30"))
            #expect(try await file("aq:none") == file("q:0"))
        }
    }

    @Test("The server's method is for URLs without a method and a quality, and for formats that have one")
    func settings() async throws {
        let settings = ["KF_AUTOQUALITY_METHOD": "ssimulacra2", "KF_AUTOQUALITY_TARGET": "50"]
        let output = ServerConfiguration.read(settings).configuration.output
        try await RenderingRig.run({ $0.output = output }) { rig in
            rig.server.route("/a", .data(try #require(Self.picture.pngData())))
            func file(_ options: String, preferring formats: [FileFormat] = []) async throws -> Data {
                try await rig.render(options, preferring: formats).image.data
            }
            let found = try await file("f:jpg")
            #expect(try await found == file("f:jpg/aq:ssimulacra2:50"))
            #expect(try await found != file("f:jpg/aq:none"))
            #expect(try await file("f:jpg/q:80") == file("f:jpg/aq:none"))
            #expect(try await file("", preferring: [.webp]) == file("f:webp"))
            #expect(try await file("f:png") == file("f:png/aq:none"))
        }
    }

    /// An image of waves and edges.
    private static let picture = Image(
        cgImage: Bitmap(width: 240, height: 160, hasAlpha: false) { bytes, bytesPerRow in
            for y in 0..<160 {
                for x in 0..<240 {
                    let wave = sin(Double(x * x) / 900) * 60 + cos(Double(y) / 7) * 40
                    let edge = (x / 24 + y / 20).isMultiple(of: 2) ? 110.0 : 140
                    let place = y * bytesPerRow + x * 4
                    for (offset, share) in [0.6, 1, 0.8].enumerated() {
                        bytes[place + offset] = UInt8(min(max(edge + wave * share, 0), 255))
                    }
                    bytes[place + 3] = 255
                }
            }
        }
    )
}
