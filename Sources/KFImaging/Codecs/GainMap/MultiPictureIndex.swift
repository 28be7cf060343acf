// The index of the images in a JPEG file that holds several (CIPA DC-007, Multi-Picture Format). For gain maps.

import Foundation

/// Where the images of a file lie.
enum MultiPictureIndex {
    /// What its segment, an `APP2`, begins with.
    static let signature = Data("MPF\0".utf8)
    /// So many images are looked at; cameras write two to five.
    private static let most = 16
    /// The fields of its directory.
    private static let (version, count, entries) = (0xB000, 0xB001, 0xB002)
    /// A JPEG that stands alone, and is shown by programs that know of no other.
    private static let primaryImage = 0x03_0000

    /// The images behind the first one, in the order of the index.
    ///
    /// - Parameter segments: Those of the first image.
    /// - Returns: The bytes of each. Left out are those that are empty, reach beyond the file, or do not lie behind the
    ///   first image, whose length the index names, too.
    static func otherImages(_ segments: JPEGSegments) -> [Data] {
        let data = segments.data
        guard let index = segments.contents(of: 0xE2, signature).first, let block = EXIFCopy(index),
            let field = block.number(4, 4).map(block.allFields)?.first(where: { $0.tag == entries && $0.type == 7 })
        else { return [] }
        let images = (0..<min(field.value.count / 16, most)).map { index -> (length: Int, offset: Int) in
            func number(_ place: Int) -> Int {
                block.number(of: field.value[index * 16 + place..<index * 16 + place + 4])
            }
            return (number(4), number(8))
        }
        guard let first = images.first, first.length > segments.end - data.startIndex, first.length <= data.count else {
            return []
        }
        return images.dropFirst().compactMap { length, offset in
            // Offsets count from the byte order that the index begins with.
            let start = index.startIndex - data.startIndex + offset
            guard length > 0, start >= first.length, start <= data.count - length else { return nil }
            return data.dropFirst(start).prefix(length)
        }
    }

    /// The content of the segment for two images, the second one right behind the first.
    ///
    /// - Parameters:
    ///   - lengths: Their bytes.
    ///   - place: Where in the file the content begins.
    /// - Returns: The bytes, whose number is always the same.
    static func content(lengths: (Int, Int), at place: Int) -> Data {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func field(_ tag: Int, type: Int, count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }
        func entry(_ kind: Int, length: Int, offset: Int) -> [UInt8] {
            number(kind, 4) + number(length, 4) + number(offset, 4) + number(0, 4)
        }
        let header = Array("MM".utf8) + number(42, 2) + number(8, 4) + number(3, 2)
        let end = header.count + 3 * 12 + 4
        let directory =
            field(version, type: 7, count: 4, Array("0100".utf8)) + field(count, type: 4, count: 1, number(2, 4))
            + field(entries, type: 7, count: 32, number(end, 4)) + number(0, 4)
        let images =
            entry(primaryImage, length: lengths.0, offset: 0)
            + entry(0, length: lengths.1, offset: lengths.0 - place - signature.count)
        return signature + header + directory + images
    }
}
