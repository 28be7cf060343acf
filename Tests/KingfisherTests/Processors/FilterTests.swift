// Custom filters, the two built-in filters, and processors made of filters.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct FilterTests {
    private let options = KingfisherParsedOptionsInfo()

    /// A processor as users write it.
    private struct Negative: CIImageProcessor {
        let identifier = "com.example.negative"
        let filter = Filter { picture in
            picture.mapPixels { SIMD4($0.w - $0.x, $0.w - $0.y, $0.w - $0.z, $0.w) }
        }
    }

    @Test("Filters change pixels and keep the scale") func filters() throws {
        let image = Image(cgImage: Samples.bitmap(3, 2) { x, _ in x == 0 ? 0xFFFF_0000 : 0 }, scale: 3)
        let result = image.kf.apply(Negative().filter)
        #expect(result.scale == 3 && result.size == image.size)
        #expect(Samples.words(result) == [0xFF00_FFFF, 0, 0, 0xFF00_FFFF, 0, 0])
    }

    @Test("A filter that returns nil leaves the image unchanged") func nilFilter() {
        let image = SampleImage.gradient(4, 4)
        #expect(image.kf.apply(Filter { _ in nil }) === image)
        for orientation in Orientation.allCases {
            let turned = Image(
                cgImage: Samples.bitmap(3, 2) { x, _ in UInt32(x) << 24 },
                scale: 2,
                orientation: orientation
            )
            #expect(turned.kf.apply(Filter { _ in nil }) === turned)
        }
        let empty = Image()
        #expect(empty.kf.apply(Negative().filter) === empty)
    }

    @Test("A filter processor does not rescale images, and decodes data") func filterProcessor() throws {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
        let image = SampleImage.gradient(8, 4)
        let result = try #require(Negative().process(item: .image(image), options: options))
        #expect(result.scale == 1)
        let decoded = try #require(Negative().process(item: .data(try SampleImage.png(8, 4)), options: options))
        #expect(decoded.scale == 2 && decoded.size == CGSize(width: 4, height: 2))
        #expect(Negative().process(item: .data(Data("hello".utf8)), options: options) == nil)
    }

    @Test("Images with an orientation are filtered as displayed", arguments: Orientation.allCases)
    func orientation(orientation: Orientation) throws {
        try Samples.expectDisplayed(Negative(), orientation)
    }

    @Test("The built-in filters give the pixels of the image functions") func builtInFilters() throws {
        let element = Filter.ColorElement(brightness: 0.1, contrast: 1.2, saturation: 0.6, inputEV: -0.4)
        let tint = Color(red: 0.2, green: 0.9, blue: 0.3, alpha: 0.45)
        for image in Samples.images {
            let pairs = [
                (image.kf.apply(Filter.tint(tint)), image.kf.tinted(with: tint)),
                (
                    image.kf.apply(Filter.colorControl(element)),
                    image.kf.adjusted(brightness: 0.1, contrast: 1.2, saturation: 0.6, inputEV: -0.4)
                ),
            ]
            for (one, other) in pairs {
                let areNear = zip(Samples.words(one), Samples.words(other)).allSatisfy { left, right in
                    [0, 8, 16, 24].allSatisfy { abs(Int(left >> $0 & 255) - Int(right >> $0 & 255)) <= 1 }
                }
                #expect(areNear && one.size == other.size)
            }
        }
    }

    @Test("An encoded filter gets the stored values, a linear one linear light") func workingSpaceValues() throws {
        let image = Image(cgImage: Samples.bitmap(1, 1) { _, _ in 0xFF80_8080 })
        for (space, value) in [(Filter.WorkingSpace.encoded, 128 / 255.0), (.linear, 0.2158605)] {
            let seen = Filter(workingSpace: space) { picture in
                abs(Double(picture[0, 0].x) - value) < 1e-6 ? FilterImage(width: 2, height: 1) { _, _ in .zero } : nil
            }
            #expect(image.kf.apply(seen).pixelWidth == 2)
        }
    }

    @Test("The identifier is the caller's, with a working space other than the default appended") func identifiers() {
        let transform: Transformer = { $0 }
        #expect(FilterImageProcessor(filter: Filter(transform: transform), identifier: "mine").identifier == "mine")
        let encoded = Filter(workingSpace: .encoded, transform: transform)
        #expect(FilterImageProcessor(filter: encoded, identifier: "mine").identifier == "mine_encoded")
        let image = SampleImage.gradient(5, 5)
        let processor = FilterImageProcessor(filter: encoded, identifier: "mine")
        #expect(processor.process(item: .image(image), options: options).map(Samples.words) == Samples.words(image))
    }
}
