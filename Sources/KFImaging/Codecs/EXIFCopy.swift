// A copy of an EXIF block for an image that was processed: without what is no longer true, or would give away more than
// was asked for. `kf --keep exif` uses it.

package import Foundation

/// The directories of an EXIF block.
package struct EXIFCopy {
    /// One field of a directory.
    struct Field {
        let tag: Int
        let type: Int
        let count: Int
        /// In the byte order of the block.
        var value: [UInt8]
    }

    /// The bytes of one value, by type.
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8]
    private static let (orientation, colorSpace) = (0x0112, 0xA001)
    static let (details, location) = (0x8769, 0x8825)
    /// The fields that are left out: sizes and places of other pixels; blocks in formats of their own, which may tell
    /// the location too (XMP, IPTC, Photoshop); a maker's notes, which break when they are moved; other directories.
    private static let dropped: Set = [
        0x0100, 0x0101, 0x0111, 0x0117, 0x0144, 0x0145, 0x014A, 0x0201, 0x0202, 0xA002, 0xA003, 0x02BC, 0x83BB, 0x8649,
        0x8773, 0x927C, 0xA005, details, location,
    ]

    private let bytes: [UInt8]
    private let isLittleEndian: Bool

    /// Nil for bytes that are no EXIF block.
    package init?(_ block: Data) {
        var bytes = [UInt8](block)
        // The introduction that JPEG needs.
        if bytes.starts(with: Array("Exif\0\0".utf8)) { bytes.removeFirst(6) }
        switch bytes.prefix(4) {
        case [0x49, 0x49, 0x2A, 0]: isLittleEndian = true
        case [0x4D, 0x4D, 0, 0x2A]: isLittleEndian = false
        default: return nil
        }
        self.bytes = bytes
    }

    /// The block for an sRGB image, without thumbnail.
    ///
    /// - Parameters:
    ///   - keepsLocation: Whether it says where the image was taken.
    ///   - keepsOrientation: Whether it says what it said of the orientation, since the pixels are as they were stored;
    ///     else that they are upright.
    /// - Returns: The block; nil when nothing is left to say.
    package func block(keepsLocation: Bool, keepsOrientation: Bool = false) -> Data? {
        let all = number(4, 4).map(fields) ?? []
        let main = all.filter { $0.tag != Self.orientation }
        let orientation = keepsOrientation ? all.first { $0.tag == Self.orientation } : nil
        var parts = [main + [orientation ?? short(Self.orientation, 1)]]
        var pointers: [Int] = []
        for (tag, isKept) in [(Self.details, true), (Self.location, keepsLocation)] where isKept {
            guard let place = pointer(tag, among: allFields(number(4, 4) ?? 0)) else { continue }
            var part = fields(place)
            if tag == Self.details { part = part.filter { $0.tag != Self.colorSpace } + [short(Self.colorSpace, 1)] }
            guard !part.isEmpty else { continue }
            parts.append(part)
            pointers.append(tag)
        }
        guard !main.isEmpty || orientation != nil || parts.count > 1 else { return nil }
        return write(parts, pointers)
    }

    /// The block that names nothing but who made the image and has the rights to it; nil when that is not said.
    package var copyright: Data? {
        let kept = (number(4, 4).map(fields) ?? []).filter { [0x013B, 0x8298].contains($0.tag) }
        return kept.isEmpty ? nil : write([kept], [])
    }

    // MARK: Reading

    func number(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let part = bytes[offset..<offset + size]
        return number(of: part)
    }

    /// The number that some bytes of the block stand for.
    func number(of bytes: ArraySlice<UInt8>) -> Int {
        isLittleEndian ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private func fields(_ directory: Int) -> [Field] {
        allFields(directory).filter { !Self.dropped.contains($0.tag) }
    }

    /// The fields of a directory whose values are there, each tag once; no more of them than the block has room for.
    func allFields(_ directory: Int) -> [Field] {
        var (seen, room) = (Set<Int>(), bytes.count)
        return (0..<(number(directory, 2) ?? 0)).compactMap { index in
            let entry = directory + 2 + index * 12
            guard let tag = number(entry, 2), let type = number(entry + 2, 2), let count = number(entry + 4, 4),
                let size = Self.sizes[type], count <= bytes.count / size
            else { return nil }
            let length = count * size
            guard let place = length > 4 ? number(entry + 8, 4) : entry + 8, place <= bytes.count - length,
                length <= room, seen.insert(tag).inserted
            else { return nil }
            room -= length
            return Field(tag: tag, type: type, count: count, value: Array(bytes[place..<place + length]))
        }
    }

    func pointer(_ tag: Int, among fields: [Field]) -> Int? {
        guard let value = fields.first(where: { $0.tag == tag })?.value, value.count == 4 else { return nil }
        return number(of: value[...])
    }

    // MARK: Writing

    private func bytes(_ number: Int, _ size: Int) -> [UInt8] {
        let parts = (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return isLittleEndian ? parts : parts.reversed()
    }

    private func short(_ tag: Int, _ value: Int) -> Field {
        Field(tag: tag, type: 3, count: 1, value: bytes(value, 2))
    }

    /// The block of a first directory and of those that fields in it point to.
    private func write(_ parts: [[Field]], _ pointers: [Int]) -> Data {
        var parts = parts
        parts[0] += pointers.map { Field(tag: $0, type: 4, count: 1, value: bytes(0, 4)) }
        var (places, end) = ([Int](), 8)
        for part in parts {
            places.append(end)
            end += 6 + part.count * 12 + part.filter { $0.value.count > 4 }.reduce(0) { $0 + $1.value.count.evened }
        }
        for (tag, place) in zip(pointers, places.dropFirst()) {
            parts[0] = parts[0].map { field in
                var field = field
                if field.tag == tag { field.value = bytes(place, 4) }
                return field
            }
        }
        let header = self.bytes.prefix(4) + bytes(8, 4)
        return zip(parts, places).reduce(into: Data(header)) { $0 += directory($1.0, at: $1.1) }
    }

    /// A directory with its values behind it, in ascending order of tags.
    private func directory(_ fields: [Field], at place: Int) -> [UInt8] {
        var (entries, values) = (bytes(fields.count, 2), [UInt8]())
        let start = place + 6 + fields.count * 12
        for field in fields.sorted(by: { $0.tag < $1.tag }) {
            entries += bytes(field.tag, 2) + bytes(field.type, 2) + bytes(field.count, 4)
            if field.value.count > 4 {
                entries += bytes(start + values.count, 4)
                values += field.value + Array(repeating: 0, count: field.value.count.evened - field.value.count)
            } else {
                entries += field.value + Array(repeating: 0, count: 4 - field.value.count)
            }
        }
        return entries + bytes(0, 4) + values
    }
}

extension Int {
    /// The next even number: values begin at even places.
    fileprivate var evened: Int { self + self % 2 }
}
