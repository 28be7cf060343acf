// Images in strips: the same pixels and files as from bitmaps, on little memory, and which images take part.

import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

/// Smooth colours with grain, so that each operation changes every pixel.
private func photo(_ size: PixelSize) throws -> Bitmap {
    var generator = SeededGenerator(state: 7)
    return try Bitmap(size, hasAlpha: false) { rows in
        for y in 0..<size.height { fill(rows.pixels(y), y, size.width, &generator) }
    }
}

private func fill(_ row: UnsafeMutablePointer<UInt32>, _ y: Int, _ width: Int, _ generator: inout SeededGenerator) {
    for x in 0..<width {
        let grain = UInt32(truncatingIfNeeded: generator.next()) & 0x1F1F_1F
        row[x] = 0xFF00_0000 | UInt32((x * 3 + y) % 200) << 16 | UInt32((y * 2) % 200) << 8 | UInt32(x % 200)
        row[x] += grain
    }
}

/// An operation in strips, and the same on bitmaps.
private struct Work: CustomStringConvertible {
    let description: String
    let strips: @Sendable (inout StripImage) -> Bool
    let bitmap: @Sendable (Image) -> Image?

    static func crop(_ rect: CGRect) -> Work {
        Work(description: "crop to \(rect)") { image in
            image.crop(to: rect)
            return true
        } bitmap: {
            $0.cropped(toPoints: rect)
        }
    }

    static func resize(
        _ share: Double,
        _ filter: ResamplingFilter = .automatic,
        in space: WorkingSpace = .encoded
    ) -> Work {
        @Sendable func side(_ length: Int) -> Int { max(1, Int(Double(length) * share)) }
        return Work(description: "\(share) by \(filter) in \(space)") { image in
            image.resize(to: PixelSize(side(image.size.width), side(image.size.height)), filter: filter, in: space)
        } bitmap: { image in
            let size = CGSize(width: side(image.pixelWidth), height: side(image.pixelHeight))
            return image.resized(toPoints: size, filter: filter, in: space)
        }
    }

    static func sharpen(_ sigma: Double) -> Work {
        Work(description: "sharpen by \(sigma)") {
            $0.sharpen(sigma: sigma, amount: 1.5)
        } bitmap: {
            $0.sharpened(sigma: sigma, amount: 1.5)
        }
    }

    static func thumbnail(_ thumbnail: Thumbnail) -> Work {
        Work(description: "\(thumbnail)") {
            $0.reduce(to: thumbnail)
        } bitmap: {
            $0.thumbnail(thumbnail, scale: 1)
        }
    }

    static func limit(_ side: Int) -> Work {
        Work(description: "at most \(side)") { image in
            image.reduce(toLongerSide: side)
            return true
        } bitmap: {
            $0.downsampled(toMaxPixelSize: side, scale: 1)
        }
    }
}

private func box(_ width: Int, _ height: Int, _ mode: ThumbnailMode, _ x: Double = 0.5) -> Thumbnail {
    Thumbnail(width: width, height: height, mode: mode, anchor: .point(CGPoint(x: x, y: 0.2)), enlarges: false)
}

private let chains: [[Work]] = [
    [],
    [.crop(CGRect(x: 3, y: 2, width: 21, height: 17))],
    [.crop(CGRect(x: 0, y: 0, width: 1, height: 1))], [.crop(CGRect(x: 20, y: 30, width: 9_999, height: 9_999))],
    [.crop(CGRect(x: 9_999, y: 0, width: 3, height: 3))],
    [.resize(0.9)], [.resize(0.9, .bilinear)], [.resize(0.51, in: .linear)], [.resize(0.3, .nearest)], [.resize(0.01)],
    [.sharpen(0.47)], [.sharpen(2)], [.sharpen(0.01)],
    [.crop(CGRect(x: 1, y: 1, width: 300, height: 300)), .resize(0.9, in: .linear), .sharpen(0.47)],
    [.sharpen(1), .resize(0.7), .crop(CGRect(x: 2, y: 2, width: 10, height: 10)), .sharpen(0.3), .resize(0.5)],
    [.crop(CGRect(x: 1, y: 1, width: 300, height: 300)), .thumbnail(box(20, 9, .fill, 1)), .limit(7)],
]

private let sizes = [(1, 1), (1, 40), (40, 1), (37, 53), (64, 64), (211, 140), (8_300, 9)].map { PixelSize($0.0, $0.1) }

private let inProcess: ImageDecodingLimits = {
    var limits = ImageDecodingLimits()
    limits.isolation = .inProcess
    return limits
}()

/// The image in strips of a file, however short that is.
private func strips(_ data: Data, _ chain: [Work] = []) throws -> StripImage {
    var image = try #require(StripImage(ofAnyLength: data, inProcess))
    for work in chain {
        let isDone = work.strips(&image)
        #expect(isDone, "\(work)")
    }
    return image
}

@Suite struct StripTests {
    @Test(
        "Operations in strips give the pixels that they give on bitmaps",
        arguments: [ImageContentType.jpeg, .png, .tiff],
        sizes
    )
    func pixels(type: ImageContentType, size: PixelSize) throws {
        let data = try Codecs.encode(Image(cgImage: photo(size)), as: type, quality: 0.9)
        let whole = try Codecs.decode(data, options: DecodingOptions(limits: inProcess))
        for chain in chains {
            let expected = try chain.reduce(whole) { try #require($1.bitmap($0)) }
            let image = try strips(data, chain)
            let result = try #require(try image.image())
            #expect(image.size == PixelSize(expected.pixelWidth, expected.pixelHeight), "\(chain)")
            #expect(try result.bitmap().likeness(to: expected.bitmap()) == .infinity, "\(chain)")
        }
    }

    @Test(
        "A decoder makes images in strips as small as it makes bitmaps",
        arguments: [ImageContentType.jpeg, .png],
        [box(100, 0, .fit), box(70, 70, .fill), box(33, 20, .exact), box(300, 200, .fit), box(9, 2, .fit)]
    )
    func thumbnails(type: ImageContentType, thumbnail: Thumbnail) throws {
        let data = try Codecs.encode(Image(cgImage: photo(PixelSize(731, 517))), as: type, quality: 0.9)
        for space in WorkingSpace.allCases {
            var options = DecodingOptions(limits: inProcess)
            var thumbnail = thumbnail
            thumbnail.space = space
            options.thumbnail = thumbnail
            let result = try #require(try strips(data, [.thumbnail(thumbnail)]).image())
            let expected = try Codecs.decode(data, options: options)
            #expect(try result.bitmap().likeness(to: expected.bitmap()) == .infinity)
        }
    }

    @Test("What is decoded in strips is what is decoded at once, in all files that take part") func files() throws {
        var count = 0
        for name in try allFixtureNames() {
            guard let data = try? fixture(name), let image = StripImage(ofAnyLength: data, inProcess),
                let result = try? image.image()
            else { continue }
            let expected = try Codecs.decode(data, options: DecodingOptions(limits: inProcess))
            #expect(try result.bitmap().likeness(to: expected.bitmap()) == .infinity, "\(name)")
            #expect(result.isDamaged == expected.isDamaged, "\(name)")
            count += 1
        }
        #expect(count > 20)
    }

    @Test("Files made in strips have the bytes of those made of bitmaps", arguments: [ImageContentType.jpeg, .png])
    func encoding(type: ImageContentType) throws {
        let size = PixelSize(211, 140)
        let sources = [
            try photo(size), .solid(0xFF20_4060, 60, 40), .of((0..<9).map { y in (0..<300).map { greyOf($0 + y) } }),
        ]
        for source in sources {
            let data = try Codecs.encode(Image(cgImage: source), as: .png)
            for quality in [0.85, 1] {
                var options = ImageEncodingOptions(quality: quality)
                options.encoder = EncoderSettings()
                options.metadata.hasProfile = true
                let file = try #require(try strips(data).encoded(as: type, options))
                #expect(try file.data == Codecs.encode(Image(cgImage: source), as: type, options))
            }
        }
    }

    private func greyOf(_ level: Int) -> UInt32 { 0xFF00_0000 | UInt32(level % 256) * 0x01_0101 }

    @Test("A gain map follows in strips as it does on bitmaps", arguments: 0..<4) func gainMap(index: Int) throws {
        let data = try fixture("jpeg/gain-map.jpg")
        let cut = Work.crop(CGRect(x: 3, y: 5, width: 20, height: 12))
        let chain = [[cut, .resize(0.8)], [cut, .thumbnail(box(16, 9, .fill)), .limit(12)], [], [cut, .sharpen(1)]][
            index
        ]
        var options = ImageEncodingOptions(quality: 0.9)
        options.metadata.gainMap = GainMap(of: data)
        let whole = try Codecs.decode(data, options: DecodingOptions(limits: inProcess))
        let expected = try chain.reduce(whole) { try #require($1.bitmap($0)) }
        let file = try #require(try strips(data, chain).encoded(as: .jpeg, options))
        #expect(try file.data == Codecs.encode(expected, as: .jpeg, options))
        let hasMap = GainMap(of: file.data) != nil
        #expect(index != 2 || hasMap)
        #expect(index != 3 || !hasMap)
        let image = try #require(try strips(data, chain).image())
        #expect(image.shownPart == expected.shownPart)
    }

    @Test("Formats and options whose encoders need the whole image make no file in strips") func wholeEncoders() throws
    {
        let image = try strips(Codecs.encode(Image(cgImage: photo(PixelSize(30, 20))), as: .png))
        var interlaced = ImageEncodingOptions(), palette = interlaced, score = interlaced
        interlaced.encoder.isInterlaced = true
        palette.encoder.paletteSize = 16
        score.targetScore = 70
        #expect(try image.encoded(as: .webp, ImageEncodingOptions()) == nil)
        #expect(try image.encoded(as: .png, interlaced) == nil)
        #expect(try image.encoded(as: .png, palette) == nil)
        #expect(try image.encoded(as: .jpeg, score) == nil)
    }

    @Test(
        "Files that are turned, see-through, interlaced, animated or of other formats are no images in strips",
        arguments: [
            "jpeg/orientation-6.jpg", "png/orientation-6.png", "tiff/orientation-6.tiff", "png/alpha.png",
            "png/palette-transparent.png", "tiff/alpha.tiff", "png/interlaced.png", "png/animated.png",
            "webp/alpha.webp",
        ]
    )
    func others(name: String) throws {
        #expect(StripImage(ofAnyLength: try fixture(name), inProcess) == nil)
    }

    @Test("What enlarges, looks for a place or reaches far is not done in strips") func otherSteps() throws {
        let data = try Codecs.encode(Image(cgImage: photo(PixelSize(60, 40))), as: .png)
        let image = try strips(data)
        func isDone(_ step: (inout StripImage) -> Bool) -> Bool {
            var changed = image
            return step(&changed) || changed.size != image.size
        }
        var smart = box(20, 20, .fill)
        smart.anchor = .smart
        #expect(!isDone { $0.resize(to: PixelSize(20, 41), filter: .automatic, in: .encoded) })
        #expect(!isDone { $0.reduce(to: box(20, 50, .exact)) })
        #expect(!isDone { $0.reduce(to: smart) })
        #expect(!isDone { $0.sharpen(sigma: 6, amount: 1) })
        #expect(isDone { $0.sharpen(sigma: 5, amount: 1) })
        #expect(StripImage(data) == nil, "a short file")
        #expect(StripImage(ofAnyLength: Data(), inProcess) == nil)
    }

    @Test("A cut JPEG is damaged in strips too; a cut PNG, whose rest would be see-through, is left to bitmaps")
    func damage() throws {
        let source = Image(cgImage: try photo(PixelSize(200, 300)))
        let (jpeg, png) = (try Codecs.encode(source, as: .jpeg), try Codecs.encode(source, as: .png))
        let cut = jpeg.prefix(jpeg.count / 2)
        let image = try strips(cut, [.crop(CGRect(x: 0, y: 0, width: 20, height: 20))])
        let file = try #require(try image.encoded(as: .png, ImageEncodingOptions()))
        #expect(file.isDamaged, "the damage lies below the part")
        let whole = try Codecs.decode(cut, options: DecodingOptions(limits: inProcess))
        let result = try #require(try strips(cut).image())
        #expect(result.isDamaged && whole.isDamaged)
        #expect(try result.bitmap().likeness(to: whole.bitmap()) == .infinity)
        let cutPNG = try strips(png.prefix(png.count / 2))
        #expect(throws: ImagingError.self) { try cutPNG.image() }
    }

    @Test("Limits refuse an image in strips") func limits() throws {
        let data = try Codecs.encode(Image(cgImage: photo(PixelSize(60, 40))), as: .jpeg)
        var limits = inProcess
        limits.maxPixelCount = 2_399
        #expect(StripImage(ofAnyLength: data, limits) == nil)
        limits.maxPixelCount = 2_400
        #expect(StripImage(ofAnyLength: data, limits) != nil)
    }

    @Test("A cancelled task makes neither image nor file") func cancellation() async throws {
        let image = try strips(Codecs.encode(Image(cgImage: photo(PixelSize(60, 400))), as: .jpeg))
        let task = Task { () throws -> Bool in
            withUnsafeCurrentTask { $0?.cancel() }
            let file = try? image.encoded(as: .jpeg, ImageEncodingOptions())
            return try image.image() == nil && file == nil
        }
        #expect(try await task.value)
    }

    @Test(
        "25 megapixels are cut, resized, sharpened and written in 16 MiB beside the files",
        .enabled(if: memoryIsOurs)
    )
    func memory() async {
        await #expect(processExitsWith: .success) {
            let options = ImageEncodingOptions(quality: 0.85)
            let size = PixelSize(5_000, 5_000)
            let rows: () throws(ImagingError) -> any ImageRows = { GeneratedRows(size) }
            let encoded = try JPEGCodec.encode(rows, options)
            let data = try #require(encoded)
            var image = try #require(StripImage(data, limits: inProcess))
            image.crop(to: CGRect(x: 50, y: 50, width: 4_950, height: 4_950))
            let isResized = image.resize(to: PixelSize(4_900, 4_900), filter: .automatic, in: .linear)
            let isSharpened = image.sharpen(sigma: 1, amount: 1)
            try #require(isResized && isSharpened && image.isLarge)
            let before = try peakMemory()
            let file = try #require(try image.encoded(as: .jpeg, options))
            let growth = try peakMemory() - before - 2 * file.data.count
            #expect(growth < 16 << 20, "\(growth) bytes")
        }
    }
}

/// Rows that no bitmap holds.
private final class GeneratedRows: ImageRows {
    let size: PixelSize
    private var y = 0
    private var generator = SeededGenerator(state: 3)
    private let row: UnsafeMutablePointer<UInt32>

    init(_ size: PixelSize) {
        self.size = size
        row = .allocate(capacity: size.width)
    }

    deinit { row.deallocate() }

    func next() -> UnsafePointer<UInt8> {
        fill(row, y, size.width, &generator)
        y += 1
        return UnsafeRawPointer(row).assumingMemoryBound(to: UInt8.self)
    }
}
