// Whether a file ends too early, told by its structure; for what describes images without decoding them.

package import Foundation

extension Codecs {
    /// Whether a file ends before its image does; nil for formats whose structure is not looked at.
    ///
    /// Nothing is decoded: a file that is damaged within, or that was cut off between two frames of a GIF, is not
    /// noticed.
    package static func isTruncated(_ data: Data) -> Bool? {
        guard let type = ImageContentType(sniffing: data) else { return nil }
        return data.withUnsafeBytes { bytes in
            switch type {
            case .jpeg: isTruncatedJPEG(bytes)
            case .png: isTruncatedPNG(bytes)
            case .gif: (try? GIFBlocks(bytes, keeping: .none))?.isTruncated ?? true
            // The first chunk is the rest of the file.
            case .webp: bytes.littleEndian(4, 4).map { 8 + $0 > bytes.count } ?? true
            case .avif, .heic, .heif: isTruncatedAtBoxes(bytes)
            default: nil
            }
        }
    }

    /// The end is a marker, which is searched for outside of segments only: a thumbnail in one of them has its own.
    private static func isTruncatedJPEG(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var hasEnd = false
        var segments = JPEGSegmentParser()
        segments.parse(bytes) { event in
            hasEnd = event == .marker(0xD9)
            return !hasEnd
        }
        return !hasEnd
    }

    private static func isTruncatedPNG(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 8
        while let size = bytes.bigEndian(offset, 4), offset + 12 + size <= bytes.count {
            if bytes[offset + 4..<offset + 8].elementsEqual("IEND".utf8) { return false }
            offset += 12 + size
        }
        return true
    }

    /// Boxes follow one another to the end of the file; the last one may say that it is as long as there are bytes.
    private static func isTruncatedAtBoxes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < bytes.count {
            guard var size = bytes.bigEndian(offset, 4) else { return true }
            if size == 0 { return false }
            if size == 1 {
                // No file is longer than seven bytes can tell.
                guard let large = bytes.bigEndian(offset + 9, 7) else { return true }
                size = large
            }
            guard size >= 8, size <= bytes.count - offset else { return true }
            offset += size
        }
        return false
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian number in up to seven bytes from an offset on; nil when the bytes end before that.
    fileprivate func bigEndian(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= count - size else { return nil }
        return self[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
    }
}
