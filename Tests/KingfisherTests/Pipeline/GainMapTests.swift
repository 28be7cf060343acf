// Encoded results keep the gain maps of their sources where that is asked for, whichever way the source comes.

import Foundation
import KFImaging
import KFSupport
@_spi(Server) import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct GainMapTests {
    private static func solid(_ width: Int, _ height: Int, _ color: UInt32) throws -> Data {
        let bitmap = Bitmap(width: width, height: height) { memory, bytesPerRow in
            memory.bindMemory(to: UInt32.self).update(repeating: color)
        }
        return try Codecs.encode(Image(cgImage: bitmap), as: .jpeg)
    }

    private static func source() throws -> Data {
        let (image, map) = (try solid(64, 48, 0xFF40_8020), try solid(32, 24, 0xFF50_5050))
        return GainMapFixture(image: image, map: map, hasISO: true).file
    }

    private static func keeping(_ format: ImageContentType? = nil) -> ImageEncoding {
        var encoding = ImageEncoding(format)
        encoding.keptMetadata = .gainMap
        return encoding
    }

    @Test("A result keeps the map from the network and from a cached original, after cuts and sizes") func kept()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try Self.source()))
            let crop = CroppingImageProcessor(size: CGSize(width: 32, height: 32), anchor: .zero)
            let thumbnail = ThumbnailImageProcessor(size: CGSize(width: 32, height: 0))
            for (processor, size) in [
                (DefaultImageProcessor.default as any ImageProcessor, (32, 24)), (crop, (16, 16)),
                (thumbnail, (16, 12)),
                (crop |> FlippingImageProcessor(horizontal: true, vertical: false), (16, 16)),
            ] {
                func load(_ encoding: ImageEncoding) async throws -> EncodedImage {
                    let options: KingfisherOptionsInfo = [.processor(processor), .cacheOriginalImage, .waitForCache]
                    return try await rig.manager.retrieveEncoded(
                        with: rig.server.url("/a"),
                        options: options,
                        as: encoding
                    )
                }
                let kept = try await load(Self.keeping())
                let structure = try #require(try GainMapStructure(kept.data), "\(processor.identifier)")
                let map = try #require(try ImageInfo(data: kept.data).gainMap)
                #expect(map.pixelWidth == size.0 && map.pixelHeight == size.1 && map.channels[0].maxBoost == 2.25)
                #expect(structure.itemLength == structure.map.count)
                let plain = try await load(ImageEncoding())
                #expect(try GainMapStructure(plain.data) == nil && plain.data.count < kept.data.count)
                // From the original in the cache.
                rig.cache.clearMemoryCache()
                var again = Self.keeping(.jpeg)
                again.frames = .first
                #expect(try await load(again).data == kept.data)
            }
            #expect(rig.server.count("/a") == 1)
        }
    }

    @Test("Where colours change, and in other formats, the map is dropped and the file is the same as ever")
    func dropped() async throws {
        let source = try Self.source()
        try await Rig.run { rig in
            rig.server.route("/a", .data(source))
            func load(_ encoding: ImageEncoding, _ processor: any ImageProcessor) async throws -> Data {
                try await rig.manager.retrieveEncoded(
                    with: rig.server.url("/a"),
                    options: [.processor(processor)],
                    as: encoding
                ).data
            }
            let (gray, plain) = (BlackWhiteProcessor(), DefaultImageProcessor.default)
            let (kept, usual) = (try await load(Self.keeping(), gray), try await load(ImageEncoding(), gray))
            #expect(kept == usual)
            let (keptPNG, png) = (try await load(Self.keeping(.png), plain), try await load(ImageEncoding(.png), plain))
            #expect(keptPNG == png)
        }
    }

    @Test("Each set of what is kept has a key of its own, and those of before have theirs") func keys() {
        func identifier(_ kept: ImageEncoding.KeptMetadata) -> String {
            var encoding = ImageEncoding()
            encoding.keptMetadata = kept
            return encoding.identifier
        }
        let sets: [ImageEncoding.KeptMetadata] = [
            .none, .copyright, .exif, .exifWithLocation, .gainMap, [.copyright, .gainMap], [.exif, .gainMap],
            [.exifWithLocation, .gainMap],
        ]
        #expect(Set(sets.map(identifier)).count == sets.count)
        for (kept, word) in zip(sets, ["4:none", "9:copyright", "4:exif", "16:exifWithLocation"]) {
            #expect(identifier(kept).hasSuffix(word))
        }
        #expect(ImageEncoding.KeptMetadata.exifWithLocation.contains(.exif))
    }
}
