// The segments at the beginning of a JPEG whose bytes are all there: found, left out, added. For gain maps.

import Foundation

/// The segments of a JPEG before its first scan.
struct JPEGSegments {
    /// One segment.
    struct Segment {
        /// The second byte of its marker.
        let marker: UInt8
        /// The marker, the length and the content.
        let range: Range<Data.Index>
        /// The content alone.
        var content: Range<Data.Index> { range.lowerBound + 4..<range.upperBound }
        /// Whether it is one of those that programs put their own data into (`APP0` to `APP15`).
        var isApplicationData: Bool { 0xE0...0xEF ~= marker }
    }

    /// So many segments, and bytes between them, are looked at.
    ///
    /// A file has a dozen or two; profiles, which are cut into parts, may have 255.
    private static let most = 1_000

    let data: Data
    let list: [Segment]
    /// Where the first scan begins.
    let end: Data.Index

    /// Nil for bytes that are no JPEG, or end before the first scan.
    init?(_ data: Data) {
        guard data.starts(with: [0xFF, 0xD8]) else { return nil }
        var (list, place) = ([Segment](), data.startIndex + 2)
        for _ in 0..<Self.most {
            guard data.endIndex - place >= 4, data[place] == 0xFF else { return nil }
            let marker = data[place + 1]
            switch marker {
            // A byte that fills up the room before a marker.
            case 0xFF: place += 1
            case 0x00, 0x01, 0xD0...0xD9: return nil
            case 0xDA:
                (self.data, self.list, end) = (data, list, place)
                return
            default:
                let length = Int(data[place + 2]) << 8 | Int(data[place + 3])
                guard length >= 2, length <= data.endIndex - place - 2 else { return nil }
                list.append(Segment(marker: marker, range: place..<place + 2 + length))
                place += 2 + length
            }
        }
        return nil
    }

    /// The contents of the segments of a marker that begin with a signature, without it.
    func contents(of marker: UInt8, _ signature: Data) -> [Data] {
        list.filter { $0.marker == marker && data[$0.content].starts(with: signature) }
            .map { data[$0.content].dropFirst(signature.count) }
    }

    /// The size of the image and the number of its components; nil for other than 8 bits, and for no pixels.
    var frame: (size: PixelSize, components: Int)? {
        guard let segment = list.first(where: { Self.isFrame($0.marker) }), segment.content.count >= 6 else {
            return nil
        }
        let numbers = data[segment.content].prefix(6).map { Int($0) }
        let (height, width) = (numbers[1] << 8 | numbers[2], numbers[3] << 8 | numbers[4])
        guard numbers[0] == 8, width > 0, height > 0 else { return nil }
        return (PixelSize(width, height), numbers[5])
    }

    /// Huffman tables, a reserved code and arithmetic conditioning lie between the markers of frames.
    private static func isFrame(_ marker: UInt8) -> Bool {
        0xC0...0xCF ~= marker && ![0xC4, 0xC8, 0xCC].contains(marker)
    }

    /// The file without what says anything but how it is decoded.
    var withoutMetadata: Data {
        // JFIF and Adobe's marker tell which colours the components are.
        let kept = list.filter { $0.isApplicationData ? [0xE0, 0xEE].contains($0.marker) : $0.marker != 0xFE }
        return kept.reduce(into: Data([0xFF, 0xD8])) { $0 += data[$1.range] } + data[end...]
    }

    /// Where more application data is put: behind what is there.
    var place: Data.Index {
        list.prefix { $0.isApplicationData }.last?.range.upperBound ?? data.startIndex + 2
    }

    /// The file with more segments.
    func adding(_ segments: Data) -> Data { data[..<place] + segments + data[place...] }

    /// The bytes of a segment; nil where the content is longer than 65,533 bytes.
    static func segment(_ marker: UInt8, _ content: Data) -> Data? {
        let length = content.count + 2
        guard length <= 0xFFFF else { return nil }
        return Data([0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)]) + content
    }
}
