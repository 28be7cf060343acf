// The one property of EXIF and of XMP that changes how an image looks: its orientation.

import Foundation

/// Reading of EXIF blocks.
enum EXIF {
    /// The orientation in an EXIF block (a TIFF header and its first directory); nil when there is none.
    static func orientation(_ block: UnsafeRawBufferPointer) -> Orientation? {
        var bytes = block
        // Some writers of WebP and PNG keep the introduction that JPEG needs.
        let introduction: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        if bytes.starts(with: introduction) { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(6)) }
        let isLittleEndian: Bool
        if bytes.starts(with: [0x49, 0x49, 0x2A, 0x00]) {
            isLittleEndian = true
        } else if bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2A]) {
            isLittleEndian = false
        } else {
            return nil
        }
        func number(at offset: Int, bytes size: Int) -> Int? {
            guard offset >= 0, offset + size <= bytes.count else { return nil }
            let range = bytes[offset..<offset + size]
            return isLittleEndian
                ? range.reversed().reduce(0) { $0 << 8 | Int($1) } : range.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = number(at: entry, bytes: 2) else { return nil }
            guard tag == 0x0112, let size = number(at: entry + 2, bytes: 2).flatMap(integerSize) else { continue }
            return number(at: entry + 8, bytes: size).flatMap(Orientation.init(exif:))
        }
        return nil
    }

    /// How many bytes a number of a type has; nil for types that are no integers.
    ///
    /// The standard wants two bytes without a sign, and cameras write all the others.
    private static func integerSize(ofType type: Int) -> Int? {
        switch type {
        case 1, 6: 1
        case 3, 8: 2
        case 4, 9: 4
        default: nil
        }
    }
}

/// Reading of XMP packets.
enum XMP {
    /// The value of `tiff:Orientation`, written as an attribute or as an element; nil when there is none.
    ///
    /// It is found by that name, whose prefix every writer uses, in a packet of UTF-8.
    static func orientation(_ packet: UnsafeRawBufferPointer) -> Orientation? {
        let bytes = Data(packet)
        var rest = bytes.startIndex..<bytes.endIndex
        while let name = bytes.range(of: Data("tiff:Orientation".utf8), in: rest) {
            // What stands between the name and the number in ` = "6"` and in `>6`.
            let value = bytes[name.upperBound...].drop { " \t\r\n=\"'>".utf8.contains($0) }
            if value.startIndex > name.upperBound, let digit = value.first, (0x31...0x38).contains(digit) {
                return Orientation(exif: Int(digit) - 0x30)
            }
            rest = name.upperBound..<bytes.endIndex
        }
        return nil
    }
}
