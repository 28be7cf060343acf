// The blur processor: identifier, radius in points, orientation.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct BlurProcessorTests {
    private let options = KingfisherParsedOptionsInfo()

    @Test("Identifiers are the same as in Kingfisher") func identifiers() {
        #expect(BlurImageProcessor(blurRadius: 10).identifier == "com.onevcat.Kingfisher.BlurImageProcessor(10.0)")
        #expect(BlurImageProcessor(blurRadius: 0.5).identifier == "com.onevcat.Kingfisher.BlurImageProcessor(0.5)")
    }

    @Test("The radius of a processor is in points, that of an image's function in pixels") func radiusUnits() throws {
        let image = SampleImage.gradient(40, 30)
        let twice = try #require(
            BlurImageProcessor(blurRadius: 3).process(item: .image(image), options: .init([.scaleFactor(2)]))
        )
        #expect(twice.scale == 2 && twice.size == CGSize(width: 20, height: 15))
        #expect(Samples.words(twice) == Samples.words(image.kf.blurred(withRadius: 6)))
        #expect(Samples.words(twice) != Samples.words(image.kf.blurred(withRadius: 3)))
    }

    @Test("A radius of zero or an invalid one changes nothing", arguments: [0, -3, CGFloat.nan])
    func noRadius(radius: CGFloat) throws {
        let image = SampleImage.gradient(8, 8)
        #expect(BlurImageProcessor(blurRadius: radius).process(item: .image(image), options: options) === image)
        #expect(image.kf.blurred(withRadius: radius) === image)
    }

    @Test("Images with an orientation are blurred as displayed", arguments: Orientation.allCases)
    func orientation(orientation: Orientation) throws {
        try Samples.expectDisplayed(BlurImageProcessor(blurRadius: 2), orientation)
    }

    @Test("Data is decoded before it is blurred, and undecodable data gives nil") func data() throws {
        let processor = BlurImageProcessor(blurRadius: 2)
        let data = try SampleImage.png(33, 21)
        let decoded = try #require(Image(data: data))
        let result = try #require(processor.process(item: .data(data), options: options))
        #expect(Samples.words(result) == Samples.words(decoded.kf.blurred(withRadius: 2)))
        #expect(processor.process(item: .data(Data("hello".utf8)), options: options) == nil)
    }

    @Test("Every kind of image keeps its size and opacity") func sizeAndOpacity() throws {
        for image in Samples.images {
            let result = try #require(BlurImageProcessor(blurRadius: 5).process(item: .image(image), options: options))
            #expect(result.size == image.size && result.hasAlpha == image.hasAlpha)
        }
        let empty = Image()
        #expect(BlurImageProcessor(blurRadius: 5).process(item: .image(empty), options: options) === empty)
    }
}

/// Images of every kind that a processor may get.
enum Samples {
    static var images: [Image] {
        [
            SampleImage.gradient(17, 9), Image(cgImage: bitmap(13, 7) { x, y in UInt32(x * 19) << 24 }),
            Image(cgImage: bitmap(5, 11) { x, y in 0xFF00_0000 | UInt32(x * 20 + y) * 0x01_0101 }),
            Image(cgImage: bitmap(1, 1) { _, _ in 0x8040_2010 }), Image(cgImage: bitmap(1, 1) { _, _ in 0xFFAB_CDEF }),
        ]
    }

    static func bitmap(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> UInt32) -> Bitmap {
        Bitmap(width: width, height: height) { memory, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    memory.storeBytes(of: pixel(x, y), toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
    }

    /// The displayed pixels as 0xAARRGGBB.
    static func words(_ image: Image) -> [UInt32] {
        guard let bitmap = image.normalized.cgImage else { return [] }
        return bitmap.withUnsafeBytes { bytes in
            (0..<bitmap.height * bitmap.width).map {
                let offset = $0 / bitmap.width * bitmap.bytesPerRow + $0 % bitmap.width * 4
                return bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            }
        }
    }

    /// Expects the same result for an image with an orientation and for the upright image that it displays.
    static func expectDisplayed(_ processor: any ImageProcessor, _ orientation: Orientation) throws {
        let options = KingfisherParsedOptionsInfo()
        for image in images {
            let stored = try #require(image.cgImage)
            let turned = Image(cgImage: stored, scale: 1, orientation: orientation)
            let result = try #require(processor.process(item: .image(turned), options: options))
            let expected = try #require(processor.process(item: .image(turned.normalized), options: options))
            #expect(result.imageOrientation == .up && result.size == expected.size)
            #expect(words(result) == words(expected))
        }
    }
}
