// Processors on images in strips: which chains of them, and that the files are the same as from bitmaps.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// A JPEG of 17 megapixels, of which no bitmap of 64 MiB is made where strips do.
private let large: Data? = {
    let small = Bitmap(width: 70, height: 64, hasAlpha: false) { memory, bytesPerRow in
        for y in 0..<64 {
            for x in 0..<70 {
                let pixel = 0xFF00_0000 | UInt32(x * y % 256) << 16 | UInt32(x * 3) << 8 | UInt32(y * 4)
                memory.storeBytes(of: pixel, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
            }
        }
    }
    let size = CGSize(width: 4_200, height: 4_096)
    return Image(cgImage: small).kf.resize(to: size).jpegData(compressionQuality: 0.5)
}()

/// Changes nothing, and counts the bitmaps that it is given or makes.
private struct WholeImageCounter: StripImageProcessor {
    let bitmaps = Counter()
    let identifier = "test.counting"

    func addSteps(to image: inout StripImage) -> Bool { true }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        bitmaps.add()
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}

@Suite struct StripProcessorTests {
    private let options = KingfisherParsedOptionsInfo(nil)
    private let crop = RectCroppingImageProcessor(rect: CGRect(x: 9, y: 7, width: 4_100, height: 4_080))
    private let sharpening = SharpeningImageProcessor(sigma: 0.47, amount: 2)

    private func resizing(_ width: Int, _ height: Int) -> ResizingImageProcessor {
        ResizingImageProcessor(referenceSize: CGSize(width: width, height: height), space: .linear)
    }

    @Test(
        "A large image that is encoded has the bytes of one made of bitmaps",
        arguments: [ImageContentType.jpeg, .png, .webp]
    )
    func encoded(type: ImageContentType) throws {
        let data = try #require(large)
        let processor = crop |> resizing(820, 1_020) |> sharpening
        #expect(processor.strips(of: data, options) != nil)
        let encoding = ImageEncoding(type)
        let result = EncodedProcessor(processor, encoding).process(item: .data(data), options: options)
        let image = try #require(processor.process(item: .data(data), options: options))
        let expected = try encoding.content(of: image, source: data)
        #expect(result?.metadata.encoded?.data == expected.data)
        #expect(result?.metadata.encoded?.contentType == type)
    }

    @Test("A manager makes the file of a large image in strips, whatever steps there are") func manager() async throws {
        let (data, counting) = (try #require(large), WholeImageCounter())
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "strips", cacheDirectoryURL: directory)
            let manager = KingfisherManager(downloader: ImageDownloader(name: "strips"), cache: cache)
            let result = try await manager.retrieveEncoded(
                with: .provider(RawImageDataProvider(data: data, cacheKey: "large")),
                options: [.processor(counting |> crop |> resizing(410, 510) |> sharpening), .cacheMemoryOnly],
                as: ImageEncoding(.webp)
            )
            #expect(result.contentType == .webp && counting.bitmaps.value == 0)
        }
    }

    @Test("Cropping, scaling down and sharpening are done in strips, in any order, with the size of the result")
    func chains() throws {
        let data = try #require(large)
        let fit = ResizingImageProcessor(referenceSize: CGSize(width: 3_000, height: 3_000), mode: .aspectFit)
        let cases: [(any ImageProcessor, Int, Int)] = [
            (DefaultImageProcessor.default, 4_200, 4_096), (crop, 4_100, 4_080), (fit, 3_000, 2_926),
            (CroppingImageProcessor(size: CGSize(width: 50, height: 9_999)), 50, 4_096),
            (sharpening |> crop |> fit, 3_000, 2_985), (CompositionImageProcessor([crop, sharpening]), 4_100, 4_080),
            (crop |> DownsamplingImageProcessor(size: CGSize(width: 100, height: 9)), 100, 100),
            (crop |> ThumbnailImageProcessor(size: CGSize(width: 41, height: 20), mode: .fill), 41, 20),
        ]
        for (processor, width, height) in cases {
            let strips = try #require(processor.strips(of: data, options), "\(processor.identifier)")
            #expect((strips.size.width, strips.size.height) == (width, height), "\(processor.identifier)")
        }
    }

    @Test("Other processors, other scales, small images and what the decoder makes small take bitmaps")
    func bitmaps() throws {
        let data = try #require(large)
        let others: [any ImageProcessor] = [
            BlurImageProcessor(blurRadius: 3), crop |> BlackWhiteProcessor(), resizing(4_201, 10),
            SharpeningImageProcessor(sigma: 9), ThumbnailImageProcessor(size: CGSize(width: 300, height: 0)),
            DownsamplingImageProcessor(size: CGSize(width: 300, height: 300)) |> sharpening,
            ThumbnailImageProcessor(size: CGSize(width: 41, height: 20), mode: .fill, anchor: .smart),
        ]
        for other in others { #expect(other.strips(of: data, options) == nil, "\(other.identifier)") }
        #expect(crop.strips(of: data, KingfisherParsedOptionsInfo([.scaleFactor(2)])) == nil)
        #expect(crop.strips(of: try SampleImage.jpeg(), options) == nil)
    }

    @Test("The limits of a load hold in strips, and locked decoders give bitmaps") func limits() throws {
        let data = try #require(large)
        var few = ImageDecodingLimits.default, isolated = few
        few.maxPixelCount = 17_000_000
        isolated.isolation = .required
        for limits in [few, isolated] {
            var options = options
            options.decodingLimits = limits
            #expect(crop.strips(of: data, options) == nil)
        }
    }
}
