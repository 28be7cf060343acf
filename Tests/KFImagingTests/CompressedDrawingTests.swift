// Drawings in files of gzip: what is recognized as such, and what comes out of one.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@_spi(Server) @testable import KFImaging

@Suite struct CompressedDrawingTests {
    private static let drawing =
        "<svg xmlns='http://www.w3.org/2000/svg' width='6' height='4'><rect width='3' height='4'/></svg>"
    private static let text = Data(drawing.utf8)

    @Test("A drawing in one member of gzip is an SVG, in two as well", arguments: [1, 2, 3])
    func members(_ count: Int) throws {
        let length = (Self.text.count + count - 1) / count
        let parts = stride(from: 0, to: Self.text.count, by: length).map { Self.text.dropFirst($0).prefix(length) }
        let file = parts.map { Data($0).deflated(asGzip: true) }.reduce(Data(), +)
        #expect(ImageContentType(sniffing: file) == .svg)
        #expect(try CompressedDrawing.text(of: file) == Self.text)
        #if SVG
        let (plain, inflated) = try (Codecs.decode(Self.text), Codecs.decode(file))
        #expect(try inflated.bitmap().rows == plain.bitmap().rows)
        #expect(try ImageInfo(data: file).pixelWidth == 6)
        #endif
    }

    @Test("Other text in gzip is no drawing", arguments: ["plain", "<!doctype html><p>", "{\"svg\": 1}", ""])
    func others(_ text: String) throws {
        let file = Data(text.utf8).deflated(asGzip: true)
        #expect(ImageContentType(sniffing: file) == nil)
        #expect(try CompressedDrawing.text(of: file) == nil)
        #expect(file.withUnsafeBytes { NonImageContent.describe($0) } == "gzip-compressed data")
    }

    @Test("A compressed drawing that is cut off, or damaged, is an error") func damage() {
        let noise = (0..<9_000).map { _ in String(UInt64.random(in: 0 ... .max)) }.joined()
        let file = Data(Self.drawing.replacing("<rect", with: "<!-- \(noise) --><rect").utf8).deflated(asGzip: true)
        var flipped = file
        flipped[file.count - 6] ^= 1
        for bytes in [file.dropLast(), file.prefix(file.count / 2), flipped] {
            #expect(throws: ImagingError.malformed(.svg, detail: "its gzip is damaged, or cut off")) {
                try CompressedDrawing.text(of: Data(bytes))
            }
        }
    }

    @Test("A few bytes that become gigabytes are refused") func bomb() {
        let head = Data("<svg>".utf8).deflated(asGzip: true)
        let spaces = Data(repeating: 32, count: 1 << 20).deflated(asGzip: true)
        let file = (0..<100).reduce(into: head) { file, _ in file += spaces }
        #expect(throws: ImagingError.unsupported(.svg, detail: "its text is longer than 64 MiB")) {
            try CompressedDrawing.text(of: file)
        }
    }

    @Test("A file that is sent as it is has the type of gzip's bytes") func sentAsItIs() {
        #expect(Image(anyFile: Self.text.deflated(asGzip: true)).contentType == .unknown)
        #expect(Image(anyFile: Self.text).contentType == .svg)
    }
}
