// Cache serializers: the bytes written for an image, and the image read from them.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct CacheSerializerTests {
    private let standard = DefaultCacheSerializer.default
    private let options = KingfisherParsedOptionsInfo()
    private let picture = SampleImage.gradient()

    /// A GIF of one red pixel and one green one.
    private static let gif: Data = {
        var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 255, 0]
        for code: UInt8 in [0x44, 0x4C] {
            bytes += [0x21, 0xF9, 4, 0, 20, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, code, 1, 0]
        }
        return Data(bytes + [0x3B])
    }()
    private func animation() throws -> Image {
        try #require(KingfisherWrapper<Image>.image(data: Self.gif, options: ImageCreatingOptions()))
    }

    private func format(_ data: Data?) -> ImageFormat? { data?.kf.imageFormat }

    @Test("The stored format is that of the original, else GIF if the image holds a GIF, else PNG")
    func formats() throws {
        #expect(format(standard.data(with: picture, original: try SampleImage.png())) == .PNG)
        #expect(format(standard.data(with: picture, original: try SampleImage.jpeg())) == .JPEG)
        #expect(format(standard.data(with: picture, original: Data("what is this".utf8))) == .PNG)
        #expect(format(standard.data(with: picture, original: nil)) == .PNG)
        #expect(standard.data(with: try animation(), original: nil) == Self.gif)
    }

    @Test("A preferred original is stored if there is one, else the GIF that the image holds, else the encoded image")
    func originalsPreferred() throws {
        var serializer = DefaultCacheSerializer()
        #expect(!serializer.originalDataUsed)
        serializer.preferCacheOriginalData = true
        #expect(serializer.originalDataUsed)
        let original = Data("what the server sent".utf8)
        #expect(serializer.data(with: picture, original: original) == original)
        #expect(serializer.data(with: try animation(), original: nil) == Self.gif)
        #expect(serializer.data(with: picture, original: nil) == picture.pngData())
    }

    @Test("PNG is stored as PNG, JPEG at the set quality, GIF as its own bytes, any other image as upright PNG")
    func encodings() throws {
        let (png, jpeg) = (try SampleImage.png(8, 8), try SampleImage.jpeg(8, 8))
        #expect(standard.data(with: picture, original: png) == picture.pngData())
        #expect(standard.data(with: picture, original: jpeg) == picture.jpegData(compressionQuality: 1))
        var small = DefaultCacheSerializer()
        small.compressionQuality = 0.3
        #expect(small.data(with: picture, original: jpeg) == picture.jpegData(compressionQuality: 0.3))
        #expect(standard.data(with: try animation(), original: Self.gif) == Self.gif)

        let turned = Image(
            cgImage: try #require(SampleImage.gradient(64, 32).kf.cgImage),
            scale: 1,
            orientation: .right
        )
        let read = try #require(standard.data(with: turned, original: nil).flatMap { Image(data: $0) })
        #expect(read.pixelWidth == 32 && read.pixelHeight == 64 && read.imageOrientation == .up)
    }

    @Test("What a processor has made transparent is transparent from the disk too; what is opaque stays JPEG")
    func transparency() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.jpg", .data(try SampleImage.jpeg()))
            let corners = RoundCornerImageProcessor(cornerRadius: 20)
            let cases: [(processor: any ImageProcessor, format: ImageFormat)] = [
                (corners, .PNG),
                (ResizingImageProcessor(referenceSize: CGSize(width: 32, height: 32)) |> corners, .PNG),
                (RoundCornerImageProcessor(cornerRadius: 20, backgroundColor: .white), .JPEG),
                (BlurImageProcessor(blurRadius: 3), .JPEG),
                (ResizingImageProcessor(referenceSize: CGSize(width: 32, height: 32)), .JPEG),
                (BlackWhiteProcessor(), .JPEG), (OverlayImageProcessor(overlay: .red, fraction: 0.5), .JPEG),
            ]
            for (processor, format) in cases {
                let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
                let made = try await rig.manager.retrieveImage(with: url, options: options).image
                rig.cache.clearMemoryCache()
                let read = try await rig.manager.retrieveImage(with: url, options: options)
                #expect(read.cacheType == .disk && read.image.hasAlpha == made.hasAlpha)
                #expect(read.image.hasAlpha == (format == .PNG))
                let path = rig.cache.cachePath(forKey: url.cacheKey, processorIdentifier: processor.identifier)
                #expect(self.format(try Data(contentsOf: URL(fileURLWithPath: path))) == format, "\(processor)")
                if format == .PNG { #expect(read.image.pngData() == made.pngData()) }
            }
        }
    }

    /// Kingfisher stores nothing here, so such an image is loaded and processed again after each eviction from memory.
    @Test("A still made of a GIF has no GIF bytes and is stored as PNG")
    func stillsOfGIFs() async throws {
        #expect(picture.kf.data(format: .GIF) == nil)
        #expect(standard.data(with: picture, original: Self.gif) == picture.pngData())
        try await withTemporaryDirectory { [picture] directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            try await cache.store(picture, original: Self.gif, forKey: "a", processorIdentifier: "p")
            cache.clearMemoryCache()
            #expect(cache.imageCachedType(forKey: "a", processorIdentifier: "p") == .disk)
        }
    }

    @Test("Encoding one image repeatedly gives the same bytes")
    func deterministicEncoding() async throws {
        var serializer = DefaultCacheSerializer()
        serializer.compressionQuality = 0.8
        let jpeg = try SampleImage.jpeg()
        let image = try #require(Image(data: jpeg))
        for _ in 0..<3 {
            #expect(serializer.data(with: image, original: jpeg) == image.jpegData(compressionQuality: 0.8))
        }
        try await withTemporaryDirectory { [picture, serializer] directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            try await cache.store(image, original: jpeg, forKey: "j", cacheSerializer: serializer)
            let stored = try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: "j")))
            #expect(image.jpegData(compressionQuality: 0.8) == stored)
            await cache.clearCache()
            for key in ["a", "b", "c", "d"] { try await cache.store(picture, forKey: key) }
            #expect(try await cache.diskStorageSize == UInt(4 * (try SampleImage.png()).count))
        }
    }

    @Test("A GIF stays animated on its way to disk and back, without its original bytes")
    func encodedAnimations() async throws {
        try await withCache { cache in
            let image = try animation()
            let copy = Image(cgImage: try #require(image.kf.cgImage))
            #expect(standard.data(with: copy, original: nil) != Self.gif)
            image.kf.copyKingfisherState(to: copy)
            for (key, each) in [("itself", image), ("copy", copy)] {
                try await cache.store(each, forKey: key)
                let stored = try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: key)))
                #expect(Self.gif == stored)
                cache.clearMemoryCache()
                let found = try await cache.retrieveImage(forKey: key).image
                #expect(found?.kf.imageFrameCount == 2 && found?.kf.animatedImageData == Self.gif)
            }
        }
    }

    @Test("An image is stored in the requested format, else in the original's, else as the original bytes, else as PNG")
    func indicatedFormats() throws {
        let jpeg = try SampleImage.jpeg()
        #expect(format(FormatIndicatedCacheSerializer.png.data(with: picture, original: jpeg)) == .PNG)
        #expect(format(FormatIndicatedCacheSerializer.jpeg.data(with: picture, original: nil)) == .JPEG)
        let small = FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.2).data(with: picture, original: nil)
        #expect(small == picture.jpegData(compressionQuality: 0.2))
        let gif = FormatIndicatedCacheSerializer.gif
        #expect(gif.data(with: try animation(), original: nil) == Self.gif)
        // A still has no GIF bytes.
        #expect(gif.data(with: picture, original: jpeg) == picture.jpegData(compressionQuality: 1))
        let strange = Data("what is this".utf8)
        #expect(gif.data(with: picture, original: strange) == strange)
        #expect(gif.data(with: picture, original: nil) == picture.pngData())
        #expect(!gif.originalDataUsed)
    }

    @Test("Serializers of one format are equal when they store the same bytes")
    func equality() {
        let all: [FormatIndicatedCacheSerializer] = [
            .png, .jpeg, .gif, .webP, .avif, .jpeg(compressionQuality: 0.5), .webP(compressionQuality: 0.5),
            .avif(compressionQuality: 0.5), .webP(compressionQuality: 1),
        ]
        #expect(Set(all).count == all.count)
        #expect(FormatIndicatedCacheSerializer.jpeg == .jpeg(compressionQuality: 1))
        #expect(FormatIndicatedCacheSerializer.webP(compressionQuality: 0.5) == .webP(compressionQuality: 0.5))
        // They are also different as type-erased keys.
        #expect(AnyHashable(FormatIndicatedCacheSerializer.png) != AnyHashable(DefaultCacheSerializer.default))
    }

    @Test("A serializer of closures stores and reads with them, and equals its copies") func closures() async throws {
        let serializer = AnyCacheSerializer(
            data: { image, original in original.map { Data($0.reversed()) } ?? image.pngData() },
            image: { data, options in Image(data: Data(data.reversed()), scale: options.scaleFactor) }
        )
        let png = try SampleImage.png(8, 8)
        #expect(serializer.data(with: picture, original: nil) == picture.pngData() && !serializer.originalDataUsed)
        try await withTemporaryDirectory { [picture] directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            try await cache.store(picture, original: png, forKey: "a", cacheSerializer: serializer)
            cache.clearMemoryCache()
            #expect(try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: "a"))) == Data(png.reversed()))
            let options: KingfisherOptionsInfo = [.cacheSerializer(serializer), .scaleFactor(2)]
            let read = try #require(try await cache.retrieveImage(forKey: "a", options: options).image)
            #expect(read.pixelWidth == 8 && read.scale == 2)
        }
        let other = AnyCacheSerializer(originalDataUsed: true, data: { _, _ in nil }, image: { _, _ in nil })
        #expect(other.originalDataUsed && AnyHashable(other) != AnyHashable(serializer))
        let copy = serializer
        #expect(copy == serializer && copy.hashValue == serializer.hashValue)
    }

    @Test("Images are read with the scale, the preloading and the frames given in the options")
    func loading() throws {
        for serializer in [standard, FormatIndicatedCacheSerializer.gif] as [any CacheSerializer] {
            var options = options
            options.scaleFactor = 3
            #expect(serializer.image(with: try SampleImage.png(), options: options)?.scale == 3)
            let lazy = serializer.image(with: Self.gif, options: options)
            #expect(lazy?.scale == 3 && lazy?.kf.frameSource?.frameCount == 2)
            options.preloadAllAnimationData = true
            let whole = serializer.image(with: Self.gif, options: options)
            #expect(whole?.kf.images?.count == 2 && whole?.kf.frameSource == nil)
            options.onlyLoadFirstFrame = true
            let first = serializer.image(with: Self.gif, options: options)
            #expect(first != nil && first?.kf.images == nil && first?.kf.frameSource == nil)
            #expect(serializer.image(with: Data("no image".utf8), options: options) == nil)
        }
    }

    /// Like the WebP example of Kingfisher's articles, which ignores the original data.
    private struct PlainSerializer: CacheSerializer {
        let written = Counter()
        let read = Counter()
        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
            written.add()
            return image.kf.pngRepresentation()
        }
        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            read.add()
            return DefaultCacheSerializer.default.image(with: data, options: options)
        }
    }

    @Test("Processors get the loaded data, serializers the data that is written to disk and read from it")
    func processorAndSerializer() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let provider = RawImageDataProvider(data: try SampleImage.png(), cacheKey: "raw")
            for source in [Source.network(rig.server.url("/a.png")), .provider(provider)] {
                let (processor, serializer) = (CountingProcessor(), PlainSerializer())
                let options: KingfisherOptionsInfo = [
                    .processor(processor), .cacheSerializer(serializer), .waitForCache,
                ]
                let counts = { [processor.runs.value, serializer.written.value, serializer.read.value] }
                _ = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(counts() == [1, 1, 0])
                _ = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(counts() == [1, 1, 0], "A memory hit needs neither.")
                rig.cache.clearMemoryCache()
                #expect(try await rig.manager.retrieveImage(with: source, options: options).cacheType == .disk)
                #expect(counts() == [1, 1, 1])
            }
        }
    }
}
