// JPEG XL whose image is made of several frames, of any size, or lies in several pieces.

#if JXL
import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct JXLFramesTests {
    private let small = Frame(width: 64, height: 64)

    @Test("The files that these tests write can be decoded") func handmadeFiles() throws {
        let kept = Frame(width: 200, height: 100, isShown: false)
        for frames in [[small], [kept, small], [kept, kept, small]] {
            #expect(try Codecs.decode(file(frames)).pixelWidth == 64)
        }
    }

    @Test("Channels besides colours are left out") func extraChannels() throws {
        #expect(try Codecs.decode(file([small], channels: 10)).pixelWidth == 64)
    }

    @Test("In a decoder, files that take gigabytes or end libjxl cost no more than their image") func bombs() throws {
        var limits = ImageDecodingLimits(maxPixelCount: 1 << 20)
        limits.isolation = .required
        let options = DecodingOptions(limits: limits)
        let expected = try Codecs.decode(file([small])).bitmap()
        let hidden = Frame(width: 1 << 14, height: 1 << 14, isShown: false)
        let profile = file([small], announcedSize: 1 << 34)
        for bomb in [file([hidden, small]), file([Frame(width: 1 << 14, height: 1 << 14, enlargement: 3)]), profile] {
            _ = try? Codecs.decode(bomb, options: options)
            #expect(try Codecs.decode(file([small]), options: options).bitmap().likeness(to: expected) == .infinity)
        }
        let whole = file([Frame(width: 1100, height: 1030, isShown: false), small])
        var generator = SeededGenerator(state: 11)
        for _ in 0..<100 {
            var broken = whole
            for _ in 0..<3 {
                let place = Int.random(in: 2..<whole.count, using: &generator)
                broken[place] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? Codecs.decode(broken, options: options)
        }
        #expect(try Codecs.decode(file([small]), options: options).bitmap().likeness(to: expected) == .infinity)
    }

    @Test("The codestream may lie in boxes and in several pieces") func boxedCodestream() throws {
        func box(_ type: String, _ content: Data) -> Data {
            let size = UInt32(content.count + 8)
            return Data((0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(type.utf8)) + content
        }
        let stream = file([Frame(width: 1100, height: 1030, isShown: false), small])
        let head = box("JXL ", Data([13, 10, 0x87, 10])) + box("ftyp", Data("jxl \0\0\0\0jxl ".utf8))
        let pieces =
            box("jxlp", Data([0, 0, 0, 0]) + stream.prefix(12)) + box("Exif", Data(count: 9))
            + box("jxlp", Data([0x80, 0, 0, 1]) + stream.dropFirst(12))
        for data in [head + box("jxlc", stream), head + pieces] {
            #expect(try Codecs.decode(data).pixelWidth == 64)
            for count in 0..<data.count { _ = try? Codecs.decode(data.prefix(count)) }
        }
    }
}

/// A frame of one colour, coded without loss.
private struct Frame {
    var width: Int
    var height: Int
    var isShown = true
    /// The one of four slots that keeps the frame.
    var place = 1
    /// The exponent of the power of two by which it is enlarged.
    var enlargement = 0
}

/// An image of 64 × 64 pixels made of the frames, by ISO/IEC 18181-1.
private func file(_ frames: [Frame], channels: Int = 0, profileSize: Int? = nil, announcedSize: Int? = nil) -> Data {
    var head = BitWriter()
    head.put(0x0aff, 16)
    // Small: 8 · (7 + 1) pixels a side.
    for (value, count) in [(1, 1), (7, 5), (0, 3), (7, 5)] { head.put(value, count) }
    // No optional parts; integers of 8 bits, and 16 bits are enough for all steps.
    for (value, count) in [(0, 1), (0, 1), (0, 1), (0, 2), (1, 1)] { head.put(value, count) }
    if channels == 0 { head.put(0, 2) } else { head.put(3, 2); head.put(channels - 1, 12) }
    // Each about depth, of 8 bits, in full size, without a name.
    for _ in 0..<channels {
        for (value, count) in [(0, 1), (1, 2), (0, 1), (0, 2), (0, 2), (0, 2)] { head.put(value, count) }
    }
    // Coded as they are, in sRGB or by a profile of RGB; no extensions, no other matrices.
    head.put(0, 1)
    if profileSize == nil && announcedSize == nil { head.put(1, 1) } else { head.put(0b0010, 4) }
    for (value, count) in [(0, 2), (1, 1)] { head.put(value, count) }
    if let announcedSize { head.putLong(announcedSize) }
    if let profileSize { head.putProfile(profileSize) }
    return frames.reduce(head.data) { $0 + bytes($1, channels) }
}

private func bytes(_ frame: Frame, _ channels: Int) -> Data {
    var header = BitWriter()
    // Modular, no features, no YCbCr.
    for (value, count) in [(0, 1), (frame.isShown ? 0 : 2, 2), (1, 1), (0, 2), (0, 1)] { header.put(value, count) }
    for _ in 0...channels { header.put(frame.enlargement, 2) }
    // Groups of 1024 pixels; one pass; a size of its own, at the origin.
    header.put(3, 2)
    if frame.isShown { header.put(0, 2) }
    header.put(1, 1)
    if frame.isShown { header.put(0, 2 + 8); header.put(0, 2 + 8) }
    header.putLength(frame.width)
    header.putLength(frame.height)
    if frame.isShown {
        for _ in 0...channels { header.put(0, 2) }
        header.put(1, 1)
    } else {
        header.put(frame.place, 2)
        header.put(1, 1)
    }
    // No name, no filters, no extensions; the sections are in order.
    for (value, count) in [(0, 2), (0, 1), (0, 1), (0, 2), (0, 2), (0, 2), (0, 1)] { header.put(value, count) }
    header.align()
    func parts(_ length: Int, _ part: Int) -> Int { (length + part - 1) / part }
    let (width, height) = (parts(frame.width, 1 << frame.enlargement), parts(frame.height, 1 << frame.enlargement))
    let groups = parts(width, 1024) * parts(height, 1024)
    let coarse = parts(width, 8192) * parts(height, 8192)
    var sections = [Data]()
    if groups == 1 {
        sections = [section(isGlobal: true, hasPixels: true)]
    } else {
        sections = [section(isGlobal: true, hasPixels: false)] + Array(repeating: Data(), count: coarse + 1)
        sections += Array(repeating: section(isGlobal: false, hasPixels: true), count: groups)
    }
    for section in sections { header.put(section.count << 2, 12) }
    return sections.reduce(header.data, +)
}

/// A section whose numbers are all zero, with a tree of one leaf: codes of one symbol take no bits.
private func section(isGlobal: Bool, hasPixels: Bool) -> Data {
    var writer = BitWriter()
    // Usual factors, no tree for all; then: no such tree used, usual weights, no transforms.
    if isGlobal { writer.put(1, 2) }
    writer.put(2, 4)
    guard hasPixels else { return writer.data }
    // No repeats, (one code for all contexts,) prefix codes, numbers as they are, one symbol.
    for (value, count) in [(0, 1), (1, 3), (1, 1), (0, 4), (0, 1), (0, 1), (1, 1), (0, 4), (0, 1)] {
        writer.put(value, count)
    }
    return writer.data
}

private struct BitWriter {
    private(set) var data = Data()
    private var position = 0

    mutating func put(_ value: Int, _ count: Int) {
        for bit in 0..<count {
            if position % 8 == 0 { data.append(0) }
            data[position / 8] |= UInt8(value >> bit & 1) << UInt8(position % 8)
            position += 1
        }
    }

    mutating func putLength(_ length: Int) {
        switch length {
        case ..<256: put(length << 2, 10)
        case ..<2304: put((length - 256) << 2 | 1, 13)
        case ..<18688: put((length - 2304) << 2 | 2, 16)
        default: put((length - 18688) << 2 | 3, 32)
        }
    }

    /// Writes a number of 36 bits.
    mutating func putLong(_ value: Int) {
        put(3, 2)
        put(value, 12)
        for shift in [12, 20, 28] { put((value >> shift) << 1 | 1, 9) }
        put(0, 1)
    }

    /// Writes a profile of a size, which is zero behind the usual beginning, in the longest possible coding.
    mutating func putProfile(_ size: Int) {
        func short(_ value: Int) -> [Int] { value < 128 ? [value] : [value & 127 | 128, value >> 7] }
        // No list of tags; as many bytes as follow the first 128.
        let commands = [0, 1] + short(size - 128)
        let bytes = short(size) + [commands.count] + commands + Array(repeating: 0, count: size)
        putLong(bytes.count)
        // No repeats, one code for all contexts, prefix codes, numbers as they are, 256 symbols.
        for (value, count) in [(0, 1), (1, 3), (1, 1), (15, 4), (1, 1), (7, 4), (127, 7)] { put(value, count) }
        // Symbols' lengths have one code, of eight; it is the eleventh of eighteen.
        put(0, 2)
        for index in 0..<18 { put(index == 10 ? 2 : 0, 2) }
        for byte in bytes {
            for bit in 0..<8 { put(byte >> (7 - bit) & 1, 1) }
        }
    }

    mutating func align() { position = data.count * 8 }
}
#endif
