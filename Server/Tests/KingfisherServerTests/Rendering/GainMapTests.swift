// Results keep the gain maps of their sources with KF_KEEP_GAIN_MAP, as far as these can follow.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
@_spi(Server) import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct GainMapTests {
    /// An image of 200 × 100 pixels in four colours, and a map of half its sides in the same ones.
    private static func source(orientation: UInt8 = 1) throws -> Data {
        GainMapFixture(
            image: try Quadrants.jpeg(orientation: orientation),
            map: try Quadrants.jpeg(Quadrants.image(100, 50)),
            hasISO: true
        ).file
    }

    /// The size of the result's map, and the colours of its corners; nil without a map.
    private static func map(_ rig: RenderingRig, _ options: String) async throws -> (size: [Int], corners: [String])? {
        let data = try await rig.render(options).image.data
        guard let structure = try GainMapStructure(data) else { return nil }
        let pixels = try Pixels(Data(structure.map))
        return (pixels.size, pixels.corners)
    }

    @Test(
        "The map has the part and the turn that the result has",
        arguments: [
            "w:100", "rs:fill:40:40", "rs:fill:30:40:0/g:ea", "c:100:50:noea", "rot:90", "rot:180", "fl:1",
            "fl:1:1/rot:270",
            "c:100:100:we/rot:90/w:40", "ar:0", "ar:0/rot:90/w:50", "t:10",
        ],
        [1, 3, 6, 8]
    )
    func kept(options: String, orientation: UInt8) async throws {
        try await RenderingRig.run({ $0.output.keepsGainMap = true }) { rig in
            rig.server.route("/a", .data(try Self.source(orientation: orientation)))
            let image = try await rig.pixels(options)
            let map = try #require(try await Self.map(rig, options))
            #expect(map.corners == image.corners)
            for (side, result) in zip(map.size, image.size) { #expect(abs(side * 2 - result) <= 1) }
        }
    }

    @Test("Effects, padding and other formats leave it out, and without the setting there is none")
    func dropped() async throws {
        try await RenderingRig.run({ $0.output.keepsGainMap = true }) { rig in
            rig.server.route("/a", .data(try Self.source()))
            for options in ["bl:2", "sh:1", "pix:8", "pd:10", "ex:1/rs:fit:300:300:0:1"] {
                #expect(try await Self.map(rig, options) == nil, "\(options)")
            }
            #expect(try await rig.render("f:webp").image.contentType == .webp)
        }
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try Self.source()))
            for options in ["", "w:100", "sm:0"] { #expect(try await Self.map(rig, options) == nil) }
        }
    }

    @Test("The variable turns it on; without it, it is off") func setting() {
        #expect(!ServerConfiguration.read([:]).configuration.output.keepsGainMap)
        #expect(ServerConfiguration.read(["KF_KEEP_GAIN_MAP": "true"]).configuration.output.keepsGainMap)
    }
}
