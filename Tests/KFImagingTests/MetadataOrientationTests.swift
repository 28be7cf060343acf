// Where formats say how they are turned: EXIF with every type of number, profiles in text, and XMP.

import Foundation
import KFImaging
import Testing

/// A number, the highest byte first.
private func bigEndian(_ value: Int, _ count: Int) -> Data { Data(littleEndian(value, count).reversed()) }

/// An EXIF block whose only tag is the orientation, as a number of some type.
private func exif(_ orientation: Int, type: Int, isLittleEndian: Bool) -> Data {
    func number(_ value: Int, _ count: Int) -> Data {
        isLittleEndian ? littleEndian(value, count) : bigEndian(value, count)
    }
    let size = [1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4][type] ?? 2
    let value = number(orientation, size) + Data(count: 4 - size)
    let entry = number(0x0112, 2) + number(type, 2) + number(1, 4) + value
    return Data((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(1, 2) + entry
        + number(0, 4)
}

private func xmp(_ property: String) -> Data {
    Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF>\(property)</rdf:RDF></x:xmpmeta>".utf8)
}

/// Hexadecimal digits of a profile, as ImageMagick writes them.
private func profile(_ kind: String, _ bytes: Data) -> [UInt8] {
    let digits = bytes.map { String(format: "%02x", $0) }.joined()
    let lines = stride(from: 0, to: digits.count, by: 72).map { String(digits.dropFirst($0).prefix(72)) }
    return Array(("\n\(kind)\n      \(bytes.count)\n" + lines.joined(separator: "\n") + "\n").utf8)
}

private func jpeg(_ segments: Data...) throws -> Data {
    let photo = try fixture("photo.jpg")
    var file = photo.prefix(2)
    for segment in segments { file += [0xFF, 0xE1] + bigEndian(segment.count + 2, 2) + segment }
    return file + photo.dropFirst(2)
}

private func png(_ chunks: [UInt8]) -> Data {
    var writer = PNGWriter(6, 4) { x, y, _ in x * 20 + y }
    writer.chunks = chunks
    return writer.data
}

private func webp(_ name: String, _ content: Data, flag: UInt8) throws -> Data {
    let image = try Codecs.encode(Image(cgImage: .solid(0xFF10_2030, 6, 4)), as: .webp, lossless: true).dropFirst(12)
    let header = Data("VP8X".utf8) + littleEndian(10) + [flag, 0, 0, 0] + littleEndian(5, 3) + littleEndian(3, 3)
    let chunk = Data(name.utf8) + littleEndian(content.count) + content + Data(count: content.count % 2)
    let all = Data("WEBP".utf8) + header + image + chunk
    return Data("RIFF".utf8) + littleEndian(all.count) + all
}

private func orientation(_ data: Data) throws -> Int {
    let info = try ImageInfo(data: data)
    #expect(try Codecs.decode(data).imageOrientation == info.orientation)
    return info.orientation.exif
}

@Suite struct MetadataOrientationTests {
    private let jpegSignature = Data("Exif\0\0".utf8)
    private let xmpSignature = Data("http://ns.adobe.com/xap/1.0/\0".utf8)

    @Test("EXIF may give the orientation as an integer of any type", arguments: [1, 3, 4, 6, 8, 9], [false, true])
    func integerTypes(type: Int, isLittleEndian: Bool) throws {
        let block = exif(6, type: type, isLittleEndian: isLittleEndian)
        #expect(try orientation(jpeg(jpegSignature + block)) == 6)
        #expect(try orientation(png(PNGWriter.chunk("eXIf", Array(block)))) == 6)
        #expect(try orientation(webp("EXIF", block, flag: 8)) == 6)
    }

    @Test("Numbers that are no integers, or no orientation, are ignored")
    func otherNumbers() throws {
        #expect(try orientation(jpeg(jpegSignature + exif(6, type: 2, isLittleEndian: true))) == 1)
        for number in [0, 9, 255] {
            #expect(try orientation(jpeg(jpegSignature + exif(number, type: 4, isLittleEndian: false))) == 1)
        }
    }

    @Test(
        "XMP gives the orientation as an attribute or as an element",
        arguments: [
            "<rdf:Description tiff:Orientation=\"6\"/>", "<rdf:Description tiff:Orientation = '6'></rdf:Description>",
            "<tiff:Orientation>6</tiff:Orientation>", "<tiff:Orientation/><tiff:Orientation>\n6\n</tiff:Orientation>",
        ]
    )
    func packets(property: String) throws {
        let packet = xmp(property)
        #expect(try orientation(jpeg(xmpSignature + packet)) == 6)
        #expect(try orientation(webp("XMP ", packet, flag: 4)) == 6)
        let plain = Array("XML:com.adobe.xmp".utf8) + [0, 0, 0, 0, 0] + packet
        #expect(try orientation(png(PNGWriter.chunk("iTXt", plain))) == 6)
        let begin = Array("XML:com.adobe.xmp\0\u{1}\0en\0\0".utf8)
        let packed = begin + PNGWriter.stored(Array(packet))
        #expect(try orientation(png(PNGWriter.chunk("iTXt", packed))) == 6)
    }

    @Test("EXIF takes precedence over XMP, unless it has no orientation")
    func precedence() throws {
        let packet = xmp("<tiff:Orientation>6</tiff:Orientation>")
        func both(_ block: Data) throws -> Int { try orientation(jpeg(xmpSignature + packet, jpegSignature + block)) }
        #expect(try both(exif(3, type: 3, isLittleEndian: true)) == 3)
        #expect(try both(exif(1, type: 3, isLittleEndian: true)) == 1)
        #expect(try both(exif(0, type: 3, isLittleEndian: true)) == 6)
        #expect(try orientation(jpeg(xmpSignature + xmp("<tiff:OrientationX>6</tiff:OrientationX>"))) == 1)
    }

    @Test("PNG may have EXIF as a profile in text", arguments: ["exif", "APP1"])
    func profiles(kind: String) throws {
        let text = profile(kind, jpegSignature + exif(8, type: 3, isLittleEndian: false))
        let keyword = Array("Raw profile type \(kind)\0".utf8)
        let packed = PNGWriter.stored(text)
        #expect(try orientation(png(PNGWriter.chunk("tEXt", keyword + text))) == 8)
        #expect(try orientation(png(PNGWriter.chunk("zTXt", keyword + [0] + packed))) == 8)
        #expect(try orientation(png(PNGWriter.chunk("iTXt", keyword + [0, 0, 0, 0] + text))) == 8)
        #expect(try orientation(png(PNGWriter.chunk("iTXt", keyword + [1, 0, 0, 0] + packed))) == 8)
        // A chunk of EXIF counts more, wherever it is.
        let chunk = PNGWriter.chunk("eXIf", Array(exif(3, type: 3, isLittleEndian: true)))
        #expect(try orientation(png(PNGWriter.chunk("tEXt", keyword + text) + chunk)) == 3)
    }

    @Test("Text that is damaged, or too long, says no orientation")
    func badText() throws {
        let keyword = Array("Raw profile type exif\0".utf8)
        let text = profile("exif", exif(8, type: 3, isLittleEndian: true))
        let packed = PNGWriter.stored(text)
        let contents: [[UInt8]] = [
            [], [0], [0] + Array(packed.prefix(packed.count - 30)), [0, 0x78, 0x9C, 0xFF, 0xFF],
        ]
        for content in contents {
            #expect(try orientation(png(PNGWriter.chunk("zTXt", keyword + content))) == 1)
        }
        let long = text + [UInt8](repeating: 0x0A, count: 1 << 20)
        #expect(try orientation(png(PNGWriter.chunk("zTXt", keyword + [0] + PNGWriter.stored(long)))) == 1)
        #expect(try orientation(png(PNGWriter.chunk("tEXt", keyword + long))) == 1)
        #expect(try orientation(png(PNGWriter.chunk("iTXt", keyword + [0, 0] + Array("en".utf8)))) == 1)
        #expect(try orientation(png(PNGWriter.chunk("tEXt", Array(keyword.dropLast())))) == 1)
        #expect(try orientation(png(PNGWriter.chunk("tEXt", keyword + Array("\nexif\n 3\n4d4".utf8)))) == 1)
    }
}
