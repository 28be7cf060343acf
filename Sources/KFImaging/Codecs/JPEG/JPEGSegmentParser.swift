// The segments of a JPEG, found while its bytes arrive. Decodes none of them.

import Foundation

/// An incremental parser of the segments of a JPEG, which goes on where it stopped when more bytes come.
///
/// Segments are skipped by their length, so that what looks like a marker inside of one – in the thumbnail of an EXIF
/// block, say – is not taken for one.
package struct JPEGSegmentParser: Sendable {
    /// An event that the parser reports.
    package enum Event: Equatable, Sendable {
        /// A marker: the second of its two bytes.
        case marker(UInt8)
        /// The end of the segment that a marker began, and the first byte of its content.
        ///
        /// Markers that stand alone have none.
        case segment(UInt8, first: UInt8?)
    }

    private enum Place {
        case betweenSegments
        case afterFF
        case length(UInt8)
        case secondLength(UInt8, Int)
        case inside(UInt8, first: UInt8?, left: Int)
        case entropyCoded
        case entropyCodedFF
    }
    private var place = Place.betweenSegments

    package init() {}

    /// Parses bytes that follow those of the last call, as long as `visit` returns true.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes, as many as there are.
    ///   - visit: Called with every event; returns whether to go on.
    /// - Returns: How many bytes were parsed.
    @discardableResult
    package mutating func parse(_ bytes: UnsafeRawBufferPointer, visit: (Event) -> Bool) -> Int {
        var index = 0
        while index < bytes.count {
            if case .entropyCoded = place {
                index = Self.firstFF(in: bytes, from: index)
                guard index < bytes.count else { break }
                place = .entropyCodedFF
                index += 1
                continue
            }
            if case .inside(let marker, let first, let left) = place {
                let taken = min(left, bytes.count - index)
                place = .inside(marker, first: first ?? bytes[index], left: left - taken)
                index += taken
            } else {
                let event = step(bytes[index])
                index += 1
                if let event, !visit(event) { return index }
            }
            if let event = segmentEnd(), !visit(event) { return index }
        }
        return index
    }

    /// One byte where every byte matters.
    private mutating func step(_ byte: UInt8) -> Event? {
        switch place {
        case .betweenSegments:
            // Bytes that are no marker here are garbage, which decoders skip as well.
            if byte == 0xFF { place = .afterFF }
        case .afterFF: return marker(byte, elseIn: .betweenSegments)
        case .entropyCodedFF: return marker(byte, elseIn: .entropyCoded)
        case .length(let marker): place = .secondLength(marker, Int(byte) << 8)
        case .secondLength(let marker, let high):
            place = .inside(marker, first: nil, left: max(high + Int(byte) - 2, 0))
        case .entropyCoded, .inside: break
        }
        return nil
    }

    /// The byte after FF: a marker, a fill byte, or – a zero, a restart – nothing of interest in the scan's data.
    private mutating func marker(_ byte: UInt8, elseIn around: Place) -> Event? {
        let isInScan = if case .entropyCoded = around { true } else { false }
        switch byte {
        case 0xFF: return nil
        case 0x00:
            place = around
            return nil
        case 0xD0...0xD7, 0xD8, 0xD9, 0x01:
            place = isInScan && byte != 0xD9 ? around : .betweenSegments
        default:
            place = .length(byte)
        }
        return .marker(byte)
    }

    /// The event of a segment whose last byte has been passed.
    private mutating func segmentEnd() -> Event? {
        guard case .inside(let marker, let first, 0) = place else { return nil }
        place = marker == 0xDA ? .entropyCoded : .betweenSegments
        return .segment(marker, first: first)
    }

    private static func firstFF(in bytes: UnsafeRawBufferPointer, from index: Int) -> Int {
        guard let base = bytes.baseAddress, let found = memchr(base + index, 0xFF, bytes.count - index) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - base
    }
}

/// The frame header of a JPEG, which says how it is coded.
package struct JPEGFrameHeader: Equatable, Sendable {
    /// The second byte of the frame header's marker: C0 is baseline, C2 progressive.
    package let marker: UInt8
    /// Bits a component.
    package let precision: UInt8

    package init?(_ event: JPEGSegmentParser.Event) {
        guard case .segment(let marker, let first?) = event, 0xC0...0xCF ~= marker else { return nil }
        // Huffman tables, a reserved code and arithmetic conditioning lie between.
        guard marker != 0xC4, marker != 0xC8, marker != 0xCC else { return nil }
        self.marker = marker
        precision = first
    }

    /// Whether the image comes in scans, each of which makes it better.
    package var isProgressive: Bool { marker == 0xC2 }

    /// Why images of this kind cannot be decoded; nil when they can.
    var refusal: String? {
        switch marker {
        case 0xC3, 0xC7, 0xCB, 0xCF: "lossless JPEG; save the image as PNG, or as an ordinary JPEG"
        case 0xC5, 0xC6, 0xCD, 0xCE: "hierarchical JPEG; save the image as an ordinary JPEG"
        default:
            precision == 8
                ? nil : "\(precision) bits a component; save the image with 8 bits a component, or as 16-bit PNG"
        }
    }

    /// Throws when data is of a kind that cannot be decoded; data that is no JPEG at all is left to the decoder.
    static func check(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var frame: JPEGFrameHeader?
        var segments = JPEGSegmentParser()
        segments.parse(bytes) { event in
            frame = JPEGFrameHeader(event)
            return frame == nil && event != .marker(0xDA)
        }
        if let refusal = frame?.refusal { throw .unsupported(.jpeg, detail: refusal) }
    }
}
