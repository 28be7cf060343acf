// Providers over BlurHash and ThumbHash texts.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct PlaceholderHashTests {
    private let blurHash = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
    private let size = CGSize(width: 8, height: 6)
    private let thumbHash = Data([
        0x26, 0x17, 0x06, 0x2d, 0x94, 0x60, 0x53, 0x87, 0x70, 0x67, 0x77, 0x65, 0x98, 0x39, 0x85, 0x76, 0x51, 0xc0,
        0x02, 0xf8, 0x78,
    ])

    @Test("A BlurHash becomes the PNG of its image") func blurHashImage() async throws {
        let provider = BlurHashImageDataProvider(hash: blurHash, size: size, punch: 2)
        let expected = try #require(Image(blurHash: blurHash, size: size, punch: 2)?.pngData())
        #expect(try await provider.data() == expected)
        let info = try ImageInfo(data: expected)
        #expect(info.contentType == .png && info.pixelWidth == 8 && info.pixelHeight == 6)
    }

    @Test("The key of a BlurHash depends on hash, size and contrast") func blurHashKey() {
        func key(_ hash: String, _ width: CGFloat, _ punch: CGFloat) -> String {
            BlurHashImageDataProvider(hash: hash, size: CGSize(width: width, height: 6), punch: punch).cacheKey
        }
        #expect(Set([key(blurHash, 8, 1), key(blurHash, 9, 1), key(blurHash, 8, 2), key("00Jag4", 8, 1)]).count == 4)
        #expect(key(blurHash, 8, 1) == key(blurHash, 8, 1))
        #expect(BlurHashImageDataProvider(hash: blurHash, size: size, cacheKey: "mine").cacheKey == "mine")
    }

    @Test("Letters that are no BlurHash are one error, sizes that cannot exist another")
    func badBlurHashes() async {
        typealias Failure = BlurHashImageDataProvider.BlurHashError
        await #expect(throws: Failure.malformedHash("00000")) {
            try await BlurHashImageDataProvider(hash: "00000", size: size).data()
        }
        let empty = CGSize(width: 0, height: 6)
        await #expect(throws: Failure.impossibleSize(empty)) {
            try await BlurHashImageDataProvider(hash: blurHash, size: empty).data()
        }
    }

    @Test("A ThumbHash becomes the PNG of its image, whichever way it is given") func thumbHashImage() async throws {
        let expected = try #require(Image(thumbHash: thumbHash)?.pngData())
        let one = ThumbHashImageDataProvider(hash: thumbHash)
        let other = ThumbHashImageDataProvider(base64String: thumbHash.base64EncodedString())
        #expect(try await one.data() == expected)
        #expect(try await other.data() == expected)
        #expect(one.cacheKey == other.cacheKey)
        #expect(one.cacheKey != ThumbHashImageDataProvider(hash: thumbHash.dropLast()).cacheKey)
        #expect(ThumbHashImageDataProvider(hash: thumbHash, cacheKey: "mine").cacheKey == "mine")
    }

    @Test("A text that is no ThumbHash is an error", arguments: ["", "not Base64 !", "AQID"])
    func badThumbHashes(text: String) async {
        await #expect(throws: ThumbHashImageDataProvider.MalformedThumbHash(base64String: text)) {
            try await ThumbHashImageDataProvider(base64String: text).data()
        }
    }

    @Test("A manager loads a hash") func loading() async throws {
        try await Rig.run { rig in
            let provider = BlurHashImageDataProvider(hash: blurHash, size: size)
            let result = try await rig.manager.retrieveImage(with: .provider(provider))
            #expect(result.image.pixelWidth == 8 && result.image.pixelHeight == 6)
        }
    }
}
