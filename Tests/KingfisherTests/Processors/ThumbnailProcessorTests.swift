// The processor for thumbnails: identifiers, scales, animations.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite struct ThumbnailProcessorTests {
    private let prefix = "com.onevcat.Kingfisher.ThumbnailImageProcessor"

    @Test("The identifier contains the parameters that differ from the defaults")
    func identifiers() {
        let size = CGSize(width: 30, height: 20.5)
        let anchor = ThumbnailAnchor.point(CGPoint(x: 0, y: 1))
        let cases: [(ThumbnailImageProcessor, String)] = [
            (ThumbnailImageProcessor(size: size), "((30.0, 20.5))"),
            (ThumbnailImageProcessor(size: size, mode: .exact), "((30.0, 20.5), exact)"),
            (ThumbnailImageProcessor(size: size, mode: .fill), "((30.0, 20.5), fill)"),
            (ThumbnailImageProcessor(size: size, mode: .fill, anchor: .smart), "((30.0, 20.5), fill, smart)"),
            (ThumbnailImageProcessor(size: size, mode: .fill, anchor: anchor), "((30.0, 20.5), fill, (0.0, 1.0))"),
            (ThumbnailImageProcessor(size: size, anchor: .smart), "((30.0, 20.5))"),
            (ThumbnailImageProcessor(size: size, enlarges: true), "((30.0, 20.5), enlarging)"),
        ]
        for (processor, text) in cases { #expect(processor.identifier == prefix + text) }
    }

    @Test("Thumbnails of data and of images have the same size, in points of the options' scale")
    func sizes() throws {
        let cases: [(CGSize, ThumbnailMode, Int, Int)] = [
            (CGSize(width: 10, height: 5), .fit, 10, 10), (CGSize(width: 10, height: 5), .fill, 20, 10),
            (CGSize(width: 10, height: 5), .exact, 20, 10), (CGSize(width: 7, height: 0), .fit, 14, 14),
            (CGSize(width: CGFloat.infinity, height: 6), .fill, 12, 12), (CGSize(width: -1, height: -1), .fit, 64, 64),
        ]
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
        for (size, mode, width, height) in cases {
            let processor = ThumbnailImageProcessor(size: size, mode: mode)
            for item in [
                ImageProcessItem.data(try SampleImage.png()), .data(try SampleImage.jpeg()),
                .image(SampleImage.gradient()),
            ] {
                let image = try #require(processor.process(item: item, options: options))
                #expect((image.pixelWidth, image.pixelHeight) == (width, height), "\(processor.identifier)")
                #expect(image.scale == 2 && !image.isAnimated)
            }
        }
        let huge = ThumbnailImageProcessor(size: CGSize(width: 1e6, height: 1e6), enlarges: true)
        #expect(huge.process(item: .data(try SampleImage.png()), options: options) == nil)
        #expect(huge.process(item: .data(Data("nothing".utf8)), options: options) == nil)
    }

    @Test("Every frame of an animation is cropped to the part that was chosen for the first one")
    func oneCropForAllFrames() throws {
        // A bright square moves; the window must not.
        let frames = (0..<3).map { index in
            Image(
                cgImage: Bitmap(width: 48, height: 16, hasAlpha: false) { memory, bytesPerRow in
                    for y in 0..<16 {
                        for x in 0..<48 {
                            let isSquare = (4..<12).contains(y) && (index * 16 + 4..<index * 16 + 12).contains(x)
                            let checked = isSquare && (x + y).isMultiple(of: 2)
                            let word: UInt32 = checked ? 0xFFFF_6020 : 0xFF00_0000 | UInt32(x) * 0x01_0101
                            memory.storeBytes(of: word, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                        }
                    }
                }
            )
        }
        let film = try #require(Image.animatedImage(with: frames, duration: 1))
        let smart = ThumbnailImageProcessor(size: CGSize(width: 16, height: 16), mode: .fill, anchor: .smart)
        let moving = AnimatedProcessingPolicy.transformFrames.applied(to: smart)
        let options = KingfisherParsedOptionsInfo(nil)
        let result = try #require(moving.process(item: .image(film), options: options))
        let source = try #require(result.kf.frameSource)
        // The background gets brighter by one per column: the upper left pixel gives the position of the window.
        let corners = try (0..<3).map { index in
            try #require(source.frame(at: index)).withUnsafeBytes { $0[0] }
        }
        #expect(source.frame(at: 1)?.width == 16 && Set(corners).count == 1 && corners[0] < 16)
    }

    @Test("The builder decodes small images, and appends after other processors")
    func builder() {
        let size = CGSize(width: 30, height: 20)
        let first = KF.source(nil).thumbnail(size: size, mode: .fill, anchor: .smart).options.processor.identifier
        #expect(first == "\(prefix)((30.0, 20.0), fill, smart)")
        let second = KF.source(nil).blackWhite().thumbnail(size: size).options.processor.identifier
        #expect(second.hasSuffix("|>\(prefix)((30.0, 20.0))"))
    }

    @Test("An image that is marked as damaged stays so through chained processors")
    func damageFlag() throws {
        let data = try SampleImage.jpeg()
        let options = KingfisherParsedOptionsInfo(nil)
        let size = CGSize(width: 20, height: 20)
        let processors: [any ImageProcessor] = [
            DefaultImageProcessor.default, ThumbnailImageProcessor(size: size), DownsamplingImageProcessor(size: size),
            ResizingImageProcessor(referenceSize: size) |> RoundCornerImageProcessor(cornerRadius: 4)
                |> BlurImageProcessor(blurRadius: 2),
        ]
        for processor in processors {
            let whole = try #require(processor.process(item: .data(data), options: options))
            #expect(!whole.isDamaged, "\(processor.identifier)")
            let half = try #require(processor.process(item: .data(data.prefix(data.count * 2 / 3)), options: options))
            #expect(half.isDamaged, "\(processor.identifier)")
        }
    }
}
