// A block of EXIF data for tests, put into a JPEG.

import Foundation

/// An EXIF block: a maker, an orientation of 6, a date, a maker's notes, a location and a thumbnail.
struct SampleEXIF {
    let isLittleEndian: Bool

    /// Every directory has so many bytes for itself and its values.
    private static let room = 200

    func short(_ tag: Int, _ value: Int) -> [UInt8] { number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) }

    var block: [UInt8] {
        let places = (0..<4).map { 8 + $0 * Self.room }
        let directories: [[(tag: Int, type: Int, value: [UInt8])]] = [
            [
                (0x010F, 2, Array("MakerX\0".utf8)), (0x0112, 3, number(6, 2)), (0x8769, 4, number(places[1], 4)),
                (0x8825, 4, number(places[2], 4)),
            ],
            [
                (0x9003, 2, Array("2024:05:06 07:08:09\0".utf8)), (0x927C, 7, Array("NOTES".utf8)),
                (0xA001, 3, number(2, 2)),
            ],
            [(0x0001, 2, Array("LATITUDE\0".utf8))], [(0x0201, 2, Array("THUMB\0".utf8))],
        ]
        let start = (isLittleEndian ? Array("II".utf8) : Array("MM".utf8)) + number(42, 2) + number(8, 4)
        return zip(directories, places).reduce(start) { block, part in
            block + directory(part.0, at: part.1, next: part.1 == 8 ? places[3] : 0)
        }
    }

    /// The block in a JPEG, behind its first marker.
    func added(toJPEG jpeg: Data) -> Data {
        let content = Array("Exif\0\0".utf8) + block
        let size = content.count + 2
        return jpeg.prefix(2) + [0xFF, 0xE1, UInt8(size >> 8), UInt8(size & 255)] + content + jpeg.dropFirst(2)
    }

    private func number(_ value: Int, _ size: Int) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }

    private func directory(_ fields: [(tag: Int, type: Int, value: [UInt8])], at place: Int, next: Int) -> [UInt8] {
        var (entries, values) = (number(fields.count, 2), [UInt8]())
        let start = place + 6 + 12 * fields.count
        for (tag, type, value) in fields {
            let size = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1][type] ?? 1
            entries += number(tag, 2) + number(type, 2) + number(value.count / size, 4)
            if value.count > 4 {
                entries += number(start + values.count, 4)
                values += value
            } else {
                entries += value + Array(repeating: 0, count: 4 - value.count)
            }
        }
        let all = entries + number(next, 4) + values
        return all + Array(repeating: 0, count: Self.room - all.count)
    }
}
