// Animations whose files declare an orientation: every way of decoding them shows the same image.

import Foundation
import Testing

@testable import KFImaging

/// An EXIF block that holds an orientation and nothing else.
private func exif(_ orientation: Orientation) -> [UInt8] {
    [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation.exif), 0, 0, 0, 0, 0, 0, 0]
}

/// An animation of 16 × 12 pixels, whose file declares an orientation.
private func turned(_ name: String, _ orientation: Orientation) throws -> Data {
    var data = try fixture(name)
    let block = exif(orientation)
    if name.hasSuffix("png") {
        data.insert(contentsOf: PNGWriter.chunk("eXIf", block), at: 33)
        return data
    }
    // RIFF: the chunk at the end, its flag in VP8X, and the size of the whole.
    data += Array("EXIF".utf8) + [UInt8(block.count), 0, 0, 0] + block
    data[20] |= 8
    let size = data.count - 8
    for place in 0..<4 { data[4 + place] = UInt8(truncatingIfNeeded: size >> (8 * place)) }
    return data
}

@Suite struct AnimationOrientationTests {
    static let names = ["apng-ns.png", "apng-bo.png", "webp-ns.webp", "webp-bo.webp"]

    @Test("Frames, images and stills of a rotated animation are all upright", arguments: names)
    func sameOrientedImage(name: String) throws {
        let plain = try #require(try Codecs.frameSource(of: fixture(name)))
        for orientation in Orientation.allCases {
            let data = try turned(name, orientation)
            let size = orientation.isTransposing ? PixelSize(12, 16) : PixelSize(16, 12)
            let source = try #require(try Codecs.frameSource(of: data) as? OnDemandFrameSource)
            #expect(source.size == size && source.frameCount == 4)
            for index in [0, 1, 2, 3, 1] {
                let expected = try #require(plain.frame(at: index)).oriented(from: orientation)
                for frame in [source.frame(at: index), source.copy().frame(at: index)] {
                    #expect(frame?.size == size && frame?.words == expected.words, "\(orientation), frame \(index)")
                }
            }
            let first = try #require(source.frame(at: 0)).words
            for options in [
                ImageCreatingOptions(), ImageCreatingOptions(preloadAll: true),
                ImageCreatingOptions(onlyFirstFrame: true),
            ] {
                let image = try #require(Image.decoded(from: data, options: options))
                #expect(image.size == CGSize(width: size.width, height: size.height))
                #expect(image.imageOrientation == .up && image.cgImage?.words == first)
                #expect(image.images?.allSatisfy { $0.imageOrientation == .up && $0.size == image.size } != false)
            }
            let still = try #require(Image(data: data))
            #expect(still.size == CGSize(width: size.width, height: size.height))
            #expect(try still.bitmap().words == first)
            let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 8))
            #expect(try small.bitmap().size == source.frame(at: 0, maxSize: CGSize(width: 8, height: 8))?.size)
            #expect(try Codecs.info(of: data).orientation == orientation)
        }
    }

    @Test("A maximum size applies to the upright image", arguments: names)
    func maxSizeAfterRotation(name: String) throws {
        let source = try #require(try Codecs.frameSource(of: turned(name, .right)))
        #expect(source.frame(at: 1, maxSize: CGSize(width: 4, height: 1))?.size == PixelSize(3, 4))
    }

    @Test("Rotated animations are written with upright frames") func writesUprightFrames() throws {
        let source = try #require(try Codecs.frameSource(of: turned("webp-ns.webp", .right)))
        let written = try #require(
            try Codecs.frameSource(of: Codecs.encode(source, as: .webp, lossless: true))
        )
        for index in 0..<4 { #expect(written.frame(at: index)?.size == PixelSize(12, 16)) }
    }
}
