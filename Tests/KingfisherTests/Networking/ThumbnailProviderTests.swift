// Small copies of images as a provider gives them: their size, their format, where they come from.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ThumbnailProviderTests {
    typealias Failure = ThumbnailImageDataProvider.ThumbnailImageDataProviderError

    /// The head of a file on disk, after it went through a provider.
    private func copy(
        of data: Data,
        maxPixelSize: CGFloat,
        alwaysCreateThumbnail: Bool = true
    ) async throws -> ImageInfo {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("image")
            try data.write(to: file)
            let provider = ThumbnailImageDataProvider(
                url: file,
                maxPixelSize: maxPixelSize,
                alwaysCreateThumbnail: alwaysCreateThumbnail
            )
            return try ImageInfo(data: await provider.data())
        }
    }

    /// A Windows bitmap with zeros for pixels: a format that is only read here.
    private func bitmapFile(_ width: Int, _ height: Int, pixelBytes: Int) -> Data {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        var data = Data("BM".utf8)
        for (value, count) in [
            (54 + pixelBytes, 4), (0, 4), (54, 4), (40, 4), (width, 4), (height, 4), (1, 2), (24, 2), (0, 4),
            (pixelBytes, 4), (0, 4), (0, 4), (0, 4), (0, 4),
        ] {
            data += bytes(value, count)
        }
        return data + Data(count: pixelBytes)
    }

    /// How red the first pixel of an image file is.
    private func red(of data: Data) throws -> UInt8 {
        let bitmap = try #require(Codecs.decode(data).cgImage)
        return bitmap.withUnsafeBytes { $0[2] }
    }

    @Test("The key is made of the URL and the parameters") func key() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let plain = ThumbnailImageDataProvider(url: url, maxPixelSize: 100)
        #expect(plain.cacheKey == "https://example.com/a.png_thumb_100.0_true")
        #expect(plain.alwaysCreateThumbnail && plain.maxPixelSize == 100 && plain.url == url)
        let other = ThumbnailImageDataProvider(url: url, maxPixelSize: 0.5, alwaysCreateThumbnail: false)
        #expect(other.cacheKey == "https://example.com/a.png_thumb_0.5_false")
        #expect(ThumbnailImageDataProvider(url: url, maxPixelSize: 1, cacheKey: "mine").cacheKey == "mine")
    }

    @Test("The longer side has at most the pixels that were asked for", arguments: [true, false])
    func size(alwaysCreateThumbnail: Bool) async throws {
        let png = try SampleImage.png(64, 32)
        for (limit, width, height) in [(16, 16, 8), (16.9, 16, 8), (100, 64, 32), (0, 64, 32), (0.5, 1, 1)] {
            let info = try await copy(
                of: png,
                maxPixelSize: limit,
                alwaysCreateThumbnail: alwaysCreateThumbnail
            )
            #expect(info.pixelWidth == width && info.pixelHeight == height, "\(limit)")
            #expect(info.contentType == .png)
        }
    }

    @Test("The orientation in a JPEG is applied, and the copy is a JPEG") func orientation() async throws {
        // An EXIF block with the orientation "right", directly after the start of the file.
        let tag: [UInt8] = [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        var turned = try SampleImage.jpeg(64, 32)
        turned.insert(contentsOf: tag + entry, at: 2)
        let info = try await copy(of: turned, maxPixelSize: 16)
        #expect(info.contentType == .jpeg && info.pixelWidth == 8 && info.pixelHeight == 16)
        #expect(info.orientation == .up)
    }

    @Test("An animation becomes a still of its first frame in its own format") func animation() async throws {
        let frames = (0..<3).map { SampleImage.gradient(32, 24, tint: UInt8(80 * $0)) }
        let film = try #require(Image.animatedImage(with: frames, duration: 1)?.webPData)
        let info = try await copy(of: film, maxPixelSize: 16)
        #expect(info.contentType == .webp && info.frameCount == 1 && info.pixelWidth == 16 && info.pixelHeight == 12)
    }

    @Test("Another frame of an animation can be named; one that is not there is an error") func frame() async throws {
        let frames = (0..<3).map { SampleImage.gradient(32, 24, tint: UInt8(80 * $0)) }
        let film = try #require(Image.animatedImage(with: frames, duration: 1)?.webPData)
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("film.webp")
            try film.write(to: file)
            let first = ThumbnailImageDataProvider(url: file, maxPixelSize: 0)
            let third = ThumbnailImageDataProvider(url: file, maxPixelSize: 0, frameIndex: 2)
            #expect(third.cacheKey == first.cacheKey + "_frame2")
            let copies = try await (first.data(), third.data())
            #expect(try red(of: copies.0) < 30 && (130...190).contains(red(of: copies.1)))
            let small = ThumbnailImageDataProvider(url: file, maxPixelSize: 16, frameIndex: 1)
            #expect(try await ImageInfo(data: small.data()).pixelWidth == 16)
            for index in [3, -1] {
                await #expect(throws: Failure.invalidThumbnail) {
                    try await ThumbnailImageDataProvider(url: file, maxPixelSize: 16, frameIndex: index).data()
                }
            }
        }
    }

    @Test("A copy of a BMP is a BMP") func bitmap() async throws {
        let info = try await copy(of: bitmapFile(8, 4, pixelBytes: 96), maxPixelSize: 4)
        #expect(info.contentType == .bmp && info.pixelWidth == 4 && info.pixelHeight == 2)
    }

    @Test("Bytes that are no image and pixels that cannot be decoded are two errors") func badImages() async {
        await #expect(throws: Failure.invalidImageSource) {
            try await copy(of: Data("no image".utf8), maxPixelSize: 16)
        }
        await #expect(throws: Failure.invalidThumbnail) {
            try await copy(of: bitmapFile(60_000, 60_000, pixelBytes: 0), maxPixelSize: 16)
        }
    }

    @Test("A file that is not there is the error of reading it") func missingFile() async {
        let file = URL(fileURLWithPath: "/nowhere/at/all.png")
        await #expect(throws: CocoaError.self) {
            try await ThumbnailImageDataProvider(url: file, maxPixelSize: 16).data()
        }
    }

    @Test("An image on a server and one in a data URL become copies too, and a manager loads them")
    func otherPlaces() async throws {
        try await Rig.run { rig in
            let png = try SampleImage.png(64, 32)
            rig.server.route("/a.png", .data(png))
            let inside = try #require(URL(string: "data:;base64,\(png.base64EncodedString())"))
            for url in [rig.server.url("/a.png"), inside] {
                let provider = ThumbnailImageDataProvider(url: url, maxPixelSize: 16)
                #expect(provider.cacheKey.utf8.count < 200)
                let result = try await rig.manager.retrieveImage(with: .provider(provider))
                #expect(result.image.pixelWidth == 16 && result.image.pixelHeight == 8)
            }
            let missing = ThumbnailImageDataProvider(url: rig.server.url("/none.png"), maxPixelSize: 16)
            let error = await failure { try await missing.data() }
            #expect(error?.isInvalidResponseStatusCode(404) == true)
        }
    }
}
