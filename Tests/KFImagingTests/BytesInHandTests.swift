// Images of bytes and files in hand: decoded off the caller's thread, with a reason when there is none.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct BytesInHandTests {
    private func png(_ width: Int, _ height: Int) throws -> Data {
        try #require(Image(cgImage: .solid(0xFF20_4080, width, height)).pngData())
    }

    @Test("Bytes become an image of their own size, of a limited one, or of a box")
    func sizes() async throws {
        let data = try png(40, 20)
        let whole = try await Image.decoded(from: data, options: ImageDecodingOptions(scale: 2))
        #expect(whole.cgImage?.width == 40 && whole.scale == 2 && whole.contentType == .png)
        let small = try await Image.decoded(from: data, options: ImageDecodingOptions(maxPixelSize: 10))
        #expect(small.cgImage?.width == 10 && small.cgImage?.height == 5)
        let filled = try await Image.decoded(from: data, options: .thumbnail(width: 8, height: 8, mode: .fill))
        #expect(filled.cgImage?.width == 8 && filled.cgImage?.height == 8)
        let free = try await Image.decoded(from: data, options: .thumbnail(width: 20, height: -1))
        #expect(free.cgImage?.width == 20 && free.cgImage?.height == 10)
    }

    @Test("An animation comes with its frames; made smaller it is a still")
    func animations() async throws {
        let data = try fixture("animated.gif")
        #expect(try await Image.decoded(from: data).isAnimated)
        #expect(try await !Image.decoded(from: data, options: ImageDecodingOptions(maxPixelSize: 4)).isAnimated)
    }

    @Test("The error says why: no image, too large, too large when it is enlarged")
    func reasons() async throws {
        let text = Data("just some text".utf8)
        await #expect(throws: ImagingError.unrecognizedFormat(resembling: "plain text")) {
            try await Image.decoded(from: text)
        }
        let data = try png(40, 20)
        let limits = ImageDecodingLimits(maxPixelCount: 800)
        #expect(try await Image.decoded(from: data, options: ImageDecodingOptions(limits: limits)).size.width == 40)
        let tight = ImageDecodingLimits(maxPixelCount: 799)
        let error = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 799, width: 40, height: 20)
        await #expect(throws: error) {
            try await Image.decoded(from: data, options: ImageDecodingOptions(limits: tight))
        }
        let larger = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 800, width: 80, height: 40)
        await #expect(throws: larger) {
            try await Image.decoded(
                from: data,
                options: .thumbnail(width: 80, height: 0, enlarges: true, limits: limits)
            )
        }
    }

    @Test("A file is read; one that is not there is named")
    func files() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).png")
        let missing = await #expect(throws: ImagingError.self) { try await Image.decoded(fromFile: file) }
        guard case .unreadableFile(let path, _)? = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
        #expect(path == file.path && missing?.description.contains(file.path) == true)
        try png(4, 4).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await Image.decoded(fromFile: file).cgImage?.width == 4)
    }
}
