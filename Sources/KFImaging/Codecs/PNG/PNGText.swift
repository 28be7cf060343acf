// The text chunks of a PNG that may hold its orientation: XMP, and EXIF in the form that ImageMagick gave it.

import CKFCodecs
import Foundation

/// One text chunk: a keyword, and a text that may be compressed.
struct PNGText {
    /// What a text holds that may say an orientation.
    enum Kind {
        /// EXIF, or XMP where JPEG has it, in hexadecimal digits.
        case profile
        case xmp
    }

    let keyword: String
    private let packed: UnsafeRawBufferPointer
    private let isCompressed: Bool

    /// No image has more text about itself than this before its orientation is known.
    private static let maxByteCount = 1 << 20

    /// Reads a chunk of one of the three kinds; nil when its parts are not there.
    ///
    /// - Parameters:
    ///   - content: What the chunk holds, borrowed.
    ///   - isInternational: The chunk is `iTXt`: a language and a translated keyword stand before the text.
    ///   - isCompressed: The chunk is `zTXt`, whose text always is.
    init?(_ content: UnsafeRawBufferPointer, isInternational: Bool, isCompressed: Bool) {
        guard let end = content.prefix(80).firstIndex(of: 0) else { return nil }
        keyword = String(decoding: content[..<end], as: UTF8.self)
        var rest = content[(end + 1)...]
        if isInternational {
            guard rest.count >= 2 else { return nil }
            self.isCompressed = rest[rest.startIndex] == 1
            rest = rest.dropFirst(2)
            for _ in 0..<2 {
                guard let end = rest.firstIndex(of: 0) else { return nil }
                rest = rest[(end + 1)...]
            }
        } else {
            // The method, of which there is one.
            if isCompressed { rest = rest.dropFirst() }
            self.isCompressed = isCompressed
        }
        packed = UnsafeRawBufferPointer(rebasing: rest)
    }

    /// Nil for texts that say no orientation.
    var kind: Kind? {
        switch keyword {
        case "XML:com.adobe.xmp": .xmp
        case "Raw profile type exif", "Raw profile type APP1": .profile
        default: nil
        }
    }

    /// The orientation in the text; nil when it says none.
    var orientation: Orientation? {
        switch kind {
        case .xmp: text.withUnsafeBytes { XMP.orientation($0) }
        case .profile:
            Self.profile(in: text).withUnsafeBytes { EXIF.orientation($0) ?? XMP.orientation($0) }
        case nil: nil
        }
    }

    /// The text, unpacked; empty when it cannot be, or is too long.
    private var text: [UInt8] {
        guard isCompressed else { return packed.count <= Self.maxByteCount ? Array(packed) : [] }
        return Array(unsafeUninitializedCapacity: Self.maxByteCount) { memory, count in
            count = kf_png_inflate_text(packed.start, packed.count, memory.baseAddress, memory.count)
        }
    }

    /// The bytes of a profile in text: a line with its kind, one with its length, and hexadecimal digits.
    private static func profile(in text: [UInt8]) -> [UInt8] {
        let lines = text.split(separator: 0x0A)
        let digits = lines.dropFirst(2).joined().compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count & ~1, by: 2).map { (place: Int) -> UInt8 in
            UInt8(digits[place] << 4 | digits[place + 1])
        }
    }
}
