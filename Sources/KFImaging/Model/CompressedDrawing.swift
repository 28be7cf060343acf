// Drawings in files of gzip, named `.svgz`. For what recognizes formats, the SVG codec, and servers that send drawings
// on.

public import Foundation
internal import KFSupport

/// A drawing in a file of gzip.
@_spi(Server) public enum CompressedDrawing {
    /// Far more than drawings have, and what a few kilobytes of gzip may become.
    static let mostBytes = 64 << 20

    /// Whether bytes are gzip, and what comes out first is a drawing.
    static func isHere(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isGzip(bytes) else { return false }
        return inflated(bytes, most: 4096).text.withUnsafeBytes { ImageContentType.isMarkup($0) && $0.contains("<svg") }
    }

    /// The text of a compressed drawing; nil if the data is no such drawing.
    ///
    /// Throws if the gzip is damaged, or the text is longer than 64 MiB.
    @_spi(Server) public static func text(of data: Data) throws(ImagingError) -> Data? {
        try data.withBytes { bytes throws(ImagingError) in isHere(bytes) ? try text(of: bytes) : nil }
    }

    /// The text of gzip.
    static func text(of bytes: UnsafeRawBufferPointer) throws(ImagingError) -> Data {
        let (text, decoder) = inflated(bytes, most: mostBytes)
        guard text.count < mostBytes else {
            throw .unsupported(.svg, detail: "its text is longer than \(mostBytes >> 20) MiB")
        }
        guard decoder?.isComplete == true else { throw .malformed(.svg, detail: "its gzip is damaged, or cut off") }
        return text
    }

    private static func isGzip(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    private static func inflated(_ bytes: UnsafeRawBufferPointer, most: Int) -> (text: Data, decoder: ContentDecoder?) {
        var text = Data()
        let decoder = ContentDecoder(["gzip"])
        _ = decoder?.decode(bytes) { piece in
            text.append(contentsOf: piece.prefix(most - text.count))
            return text.count < most
        }
        return (text, decoder)
    }
}
