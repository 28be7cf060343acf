// Processors: their identifiers, which are part of cache keys, and their results for data, images and options.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ProcessorTests {
    private let options = KingfisherParsedOptionsInfo()

    @Test("Identifiers are the same as in Kingfisher") func identifiers() {
        let size = CGSize(width: 100, height: 50.5)
        #expect(DefaultImageProcessor.default.identifier.isEmpty)
        #expect(
            DownsamplingImageProcessor(size: size).identifier
                == "com.onevcat.Kingfisher.DownsamplingImageProcessor((100.0, 50.5))"
        )
        #expect(
            ResizingImageProcessor(referenceSize: size).identifier
                == "com.onevcat.Kingfisher.ResizingImageProcessor((100.0, 50.5))"
        )
        #expect(
            ResizingImageProcessor(referenceSize: size, mode: .aspectFit).identifier
                == "com.onevcat.Kingfisher.ResizingImageProcessor((100.0, 50.5), aspectFit)"
        )
        #expect(
            ResizingImageProcessor(referenceSize: size, mode: .aspectFill).identifier
                == "com.onevcat.Kingfisher.ResizingImageProcessor((100.0, 50.5), aspectFill)"
        )
        let prefix = "com.onevcat.Kingfisher.RoundCornerImageProcessor"
        #expect(RoundCornerImageProcessor(cornerRadius: 20).identifier == "\(prefix)(20.0)")
        #expect(RoundCornerImageProcessor(radius: .widthFraction(0.5)).identifier == "\(prefix)(w_frac_0.5)")
        #expect(
            RoundCornerImageProcessor(radius: .heightFraction(0.25), targetSize: size).identifier
                == "\(prefix)(h_frac_0.25_(100.0, 50.5))"
        )
        #expect(
            RoundCornerImageProcessor(
                cornerRadius: 5,
                roundingCorners: [.topLeft, .bottomRight],
                backgroundColor: .red
            ).identifier == "\(prefix)(5.0_corner(9))_(1.00,0.00,0.00,1.00)"
        )
    }

    @Test("The default processor adds nothing to the identifier of a chain, and still runs")
    func joiningWithDefault() throws {
        let other = CountingProcessor("other")
        #expect((DefaultImageProcessor.default |> other).identifier == "other")
        #expect((other |> DefaultImageProcessor.default).identifier == "other")
        let joined = DefaultImageProcessor.default |> other
        #expect(joined.process(item: .data(try SampleImage.png()), options: options) != nil)
        #expect(other.runs.value == 1)
    }

    @Test("A processor that fails ends its chain") func failureStopsChain() throws {
        let first = CountingProcessor("first", fails: true), second = CountingProcessor("second")
        #expect((first |> second).process(item: .data(try SampleImage.png()), options: options) == nil)
        #expect(second.runs.value == 0)
    }

    @Test("Joining processors is associative") func joiningOrder() {
        let (a, b, c) = (CountingProcessor("a"), CountingProcessor("b"), CountingProcessor("c"))
        #expect((a |> b |> c).identifier == "a|>b|>c" && a.append(another: b).identifier == "a|>b")
        let (left, right) = (a |> b |> c, a |> (b |> c))
        #expect(left.identifier == right.identifier)
        let areEqual = left == right && left != a
        #expect(areEqual)
    }

    @Test("The default processor decodes with the scale of the options, and gives images that scale")
    func defaultProcessor() throws {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
        let decoded = try #require(
            DefaultImageProcessor.default.process(item: .data(try SampleImage.png(64, 32)), options: options)
        )
        #expect(decoded.size == CGSize(width: 32, height: 16))
        #expect(decoded.scale == 2)
        #expect(DefaultImageProcessor.default.process(item: .image(decoded), options: options) === decoded)
        #expect(DefaultImageProcessor.default.process(item: .data(Data("hello".utf8)), options: options) == nil)
    }

    @Test(
        "Downsampling limits the longer side and never enlarges",
        arguments: [
            (CGSize(width: 20, height: 40), 1.0, 40, 40), (CGSize(width: 15, height: 15), 1.0, 15, 15),
            (CGSize(width: 15, height: 15), 2.0, 30, 30), (CGSize(width: 15, height: 15), 3.0, 45, 45),
            (CGSize.zero, 1.0, 64, 64), (CGSize(width: 100, height: 100), 1.0, 64, 64),
        ]
    )
    func downsampling(_ size: CGSize, _ scale: CGFloat, _ width: Int, _ height: Int) throws {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(scale)])
        let processor = DownsamplingImageProcessor(size: size)
        for item in [
            ImageProcessItem.data(try SampleImage.png()), .data(try SampleImage.jpeg()), .image(SampleImage.gradient()),
        ] {
            let image = try #require(processor.process(item: item, options: options))
            #expect(image.pixelWidth == width && image.pixelHeight == height)
            #expect(image.scale == scale)
        }
        typealias Wrapper = KingfisherWrapper<KFCrossPlatformImage>
        let direct = try #require(Wrapper.downsampledImage(data: try SampleImage.jpeg(), to: size, scale: scale))
        #expect(direct.pixelWidth == width && direct.pixelHeight == height && direct.scale == scale)
        #expect(Wrapper.downsampledImage(data: Data("nothing".utf8), to: size, scale: scale) == nil)
    }

    @Test(
        "Without a limit, downsampling gives an upright still of the full size",
        arguments: [
            CGSize.zero, CGSize(width: -5, height: -5), CGSize(width: CGFloat.nan, height: 3),
            CGSize(width: 3, height: CGFloat.nan), CGSize(width: 4, height: CGFloat.infinity),
        ]
    )
    func downsamplingWithoutLimit(_ size: CGSize) throws {
        let processor = DownsamplingImageProcessor(size: size)
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
        let slides = (0..<3).map { SampleImage.gradient(16, 12, tint: UInt8(80 * $0)) }
        let moving = try #require(Image.animatedImage(with: slides, duration: 1)?.webPData)
        let still = try #require(processor.process(item: .data(moving), options: options))
        #expect(!still.isAnimated && still.kf.imageFrameCount == nil && still.animatedData == nil)
        #expect(still.pixelWidth == 16 && still.scale == 2 && !still.isUnprocessed)
        let stored = try #require(DefaultCacheSerializer.default.data(with: still, original: moving))
        #expect(try ImageInfo(data: stored).frameCount == 1)

        // An EXIF block with the orientation "right", directly after the start of the file.
        let tag: [UInt8] = [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        var turned = try SampleImage.jpeg(8, 4)
        turned.insert(contentsOf: tag + entry, at: 2)
        #expect(Image(data: turned)?.imageOrientation == .right)
        let upright = try #require(processor.process(item: .data(turned), options: options))
        #expect(upright.imageOrientation == .up && upright.pixelWidth == 4 && upright.pixelHeight == 8)
    }

    @Test("Downsampling undecodable data fails") func downsamplingInvalidData() {
        let processor = DownsamplingImageProcessor(size: CGSize(width: 10, height: 10))
        #expect(processor.process(item: .data(Data("hello".utf8)), options: options) == nil)
    }

    @Test("Resizing stretches, fits or fills, in points of the options' scale")
    func resizing() throws {
        func size(_ mode: ContentMode, scale: CGFloat = 1) throws -> (Int, Int) {
            let processor = ResizingImageProcessor(referenceSize: CGSize(width: 100, height: 50), mode: mode)
            let options = KingfisherParsedOptionsInfo([.scaleFactor(scale)])
            let image = try #require(processor.process(item: .data(try SampleImage.png()), options: options))
            return (image.pixelWidth, image.pixelHeight)
        }
        #expect(try size(.none) == (100, 50))
        #expect(try size(.aspectFit) == (50, 50))
        #expect(try size(.aspectFill) == (100, 100))
        #expect(try size(.none, scale: 2) == (200, 100))
    }

    @Test("Rounding makes the corners transparent and leaves the middle unchanged")
    func rounding() throws {
        let original = SampleImage.gradient(40, 40)
        let processor = RoundCornerImageProcessor(cornerRadius: 10)
        let image = try #require(processor.process(item: .image(original), options: options))
        #expect(image.hasAlpha)
        let bitmap = try #require(image.cgImage), source = try #require(original.cgImage)
        bitmap.withUnsafeBytes { rounded in
            source.withUnsafeBytes { plain in
                #expect(rounded[3] == 0)
                let middle = 20 * bitmap.bytesPerRow + 20 * 4
                #expect(rounded[middle..<middle + 4].elementsEqual(plain[middle..<middle + 4]))
            }
        }
    }

    @Test("The namespace gives the pixels of the processors") func namespace() throws {
        let image = SampleImage.gradient(64, 64)
        #expect(image.kf.resize(to: CGSize(width: 10, height: 20)).size == CGSize(width: 10, height: 20))
        #expect(
            image.kf.resize(to: CGSize(width: 10, height: 20), for: .aspectFit).size == CGSize(width: 10, height: 10)
        )
        #expect(image.kf.normalized == image)
        #expect(image.kf.base === image)
        #expect(try SampleImage.png().kf.imageFormat == .PNG)
        #expect(try SampleImage.jpeg().kf.imageFormat == .JPEG)
        #expect(Data([1, 2, 3]).kf.imageFormat == .unknown)
        #expect(CGSize(width: 300, height: 200).kf.constrained(CGSize(width: 100, height: 100)).height == 67)
        let rounded = image.kf.image(withRoundRadius: 8, fit: CGSize(width: 32, height: 32))
        #expect(rounded.pixelWidth == 32 && rounded.hasAlpha)
    }
}
