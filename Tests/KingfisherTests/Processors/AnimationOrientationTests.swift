// Animations with an EXIF orientation, as processors show them.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

/// Two frames of 4 × 2 pixels; the upper left pixel has a colour of its own.
private struct Corners: ImageFrameSource {
    var data: Data? { nil }
    var frameCount: Int { 2 }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        Bitmap(width: 4, height: 2) { memory, _ in
            let pixels = memory.bindMemory(to: UInt32.self)
            pixels.update(repeating: 0xFF00_00FF)
            pixels[0] = index == 0 ? 0xFFFF_0000 : 0xFF00_FF00
        }
    }

    func duration(at index: Int) -> TimeInterval { 0.1 }

    /// An animated WebP whose orientation is 90° clockwise.
    static func turned() throws -> Data {
        var data = try Codecs.encode(Corners(), as: .webp, lossless: true)
        let exif: [UInt8] = [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        data += Array("EXIF".utf8) + [UInt8(exif.count), 0, 0, 0] + exif
        data[20] |= 8
        withUnsafeBytes(of: UInt32(data.count - 8).littleEndian) { data.replaceSubrange(4..<8, with: $0) }
        return data
    }
}

/// The displayed pixel in the upper right corner.
private func corner(_ image: Image?) throws -> UInt32 {
    let bitmap = try #require(image?.orientedUp.cgImage)
    return bitmap.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: (bitmap.width - 1) * 4, as: UInt32.self) }
}

@Suite struct AnimationOrientationTests {
    @Test(
        "Processors show an animation in its orientation",
        arguments: [
            [], [.onlyLoadFirstFrame], [.preloadAllAnimationData],
        ] as [KingfisherOptionsInfo]
    )
    func orientation(options: KingfisherOptionsInfo) throws {
        let data = try Corners.turned()
        let options = KingfisherParsedOptionsInfo(options)
        let processors: [any ImageProcessor] = [
            DefaultImageProcessor.default, DownsamplingImageProcessor(size: CGSize(width: 100, height: 100)),
            AnimatedProcessingPolicy.transformFrames.applied(
                to: FlippingImageProcessor(horizontal: false, vertical: false)
            ),
        ]
        for processor in processors {
            let image = try #require(processor.process(item: .data(data), options: options))
            #expect(image.size == CGSize(width: 2, height: 4), "\(processor.identifier)")
            #expect(try corner(image) == 0xFFFF_0000, "\(processor.identifier)")
            guard let frame = image.frames?.frame(at: 1) else { continue }
            #expect(try corner(Image(cgImage: frame)) == 0xFF00_FF00, "\(processor.identifier)")
        }
        #expect(try corner(Image(data: data)) == 0xFFFF_0000)
    }
}
