// A step in strips: a part of each of some rows.

/// The rows of a part of an image.
final class CroppedRows: ImageRows {
    private let rows: any ImageRows
    private let part: PixelRect
    private var isBelowTop = false

    /// - Parameters:
    ///   - rows: The rows of the image, from the first on.
    ///   - part: The part, all of which must exist.
    init(_ rows: any ImageRows, _ part: PixelRect) { (self.rows, self.part) = (rows, part) }

    var size: PixelSize { part.size }

    func next() throws(ImagingError) -> UnsafePointer<UInt8> {
        if !isBelowTop { for _ in 0..<part.y { _ = try rows.next() } }
        isBelowTop = true
        return try rows.next() + part.x * 4
    }
}
