// Colour controls, black and white, tint, and the filter of the resizing processor.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ColorProcessorTests {
    private let options = KingfisherParsedOptionsInfo()
    private static let controls = ColorControlsProcessor(brightness: 0.1, contrast: 1.2, saturation: 0.5, inputEV: 0.3)
    static let processors: [any ImageProcessor] = [
        controls, BlackWhiteProcessor(), TintImageProcessor(tint: Color(red: 1, green: 0, blue: 0, alpha: 0.5)),
        TintImageProcessor(tint: .blue, workingSpace: .encoded), BlackWhiteProcessor(workingSpace: .encoded),
    ]

    @Test("Identifiers are the same as in Kingfisher") func identifiers() {
        let prefix = "com.onevcat.Kingfisher."
        #expect(Self.controls.identifier == "\(prefix)ColorControlsProcessor(0.1_1.2_0.5_0.3)")
        #expect(BlackWhiteProcessor().identifier == "\(prefix)BlackWhiteProcessor")
        #expect(TintImageProcessor(tint: .red).identifier == "\(prefix)TintImageProcessor((1.00,0.00,0.00,1.00))")
        // Colours that are equal in two decimals have different identifiers.
        let third = TintImageProcessor(tint: Color(white: 0.125, alpha: 1)).identifier
        #expect(third == "\(prefix)TintImageProcessor((0.12,0.12,0.12,1.00)_0.125,0.125,0.125,1.0)")
    }

    @Test("A different working space gives a different identifier and different pixels") func workingSpaces() throws {
        let image = SampleImage.gradient(16, 16)
        let pairs: [(any ImageProcessor, any ImageProcessor)] = [
            (BlackWhiteProcessor(), BlackWhiteProcessor(workingSpace: .encoded)),
            (
                TintImageProcessor(tint: .red.withAlphaComponent(0.3)),
                TintImageProcessor(tint: .red.withAlphaComponent(0.3), workingSpace: .encoded)
            ),
            (
                ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 2, inputEV: 0),
                ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 2, inputEV: 0, workingSpace: .encoded)
            ),
        ]
        for (linear, encoded) in pairs {
            #expect(encoded.identifier == linear.identifier + "_encoded")
            let one = try #require(linear.process(item: .image(image), options: options))
            let other = try #require(encoded.process(item: .image(image), options: options))
            #expect(Samples.words(one) != Samples.words(other))
        }
    }

    @Test(
        "Black and white gives the reference values",
        arguments: [(UInt32(0xFF0000), UInt32(159)), (0x00FF00, 255), (0x0000FF, 96), (0x808080, 160), (0x4080C0, 156)]
    )
    func blackAndWhite(input: UInt32, grey: UInt32) throws {
        let image = Image(cgImage: Samples.bitmap(3, 2) { _, _ in 0xFF00_0000 | input })
        let result = try #require(BlackWhiteProcessor().process(item: .image(image), options: options))
        for word in Samples.words(result) {
            #expect(word >> 24 == 255)
            #expect([16, 8, 0].allSatisfy { abs(Int(word >> $0 & 255) - Int(grey)) <= 1 })
            #expect(Set([16, 8, 0].map { word >> $0 & 255 }).count == 1)
        }
    }

    @Test("Neutral colour controls return the image unchanged") func neutralControls() throws {
        let neutral = ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 1, inputEV: 0)
        for image in Samples.images {
            let result = try #require(neutral.process(item: .image(image), options: options))
            #expect(result === image)
            #expect(image.kf.adjusted(brightness: 0, contrast: 1, saturation: 1, inputEV: 0) === image)
        }
    }

    @Test("Invalid numbers never trap", arguments: [CGFloat.nan, .infinity, -.infinity, 1e300, -1e300, 0])
    func invalidNumbers(number: CGFloat) throws {
        for image in Samples.images {
            for controls in [
                ColorControlsProcessor(brightness: number, contrast: number, saturation: number, inputEV: number),
                ColorControlsProcessor(brightness: 0, contrast: 1, saturation: number, inputEV: 0),
            ] {
                let result = try #require(controls.process(item: .image(image), options: options))
                #expect(result.size == image.size)
            }
            let color = Color(red: number, green: number, blue: number, alpha: number)
            #expect(image.kf.tinted(with: color).size == image.size)
        }
    }

    @Test("Images with an orientation are changed as displayed", arguments: Orientation.allCases)
    func orientation(orientation: Orientation) throws {
        for processor in Self.processors { try Samples.expectDisplayed(processor, orientation) }
    }

    @Test("Data is decoded, with the scale of the options") func scaleAndData() throws {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
        for processor in Self.processors {
            let image = try #require(processor.process(item: .data(try SampleImage.png(20, 10)), options: options))
            #expect(image.scale == 2 && image.size == CGSize(width: 10, height: 5))
            #expect(processor.process(item: .data(Data("hello".utf8)), options: options) == nil)
            let empty = Image()
            #expect(processor.process(item: .image(empty), options: self.options) === empty)
        }
    }

    @Test("The namespace gives the pixels of the processors") func namespace() throws {
        let image = SampleImage.gradient(12, 12)
        let tint = Color(red: 0, green: 0.5, blue: 1, alpha: 0.4)
        let tinted = TintImageProcessor(tint: tint).process(item: .image(image), options: options)
        #expect(try Samples.words(#require(tinted)) == Samples.words(image.kf.tinted(with: tint)))
        let adjusted = Self.controls.process(item: .image(image), options: options)
        let same = image.kf.adjusted(brightness: 0.1, contrast: 1.2, saturation: 0.5, inputEV: 0.3)
        #expect(try Samples.words(#require(adjusted)) == Samples.words(same))
    }

    @Test("Blended tints have their own identifiers") func blendedTints() {
        let prefix = "com.onevcat.Kingfisher.TintImageProcessor((1.00,0.00,0.00,1.00)"
        #expect(TintImageProcessor(tint: .red, blendMode: .sourceIn).identifier == "\(prefix)_18)")
        let names = CGBlendMode.allCases.map { TintImageProcessor(tint: .red, blendMode: $0).identifier }
        #expect(Set(names + [TintImageProcessor(tint: .red).identifier]).count == CGBlendMode.allCases.count + 1)
        let builder = KF.url(URL(string: "https://example.com/a.png")).tint(color: .red, blendMode: .multiply)
        #expect(builder.options.processor.identifier == "\(prefix)_1)")
    }

    @Test("A masked tint is the color where the image is opaque") func maskedTint() throws {
        let image = Image(cgImage: Samples.bitmap(256, 1) { x, _ in UInt32(x) << 24 | UInt32(x / 2) << 8 }, scale: 2)
        let tint = KFCrossPlatformColor(red: 1, green: 0, blue: 0.2, alpha: 0.6)
        let result = TintImageProcessor(tint: tint, blendMode: .sourceIn).process(item: .image(image), options: options)
        let stencil = try #require(result)
        let same = image.kf.tinted(with: tint, blendMode: .sourceIn)
        #expect(same.scale == 2 && Samples.words(stencil) == Samples.words(same))
        for (alpha, word) in Samples.words(stencil).enumerated() {
            let expected = [0.6, 0.6, 0, 0.12].map { $0 * Double(alpha) }
            let found = [24, 16, 8, 0].map { Double(word >> UInt32($0) & 255) }
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 1 })
        }
    }

    @Test("Images with an orientation are tinted as displayed", arguments: Orientation.allCases)
    func tintOrientation(orientation: Orientation) throws {
        try Samples.expectDisplayed(TintImageProcessor(tint: .orange, blendMode: .multiply), orientation)
    }

    @Test("The builder appends the processors") func builder() throws {
        let builder = KF.url(URL(string: "https://example.com/a.png")).blur(radius: 3).tint(color: .red).blackWhite()
            .colorControls(brightness: 0.1, contrast: 1, saturation: 1, inputEV: 0)
            .resizing(referenceSize: CGSize(width: 2, height: 3), filter: .lanczos3)
        let names = [
            "BlurImageProcessor(3.0)", "TintImageProcessor((1.00,0.00,0.00,1.00))", "BlackWhiteProcessor",
            "ColorControlsProcessor(0.1_1.0_1.0_0.0)", "ResizingImageProcessor((2.0, 3.0), lanczos3)",
        ]
        let expected = names.map { "com.onevcat.Kingfisher." + $0 }.joined(separator: "|>")
        #expect(builder.options.processor.identifier == expected)
    }

    @Test("Each resizing filter has an identifier and a result of its own") func resizingFilters() throws {
        let prefix = "com.onevcat.Kingfisher.ResizingImageProcessor((8.0, 8.0)"
        let size = CGSize(width: 8, height: 8)
        #expect(ResizingImageProcessor(referenceSize: size, filter: .automatic).identifier == "\(prefix))")
        #expect(ResizingImageProcessor(referenceSize: size, filter: .nearest).identifier == "\(prefix), nearest)")
        #expect(
            ResizingImageProcessor(referenceSize: size, mode: .aspectFit, filter: .catmullRom).identifier
                == "\(prefix), aspectFit, catmullRom)"
        )
        let image = SampleImage.gradient(50, 50)
        let results = try ResamplingFilter.allCases.filter { $0 != .automatic }.map { filter in
            let processor = ResizingImageProcessor(referenceSize: size, filter: filter)
            let result = try #require(processor.process(item: .image(image), options: options))
            #expect(Samples.words(result) == Samples.words(image.kf.resize(to: size, for: .none, filter: filter)))
            return Samples.words(result)
        }
        #expect(Set(results).count == results.count)
    }

    @Test("Images with an orientation are resized as displayed", arguments: Orientation.allCases)
    func resizingOrientation(orientation: Orientation) throws {
        for filter in ResamplingFilter.allCases where filter != .nearest {
            let image = Image(
                cgImage: try #require(SampleImage.gradient(30, 10).cgImage),
                scale: 1,
                orientation: orientation
            )
            let size = CGSize(width: 0, height: -3)
            let tiny = ResizingImageProcessor(referenceSize: size, mode: .aspectFit, filter: filter)
                .process(item: .image(image), options: options)
            #expect(tiny?.size == CGSize(width: 1, height: 1))
            let small = DownsamplingImageProcessor(size: CGSize(width: 15, height: 2))
                .process(item: .image(image), options: options)
            #expect(
                small?.size == (orientation.isTransposing ? CGSize(width: 5, height: 15) : CGSize(width: 15, height: 5))
            )
            #expect(small?.imageOrientation == .up)
        }
    }

    @Test("Sizes that no bitmap can have give nil", arguments: [CGFloat.nan, .infinity, 1e30])
    func impossibleSizes(side: CGFloat) {
        let size = CGSize(width: side, height: 10)
        for filter in ResamplingFilter.allCases {
            let processor = ResizingImageProcessor(referenceSize: size, filter: filter)
            #expect(processor.process(item: .image(SampleImage.gradient(5, 5)), options: options) == nil)
        }
    }
}
