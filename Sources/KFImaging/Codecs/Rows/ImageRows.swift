// The rows of an image that is never in memory as a whole: what files give, steps in strips change, and encoders take.

/// The rows of an opaque image, each made when it is asked for.
///
/// For one thread.
protocol ImageRows: AnyObject {
    /// The width and the number of rows.
    var size: PixelSize { get }
    /// Makes the next row; asked for as many times as there are rows, at most.
    ///
    /// - Returns: Pixels of the kind of a ``Bitmap``, which stay until the next row is asked for.
    /// - Throws: ``ImagingError``, also where the file holds no such row.
    func next() throws(ImagingError) -> UnsafePointer<UInt8>
}

extension ImageRows {
    /// Calls `body` with each row, until it returns false or the task is cancelled.
    ///
    /// - Returns: Whether all rows were made, and `body` returned true for each.
    /// - Throws: The errors of the rows.
    func forEachRow(_ body: (UnsafePointer<UInt8>) -> Bool) throws(ImagingError) -> Bool {
        for y in 0..<size.height {
            if y % 64 == 0, Task.isCancelled { return false }
            guard body(try next()) else { return false }
        }
        return true
    }
}

/// An open file whose rows are decoded one after another.
protocol RowFile: RowReader, AnyObject {
    /// The size of the image.
    var size: PixelSize { get }
    /// Whether something of what has been decoded was damaged.
    var isDamaged: Bool { get }
    /// Why rows could not be decoded.
    var error: ImagingError { get }
    /// Begins decoding, once, and as small as the decoder makes the image without being smaller than a target.
    ///
    /// - Returns: How its rows become the target.
    func begin(_ target: ScaledSize) throws(ImagingError) -> RowDecoding
}
