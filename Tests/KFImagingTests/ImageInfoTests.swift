// The information in the headers of every format, and the detection of formats by signatures.

import Foundation
import KFImaging
import Testing

@Suite struct ImageInfoTests {
    @Test("A file to be sent is known by its first bytes; its header is read for who asks")
    func encodedContent() throws {
        let data = try fixture("photo.jpg")
        let (whole, start) = (try #require(EncodedContent(data)), try #require(EncodedContent(data.prefix(20))))
        #expect(whole.contentType == .jpeg && start.contentType == .jpeg)
        #expect(whole.info == (try ImageInfo(data: data)) && start.info == nil)
        #expect(EncodedContent(Data("no image".utf8)) == nil)
    }

    /// One chunk of a WebP: name, length, content, and a byte that makes the length even.
    private func chunk(_ name: String, _ content: Data) -> Data {
        let padding = Data(count: content.count % 2)
        return Data(name.utf8) + number(content.count, bytes: 4) + content + padding
    }

    private func number(_ value: Int, bytes: Int) -> Data {
        Data((0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    /// An animated WebP of one pixel, played twice, whose frames have the given durations in milliseconds.
    private func animation(_ milliseconds: [Int]) throws -> Data {
        let pixel = Image(cgImage: Bitmap.solid(0xFF10_2030, 1, 1))
        let image = try Codecs.encode(pixel, as: .webp, lossless: true).dropFirst(12)
        var chunks = Data("WEBP".utf8)
        chunks += chunk("VP8X", Data([0x02, 0, 0, 0]) + Data(count: 6))
        chunks += chunk("ANIM", Data([0, 0, 0, 0, 2, 0]))
        for time in milliseconds {
            chunks += chunk("ANMF", Data(count: 12) + number(time, bytes: 3) + Data(count: 1) + image)
        }
        return Data("RIFF".utf8) + number(chunks.count, bytes: 4) + chunks
    }

    @Test("All frames of a long animated WebP are counted and timed") func manyWebPFrames() throws {
        // Five milliseconds mean a tenth of a second, 70,000 need the third byte.
        let times = (0..<20_000).map { [20, 5, 70_000, 300][$0 % 4] }
        let info = try ImageInfo(data: animation(times))
        #expect(info.frameCount == 20_000 && info.loopCount == 2)
        #expect(abs((info.duration ?? 0) - 5000 * (0.02 + 0.1 + 70 + 0.3)) < 1e-3)
    }

    @Test("A truncated WebP has the frames that are there") func truncatedWebP() throws {
        let data = try animation([100, 200, 300])
        let last = try #require(data.range(of: Data("ANMF".utf8), options: .backwards)).lowerBound
        // Within the name, the length, the frame's header; then within the image, which counts.
        for end in [last, last + 3, last + 8, last + 20] {
            let info = try ImageInfo(data: data.prefix(end))
            #expect(info.frameCount == 2 && abs((info.duration ?? 0) - 0.3) < 1e-9)
        }
        #expect(try ImageInfo(data: data.dropLast(2)).frameCount == 3)
    }

    @Test("No frame is counted behind a WebP chunk that is longer than the file") func oversizedWebPChunk() throws {
        var data = try animation([100, 200, 300])
        let second = try #require(data.range(of: Data("ANMF".utf8), in: 60..<data.count)).lowerBound
        for offset in 4..<8 { data[second + offset] = 0xFF }
        #expect((try? ImageInfo(data: data).frameCount) ?? 0 <= 2)
    }

    @Test("The header is enough, without pixels") func headersOnly() throws {
        let bomb = try ImageInfo(data: fixture("bomb.png"))
        #expect(bomb.pixelWidth == 60_000 && bomb.pixelHeight == 60_000)
        let headOnly = try ImageInfo(data: fixture("photo.jpg").prefix(700))
        #expect(headOnly.pixelWidth == 96)
    }

    @Test("Information survives encoding and decoding") func coding() throws {
        let info = try ImageInfo(data: fixture("animated.webp"))
        #expect(try JSONDecoder().decode(ImageInfo.self, from: JSONEncoder().encode(info)) == info)
    }
}

@Suite struct SniffingTests {
    private func box(_ brand: String, _ compatible: [String] = []) -> Data {
        let size = UInt8(16 + compatible.count * 4)
        return Data([0, 0, 0, size] + Array(("ftyp" + brand).utf8) + [0, 0, 0, 0] + Array(compatible.joined().utf8))
    }

    @Test(
        "Formats made of boxes are recognised by their brand",
        arguments: [
            ("heic", ImageContentType.heic), ("heix", .heic), ("hevc", .heic), ("mif1", .heif), ("msf1", .heif),
            ("avif", .avif), ("avis", .avif), ("isom", .mp4), ("mp42", .mp4), ("M4V ", .m4v), ("qt  ", .mov),
        ]
    )
    func brands(brand: String, type: ImageContentType) {
        #expect(ImageContentType(sniffing: box(brand)) == type)
    }

    @Test("After a general brand the compatible brands decide") func generalBrands() {
        #expect(ImageContentType(sniffing: box("mif1", ["miaf", "avif"])) == .avif)
        #expect(ImageContentType(sniffing: box("mif1", ["heic"])) == .heic)
        #expect(ImageContentType(sniffing: box("zzzz")) == nil)
    }

    @Test(
        "Formats are recognised by their first bytes",
        arguments: [
            ([0x49, 0x49, 0x2A, 0x00], ImageContentType.tiff), ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
            ([0x49, 0x49, 0x2B, 0x00, 0x08, 0x00, 0x00, 0x00], .tiff),
            ([0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08, 0x00, 0x00], .tiff),
            ([0xFF, 0x0A], .jxl), ([0xFF, 0x4F, 0xFF, 0x51], .jp2),
            ([0x25, 0x50, 0x44, 0x46], .pdf),
        ]
    )
    func signatures(bytes: [UInt8], type: ImageContentType) {
        #expect(ImageContentType(sniffing: Data(bytes)) == type)
    }

    @Test("SVG is text with an opening and a closing tag") func svgSniffing() {
        #expect(ImageContentType(sniffing: Data("<svg xmlns='x'><path/></svg>\n".utf8)) == .svg)
        #expect(ImageContentType(sniffing: Data("\u{FEFF} \r\n<svg></svg>".utf8)) == .svg)
        #expect(ImageContentType(sniffing: Data("text <svg></svg>".utf8)) == nil)
        #expect(ImageContentType(sniffing: Data("<html></html>".utf8)) == nil)
        #expect(ImageContentType(sniffing: Data()) == nil)
        #expect(ImageContentType(sniffing: Data("<".utf8)) == nil)
    }

    @Test("Slices of data are read from their first byte") func slices() throws {
        let data = Data([1, 2, 3]) + (try fixture("photo.png"))
        #expect(ImageContentType(sniffing: data.dropFirst(3)) == .png)
        #expect(try Codecs.decode(data.dropFirst(3)).pixelWidth == 96)
        #expect(ImageFormat(sniffing: data.dropFirst(3)) == .PNG)
    }

    @Test("File name extensions map to types and back") func fileExtensions() {
        #expect(ImageContentType(fileExtension: "JPEG") == .jpeg)
        #expect(ImageContentType(fileExtension: "doc") == nil)
        #expect(ImageContentType.jpeg.preferredFileExtension == "jpg")
        #expect(ImageContentType(rawValue: "my.own").preferredFileExtension == nil)
    }

    @Test("The four image formats need more than eight bytes") func imageFormats() throws {
        let signature = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(ImageFormat(sniffing: signature) == .unknown)
        #expect(ImageFormat(sniffing: signature + [0]) == .PNG)
        #expect(ImageFormat(sniffing: try fixture("photo.jpg")) == .JPEG)
        #expect(ImageFormat(sniffing: Data("GIF??????".utf8)) == .GIF)
        #expect(ImageFormat(sniffing: try fixture("photo.webp")) == .unknown)
    }
}
