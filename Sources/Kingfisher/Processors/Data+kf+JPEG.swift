// `data.kf` on JPEGs: the markers of the file's segments, found without decoding.

public import Foundation
import KFImaging

extension ImageFormat {
    /// A marker of JPEG: two bytes that begin a segment, or stand alone.
    public enum JPEGMarker: Sendable, Hashable {
        /// The frame header of a baseline image.
        case SOF0
        /// The frame header of a progressive image.
        case SOF2
        /// Huffman tables.
        case DHT
        /// Quantization tables.
        case DQT
        /// The interval of restarts.
        case DRI
        /// The beginning of a scan.
        case SOS
        /// A restart, 0…7.
        case RSTn(Int)
        /// The first kind of application data, which JFIF uses.
        case APPn
        /// A comment.
        case COM
        /// The end of the image.
        case EOI

        /// The two bytes.
        public var bytes: [UInt8] {
            switch self {
            case .SOF0: [0xFF, 0xC0]
            case .SOF2: [0xFF, 0xC2]
            case .DHT: [0xFF, 0xC4]
            case .DQT: [0xFF, 0xDB]
            case .DRI: [0xFF, 0xDD]
            case .SOS: [0xFF, 0xDA]
            case .RSTn(let number): [0xFF, 0xD0 &+ UInt8(truncatingIfNeeded: number)]
            case .APPn: [0xFF, 0xE0]
            case .COM: [0xFF, 0xFE]
            case .EOI: [0xFF, 0xD9]
            }
        }
    }
}

extension KingfisherWrapper where Base == Data {
    /// Whether a JPEG has a segment with this marker, up to and including the first scan's.
    ///
    /// Segments are skipped by their length, so that markers inside an EXIF thumbnail are not taken for the image's
    /// own. The bytes after the first scan's header are not looked at.
    ///
    /// - Parameter marker: The marker.
    /// - Returns: Whether it is there; false for data that is not a JPEG.
    public func contains(jpeg marker: ImageFormat.JPEGMarker) -> Bool {
        guard imageFormat == .JPEG else { return false }
        let wanted = JPEGSegmentParser.Event.marker(marker.bytes[1])
        var isFound = false
        var segments = JPEGSegmentParser()
        base.withUnsafeBytes { bytes in
            _ = segments.parse(bytes) { event in
                isFound = event == wanted
                return !isFound && event != .marker(0xDA)
            }
        }
        return isFound
    }
}
