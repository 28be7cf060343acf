// Custom image coders: the order in which they are called, and the failure of one.

import Foundation
import KFSupport
import Synchronization
import Testing

@testable import KFImaging

/// Accepts data that begins with a word, and decodes it to a square of one colour.
private struct PrefixCoder: ImageCoder {
    struct Failure: Error, CustomStringConvertible { let description: String }
    let word: String
    var color: UInt32 = 0xFFFF_0000
    var size = 1
    var failure: String?
    var writes: ImageContentType?

    func canDecode(_ data: Data) -> Bool { data.starts(with: word.utf8) }

    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        if let failure { throw Failure(description: failure) }
        #expect(data.startIndex == 0)
        return Image(cgImage: .solid(color, size, size))
    }

    func canEncode(_ type: ImageContentType) -> Bool { type == writes }

    func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data {
        if let failure { throw Failure(description: failure) }
        return Data("\(word) \(image.pixelWidth)x\(image.pixelHeight) \(options.quality)".utf8)
    }
}

/// Accepts all data and returns an image without pixels.
private struct EmptyCoder: ImageCoder {
    func canDecode(_ data: Data) -> Bool { true }
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image { Image() }
}

/// Accepts data that begins with a word, and implements no decoding.
private struct UnimplementedCoder: ImageCoder {
    let word: String
    func canDecode(_ data: Data) -> Bool { data.starts(with: word.utf8) }
}

/// Accepts what the built-in coder accepts, and decodes it to a green image of the same size.
private struct PaintingCoder: ImageCoder {
    func canDecode(_ data: Data) -> Bool { BuiltInImageCoder().canDecode(data) }
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        let image = try BuiltInImageCoder().decode(data, options: options)
        return Image(cgImage: .solid(0xFF00_FF00, image.pixelWidth, image.pixelHeight))
    }
}

/// Two frames of one pixel.
private struct TwoFrames: ImageFrameSource {
    var data: Data? { nil }
    var frameCount: Int { 2 }
    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? { .solid(0xFF00_0000 + UInt32(index), 1, 1) }
    func duration(at index: Int) -> TimeInterval { 0.5 }
}

private struct FrameCoder: ImageCoder {
    let word: String
    func canDecode(_ data: Data) -> Bool { data.starts(with: word.utf8) }
    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image { Image(cgImage: .solid(~0, 1, 1)) }
    func frames(of data: Data) -> (any ImageFrameSource)? { data.count > word.utf8.count ? TwoFrames() : nil }
}

extension CoderChain {
    fileprivate func corner(_ data: Data) throws -> Pixel {
        try decode(data, options: DecodingOptions()).bitmap()[0, 0]
    }
}

@Suite struct CodersTests {
    private let red = Pixel(r: 255, g: 0, b: 0)
    private let green = Pixel(r: 0, g: 255, b: 0)

    @Test("Higher priorities come first, and among equals the one added last") func priorityOrder() throws {
        let manager = ImageCodersManager()
        #expect(manager.custom == nil)
        for (word, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", -1), ("e", 5)] {
            manager.add(PrefixCoder(word: word), priority: priority)
        }
        #expect(manager.coders.map { ($0 as? PrefixCoder)?.word } == ["e", "b", "c", "a", "d"])
        let custom = try #require(manager.custom)
        #expect(custom.before.count == 4 && custom.after.count == 1)
    }

    @Test("A token removes its coder once") func removesByToken() {
        let manager = ImageCodersManager()
        let first = manager.add(PrefixCoder(word: "a"))
        let second = manager.add(PrefixCoder(word: "a"))
        #expect(manager.remove(first) && !manager.remove(first))
        #expect(manager.coders.count == 1)
        manager.removeAll()
        #expect(!manager.remove(second) && manager.coders.isEmpty && manager.custom == nil)
    }

    @Test("Data of an unknown format is decoded by the coder that accepts it") func decodesUnknownFormat() throws {
        let token = ImageCodersManager.shared.add(PrefixCoder(word: "KF-UNKNOWN", size: 20))
        defer { ImageCodersManager.shared.remove(token) }
        let data = Data("KF-UNKNOWN 1".utf8)
        let image = try #require(Image(data: data, scale: 2))
        #expect(image.size == CGSize(width: 10, height: 10) && image.isUnprocessed)
        #expect(try image.bitmap()[0, 0] == red)
        let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 5))
        #expect(small.pixelWidth == 5 && !small.isUnprocessed)
        let info = try ImageInfo(data: data)
        #expect(info.pixelWidth == 20 && info.contentType == .unknown && info.byteCount == data.count)
        #expect(Codecs.diagnose(data) == nil)
        #expect(Image(data: (Data([1, 2]) + data).dropFirst(2)) != nil)
        // A header that is cut is known by its first bytes, as without a coder.
        #expect(try EncodedContent(fixture("photo.jpg").prefix(20))?.contentType == .jpeg)
    }

    @Test("A coder replaces a built-in format unless its priority is negative") func replacesBuiltInFormat() throws {
        let data = try fixture("photo.png")
        let manager = ImageCodersManager()
        let token = manager.add(PaintingCoder(), priority: -1)
        #expect(try #require(manager.custom).corner(data) != green)
        manager.remove(token)
        manager.add(PaintingCoder())
        #expect(try #require(manager.custom).corner(data) == green)
    }

    @Test("When a coder fails, the next one decodes") func failureFallsBack() throws {
        let manager = ImageCodersManager()
        manager.add(PrefixCoder(word: "x"), priority: 1)
        manager.add(EmptyCoder(), priority: 2)
        manager.add(PrefixCoder(word: "x", failure: "bad data"), priority: 3)
        let custom = try #require(manager.custom)
        #expect(try custom.corner(Data("x".utf8)) == red)
        // The built-in coder is next when all have failed.
        #expect(try custom.decode(fixture("photo.png"), options: DecodingOptions()).pixelWidth == 96)
    }

    @Test("The error contains the reason of each coder") func errorListsAllCoders() throws {
        let manager = ImageCodersManager()
        manager.add(PrefixCoder(word: "x", failure: "bad data"), priority: 3)
        manager.add(UnimplementedCoder(word: "x"), priority: 2)
        manager.add(EmptyCoder(), priority: -2)
        let custom = try #require(manager.custom)
        let expected = ImagingError.coderFailed([
            "PrefixCoder: bad data", "UnimplementedCoder: it does not decode",
            "built-in: the bytes look like plain text, not an image", "EmptyCoder: it gave an image without pixels",
        ])
        #expect(throws: expected) { try custom.decode(Data("x".utf8), options: DecodingOptions()) }
        #expect(throws: expected) { try custom.info(of: Data("x".utf8)) }
        #expect(
            expected.description.hasPrefix("no coder could decode the data: PrefixCoder: bad data; UnimplementedCoder")
        )
    }

    @Test("Errors of the built-in coder are kept") func builtInErrorsKept() throws {
        let manager = ImageCodersManager()
        manager.add(PrefixCoder(word: "x", failure: "bad data"))
        let custom = try #require(manager.custom)
        #expect(throws: ImagingError.emptyData) { try custom.decode(Data(), options: DecodingOptions()) }
        let limits = ImageDecodingLimits(maxPixelCount: 10)
        #expect(throws: ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 10, width: 96, height: 64)) {
            try custom.decode(fixture("photo.png"), options: DecodingOptions(limits: limits))
        }
    }

    @Test("The limit of pixels holds for images of custom coders") func limitForCustomCoders() throws {
        let manager = ImageCodersManager()
        manager.add(PrefixCoder(word: "x", size: 4))
        let custom = try #require(manager.custom)
        let limits = ImageDecodingLimits(maxPixelCount: 15)
        #expect(throws: ImagingError.self) {
            try custom.decode(Data("x".utf8), options: DecodingOptions(limits: limits))
        }
    }

    @Test("Frames come from the coder that has frames for the data") func customFrames() throws {
        let token = ImageCodersManager.shared.add(FrameCoder(word: "KF-FRAMES"))
        defer { ImageCodersManager.shared.remove(token) }
        let moving = try #require(Image.decoded(from: Data("KF-FRAMES!".utf8), options: ImageCreatingOptions()))
        #expect(moving.frameSource?.frameCount == 2 && moving.frameCount == 2)
        let still = try #require(Image.decoded(from: Data("KF-FRAMES".utf8), options: ImageCreatingOptions()))
        #expect(still.frameSource == nil && still.pixelWidth == 1)
        #expect(try Codecs.frameSource(of: fixture("animated.gif"))?.frameCount == 3)
        #expect(throws: ImagingError.self) { try Codecs.frameSource(of: Data("unknown".utf8)) }
    }

    @Test("The limit of frames holds for custom coders", arguments: [1, -1]) func customFrameLimit(priority: Int) throws
    {
        let manager = ImageCodersManager()
        manager.add(FrameCoder(word: "KF-MANY"), priority: priority)
        let custom = try #require(manager.custom)
        var limits = ImageDecodingLimits()
        limits.maxFrameCount = 2
        #expect(try custom.frames(of: Data("KF-MANY!".utf8), limits: limits)?.frameCount == 2)
        limits.maxFrameCount = 1
        #expect(throws: ImagingError.tooManyFrames(2, allowed: 1)) {
            try custom.frames(of: Data("KF-MANY!".utf8), limits: limits)
        }
    }

    @Test("The built-in coder encodes the formats for which canEncode returns true, and no others")
    func builtInEncodes() throws {
        let (coder, image) = (BuiltInImageCoder(), Image(cgImage: .solid(0xFF00_00FF, 3, 2)))
        let written: [ImageContentType] = [.jpeg, .png, .gif, .webp, .avif, .ico, .bmp, .tiff]
        for type in written + [.heic, .heif, .jxl, .svg, .unknown] {
            let data = try? coder.encode(image, as: type, options: ImageEncodingOptions())
            #expect(coder.canEncode(type) == written.contains(type) && (data != nil) == written.contains(type))
            if let data { #expect(ImageContentType(sniffing: data) == type && coder.canDecode(data)) }
        }
    }

    @Test("A custom coder encodes a format of its own") func encodesNewFormat() throws {
        let mine = ImageContentType(rawValue: "test.mine")
        let image = Image(cgImage: .solid(0xFF00_00FF, 3, 2), scale: 1, orientation: .right)
        #expect(throws: ImagingError.self) { try Codecs.encode(image, as: mine) }
        let token = ImageCodersManager.shared.add(PrefixCoder(word: "KF-WRITTEN", writes: mine))
        defer { ImageCodersManager.shared.remove(token) }
        #expect(try Codecs.encode(image, as: mine, quality: 7) == Data("KF-WRITTEN 2x3 1.0".utf8))
        #expect(image.pngData()?.isEmpty == false)
    }

    @Test("When a coder cannot encode, the next one does; if all fail, the error has their reasons")
    func encodingFallsBack() throws {
        let manager = ImageCodersManager()
        manager.add(PrefixCoder(word: "x", failure: "full", writes: .png))
        manager.add(PrefixCoder(word: "x", failure: "full", writes: .jp2))
        let custom = try #require(manager.custom)
        let image = Image(cgImage: .solid(0xFF00_00FF, 3, 2))
        let png = try custom.encode(image, as: .png, options: ImageEncodingOptions())
        #expect(ImageContentType(sniffing: png) == .png)
        do {
            _ = try custom.encode(image, as: .jp2, options: ImageEncodingOptions())
            Issue.record("JPEG 2000 was written")
        } catch {
            #expect("\(error)".contains("as JPEG 2000: PrefixCoder: full; built-in: "))
        }
        #expect(throws: ImagingError.encodingFailed(.png, detail: "the image is empty")) {
            try custom.encode(Image(), as: .png, options: ImageEncodingOptions())
        }
    }

    @Test("Qualities outside the range are clamped") func clampsQuality() {
        #expect(ImageEncodingOptions(quality: .nan).quality == 1)
        #expect(ImageEncodingOptions(quality: -3).quality == 0)
        #expect(ImageEncodingOptions(quality: .infinity).quality == 1)
    }

    @Test("Coders can be added and removed during decoding") func concurrentChanges() async throws {
        let manager = ImageCodersManager.shared
        let data = try fixture("photo.png")
        let mine = Data("KF-BUSY".utf8)
        let stays = manager.add(PrefixCoder(word: "KF-BUSY"), priority: 2)
        let decoded = await withTaskGroup(of: Int.self) { group in
            for index in 0..<8 {
                group.addTask {
                    var count = 0
                    for round in 0..<20 {
                        let token = manager.add(PrefixCoder(word: "KF-BUSY \(index)"), priority: round % 5 - 2)
                        if Image(data: mine) != nil { count += 1 }
                        if round % 10 == 0, Image(data: data) != nil { count += 1 }
                        manager.remove(token)
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        manager.remove(stays)
        #expect(decoded == 8 * 22)
        #expect(Image(data: mine) == nil)
    }
}
