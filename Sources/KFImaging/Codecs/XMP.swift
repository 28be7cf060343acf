// The one property of XMP that changes how an image looks: its orientation, for images whose EXIF has none.

import Foundation

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
