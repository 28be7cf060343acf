// Animated images: their creation, the data they keep, and their cost.

import Foundation
import Testing

@testable import KFImaging

#if canImport(CKFCairo)
import CKFCairo
#endif

/// Frames of one colour each; some cannot be decoded.
private struct SyntheticFrames: ImageFrameSource {
    var count = 4
    var missing: Set<Int> = []
    var data: Data?
    var loopCount: UInt { 3 }
    var frameCount: Int { count }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard (0..<count).contains(index), !missing.contains(index) else { return nil }
        return .solid(0xFF00_0000 | UInt32(index), 6, 4)
    }

    func duration(at index: Int) -> TimeInterval { (0..<count).contains(index) ? 0.1 * Double(index + 1) : 0 }
}

@Suite struct AnimatedImageTests {
    /// Animations of several formats.
    static let animations = [("animated.gif", 3), ("animated.png", 3), ("animated.webp", 3), ("dancer.gif", 8)]

    @Test("Frames are decoded on demand by default", arguments: animations)
    func lazyByDefault(name: String, count: Int) throws {
        let data = try fixture(name)
        let image = try #require(Image.decoded(from: data, options: ImageCreatingOptions(scale: 2)))
        let source = try #require(image.frameSource)
        #expect(source.frameCount == count && image.frameCount == count && image.images == nil && image.duration == 0)
        #expect(image.animatedData == data && source.data == data && image.isAnimated && image.isUnprocessed)
        #expect(image.creatingOptions == ImageCreatingOptions(scale: 2) && image.scale == 2)
        #expect(image.cgImage?.words == source.frame(at: 0)?.words)
        #expect(image.cost == image.pixelWidth * image.pixelHeight * 4)
        #expect(source.frame(at: count - 1) != nil && source.frame(at: count) == nil)
        #expect(try image.contentType == ImageInfo(data: data).contentType)
    }

    @Test("All frames are decoded at once with preloadAll", arguments: animations)
    func preloadsAllFrames(name: String, count: Int) throws {
        let data = try fixture(name)
        let options = ImageCreatingOptions(scale: 2, preloadAll: true)
        let image = try #require(Image.decoded(from: data, options: options))
        let frames = try #require(image.images)
        let info = try ImageInfo(data: data)
        #expect(frames.count == count && image.frameCount == count && image.frameSource == nil)
        #expect(abs(image.duration - (info.duration ?? 0)) < 1e-9)
        #expect(abs((image.frameDurations ?? []).reduce(0, +) - image.duration) < 1e-9)
        #expect(frames.allSatisfy { $0.scale == 2 && $0.size == image.size })
        #expect(image.cost == image.pixelWidth * image.pixelHeight * 4 * count)
        #expect(image.animatedData == data && image.creatingOptions == options)
        #expect(image.frames?.loopCount == UInt(info.loopCount ?? 0))
        let lazy = try #require(try Codecs.frameSource(of: data))
        for index in 0..<count {
            #expect(frames[index].cgImage?.words == lazy.frame(at: index)?.words)
            #expect(image.frames?.frame(at: index) === frames[index].cgImage)
        }
    }

    @Test("Only the first frame is decoded with onlyFirstFrame", arguments: animations)
    func onlyFirstFrame(name: String, count: Int) throws {
        let data = try fixture(name)
        let options = ImageCreatingOptions(preloadAll: true, onlyFirstFrame: true)
        let image = try #require(Image.decoded(from: data, options: options))
        #expect(image.images == nil && image.frameSource == nil && !image.isAnimated)
        #expect(image.frameCount == count && image.animatedData == data && image.creatingOptions == options)
        #expect(try image.cgImage?.words == Codecs.frameSource(of: data)?.frame(at: 0)?.words)
    }

    @Test("A positive duration in the options replaces the duration of the file") func givenDuration() throws {
        let data = try fixture("animated.gif")
        let options = ImageCreatingOptions(duration: 7, preloadAll: true)
        #expect(Image.decoded(from: data, options: options)?.duration == 7)
        let natural = ImageCreatingOptions(duration: -1, preloadAll: true)
        #expect(Image.decoded(from: data, options: natural).map { abs($0.duration - 0.25) < 1e-9 } == true)
    }

    @Test("An animation of one frame has an infinite duration") func singleFrame() throws {
        let image = try #require(
            Image.decoded(from: fixture("plain.gif"), options: ImageCreatingOptions(preloadAll: true))
        )
        #expect(image.frameCount == 1 && image.images?.count == 1 && image.duration == .infinity)
    }

    @Test("Stills are not animated") func stills() throws {
        for name in ["photo.jpg", "photo.png", "photo.webp", "photo.avif"] {
            let image = try #require(
                Image.decoded(from: fixture(name), options: ImageCreatingOptions(scale: 3, preloadAll: true))
            )
            #expect(image.scale == 3 && image.frameCount == nil && !image.isAnimated && image.animatedData == nil)
            #expect(image.creatingOptions == nil)
        }
        #expect(Image.decoded(from: Data("hello".utf8), options: ImageCreatingOptions()) == nil)
    }

    @Test("Frames that cannot be decoded are left out, and without the first one there is no image")
    func missingFramesOmitted() throws {
        let options = ImageCreatingOptions(preloadAll: true)
        let image = try #require(Image.animated(SyntheticFrames(missing: [1, 3]), options: options))
        #expect(image.images?.map { $0.cgImage?.words.first } == [0xFF00_0000, 0xFF00_0002])
        #expect(image.frameDurations == [0.1, 0.1 * 3] && image.frameCount == 4)
        for options in [ImageCreatingOptions(), options, ImageCreatingOptions(onlyFirstFrame: true)] {
            #expect(Image.animated(SyntheticFrames(missing: [0]), options: options) == nil)
            #expect(Image.animated(SyntheticFrames(count: 0), options: options) == nil)
        }
    }

    @Test("A base image is shown in place of the first frame") func baseImage() throws {
        let poster = Image(cgImage: Bitmap.solid(0xFFFF_0000, 2, 2))
        let options = ImageCreatingOptions(scale: 2)
        let lazy = try #require(Image.animated(SyntheticFrames(missing: [0]), options: options, baseImage: poster))
        #expect(lazy.cgImage === poster.cgImage && lazy.scale == 2 && lazy.frameSource?.loopCount == 3)
        let first = ImageCreatingOptions(onlyFirstFrame: true)
        #expect(Image.animated(SyntheticFrames(), options: first, baseImage: poster)?.pixelWidth == 6)
    }

    @Test("Above maxAnimationPixelCount frames stay on demand") func preloadLimit() throws {
        let options = ImageCreatingOptions(preloadAll: true)
        var limits = ImageDecodingLimits()
        limits.maxAnimationPixelCount = 4 * 24
        #expect(Image.animated(SyntheticFrames(), options: options, limits: limits)?.images?.count == 4)
        limits.maxAnimationPixelCount = 4 * 24 - 1
        let lazy = try #require(Image.animated(SyntheticFrames(), options: options, limits: limits))
        #expect(lazy.images == nil && lazy.frameSource != nil && lazy.creatingOptions == options)
    }

    @Test("An animation with too many frames or pixels gives no image") func limitsExceeded() throws {
        let data = try fixture("dancer.gif")
        var limits = ImageDecodingLimits()
        limits.maxFrameCount = 7
        #expect(Image.decoded(from: data, options: ImageCreatingOptions(), limits: limits) == nil)
        limits = ImageDecodingLimits(maxPixelCount: 365 * 360 - 1)
        #expect(Image.decoded(from: data, options: ImageCreatingOptions(), limits: limits) == nil)
    }

    @Test(
        "A still of an animation is not subject to the limit of frames, and the error of an animation names the limit",
        arguments: ["dancer.gif", "animated.png", "animated.webp", "sequence.avif"]
    )
    func limitOfFramesForStills(name: String) throws {
        let data = try fixture(name)
        let count = try ImageInfo(data: data).frameCount
        var limits = ImageDecodingLimits()
        limits.maxFrameCount = 1
        #expect(throws: ImagingError.tooManyFrames(count, allowed: 1)) {
            try Image.decode(data, options: ImageCreatingOptions(), limits: limits)
        }
        let still = try Image.decode(data, options: ImageCreatingOptions(onlyFirstFrame: true), limits: limits)
        #expect(still.frameCount == count && still.frames == nil)
        #expect(try still.cgImage?.words == Codecs.frameSource(of: data)?.frame(at: 0)?.words)
        let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 4, limits: limits))
        #expect(max(small.pixelWidth, small.pixelHeight) == 4)
    }

    @Test(
        "An animation whose images are too large is refused with the name of the limit, and a still of it is not",
        arguments: ["dancer.gif", "animated.png", "animated.webp", "sequence.avif"]
    )
    func limitOfFrameSize(name: String) throws {
        let data = try fixture(name)
        let info = try ImageInfo(data: data)
        let (width, height) = (info.pixelWidth, info.pixelHeight)
        var limits = ImageDecodingLimits()
        limits.maxFramePixelCount = width * height
        #expect(try Codecs.frameSource(of: data, limits: limits)?.frameCount == info.frameCount)
        limits.maxFramePixelCount -= 1
        let error = ImagingError.limitExceeded(
            limit: "maxFramePixelCount",
            allowed: width * height - 1,
            width: width,
            height: height
        )
        #expect(throws: error) { try Codecs.frameSource(of: data, limits: limits) }
        #expect(throws: error) { try Image.decode(data, options: ImageCreatingOptions(), limits: limits) }
        let still = try Image.decode(data, options: ImageCreatingOptions(onlyFirstFrame: true), limits: limits)
        #expect(still.pixelWidth == width && still.frames == nil)
        #expect(try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 4, limits: limits)).pixelWidth <= 4)
    }

    @Test("A few bytes cannot announce an animation that takes gigabytes")
    func largeCanvasOfFewBytes() throws {
        // Two frames of a pixel each on a canvas of 12,000 × 12,000.
        let pixel: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        let header: [UInt8] = Array("GIF89a".utf8) + [0xE0, 0x2E, 0xE0, 0x2E, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        let error = ImagingError.limitExceeded(
            limit: "maxFramePixelCount",
            allowed: 1 << 25,
            width: 12_000,
            height: 12_000
        )
        #expect(Codecs.diagnose(Data(header + pixel + pixel + [0x3B])) == error)
    }

    @Test("An animated PNG that announces no frames is decoded as a still") func stillOfDamagedAnimation() throws {
        // The acTL chunk announces no frames.
        var data = try fixture("animated.png")
        let control = try #require(data.range(of: Data("acTL".utf8))).upperBound
        for offset in 0..<4 { data[control + offset] = 0 }
        let image = Image.decoded(from: data, options: ImageCreatingOptions())
        #expect(image?.pixelWidth == 24 && image?.isAnimated == false)
    }

    @Test("An animation made of images has the size, scale and bitmap of the first image")
    func animatedImageWithImages() throws {
        let first = Image(cgImage: Bitmap.solid(0xFF00_0000, 4, 2), scale: 2)
        let second = Image(cgImage: Bitmap.solid(0xFFFF_FFFF, 4, 2), scale: 2)
        let image = try #require(Image.animatedImage(with: [first, second, first], duration: 3))
        #expect(image.size == CGSize(width: 2, height: 1) && image.scale == 2 && image.cgImage === first.cgImage)
        #expect(image.images == [first, second, first] && image.duration == 3 && image.frameDurations == [1, 1, 1])
        // The first image occurs twice, and its cost counts once.
        #expect(image.cost == 2 * 4 * 2 * 4)
        #expect(Image.animatedImage(with: [], duration: 1) == nil)
        #expect(image != first && image == Image.animatedImage(with: [first, second, first], duration: 3))
    }

    @Test("Changing the scale keeps the frames") func rescaledFrames() throws {
        let data = try fixture("dancer.gif")
        let lazy = try #require(Image.decoded(from: data, options: ImageCreatingOptions())).withScale(2)
        #expect(lazy.frameSource?.frameCount == 8 && lazy.scale == 2 && lazy.creatingOptions?.scale == 2)
        let preload = ImageCreatingOptions(preloadAll: true)
        let whole = try #require(Image.decoded(from: data, options: preload)).withScale(2)
        #expect(whole.images?.count == 8 && whole.images?.allSatisfy { $0.scale == 2 } == true)
        #expect(abs(whole.duration - 0.8) < 1e-9 && whole.animatedData == data)
    }

    @Test("Normalizing or decoding an animation changes nothing") func normalizedAnimation() throws {
        let data = try fixture("dancer.gif")
        for options in [ImageCreatingOptions(), ImageCreatingOptions(preloadAll: true)] {
            let image = try #require(Image.decoded(from: data, options: options))
            #expect(image.normalized == image && image.decoded(scale: 2) === image)
        }
    }

    @Test("A preloaded animation of rotated images is its own normalized form, and its frames are upright")
    func normalizedRotatedFrames() throws {
        let turned = Image(cgImage: Bitmap.of([[0xFF00_0000, 0xFFFF_FFFF]]), orientation: .right)
        let image = try #require(Image.animatedImage(with: [turned, turned], duration: 1))
        #expect(image.normalized === image && image.imageOrientation == .right)
        // The frames to be played are upright.
        #expect(image.frames?.frame(at: 1)?.words == turned.normalized.cgImage?.words)
        #expect(image.frames?.frame(at: 1)?.height == 2)
    }

    @Test("Decoding with a scale changes the scale and no pixel") func decodedChangesScale() {
        let image = Image(cgImage: Bitmap.solid(0xFF00_0000, 64, 64), scale: 1, orientation: .left)
        let decoded = image.decoded(scale: 2)
        #expect(decoded.size == CGSize(width: 32, height: 32) && decoded.cgImage === image.cgImage)
        #expect(decoded.imageOrientation == .left && image.decoded(scale: 1) === image)
        let empty = Image()
        #expect(empty.decoded(scale: 2) === empty)
    }

    @Test("The data, the frame count and the options of an animation are copied to another image") func copyAnimation()
        throws
    {
        let data = try fixture("dancer.gif")
        let image = try #require(Image.decoded(from: data, options: ImageCreatingOptions(preloadAll: true)))
        let other = Image(cgImage: Bitmap.solid(0, 2, 2))
        image.copyAnimation(to: other)
        #expect(other.animatedData == data && other.frameCount == 8 && other.creatingOptions == image.creatingOptions)
        #expect(other.images == nil && other.duration == 0)
    }

    #if canImport(CKFCairo)
    @Test("A still is drawn on a Cairo context and read back; other images are returned unchanged")
    func drawnOnContext() throws {
        let surface = try #require(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 3, 2))
        let context = try #require(cairo_create(surface))
        defer {
            cairo_destroy(context)
            cairo_surface_destroy(surface)
        }
        cairo_scale(context, 5, 5)
        let image = Image(cgImage: Bitmap.of([[0xFFFF_0000, 0x8000_0080]]), scale: 2, orientation: .down)
        let drawn = image.drawn(on: context)
        #expect(drawn.cgImage?.words == [0xFFFF_0000, 0x8000_0080, 0, 0, 0, 0])
        #expect(drawn.scale == 2 && drawn.imageOrientation == .down)
        let movie = try #require(Image.animated(SyntheticFrames(), options: ImageCreatingOptions()))
        #expect(movie.drawn(on: context) === movie)
        let empty = Image()
        #expect(empty.drawn(on: context) === empty)
    }
    #endif
}
