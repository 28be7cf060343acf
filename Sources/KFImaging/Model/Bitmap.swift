// One image in memory: rows of pixels that never change. Scale and orientation are those of an Image.

public import Foundation

/// Pixels in memory: 8 bits a component, premultiplied, sRGB, in the byte order blue, green, red, alpha.
///
/// Premultiplied components are rounded to whole numbers up to alpha, so colours that are nearly transparent have few
/// levels: where alpha is 9, a component of 100 becomes 4, and is 113 again in a file with straight alpha. Laid over
/// anything, such a pixel is off by half a step of a byte at most. Opaque pixels are exact.
///
/// A bitmap never changes and may be read from any thread. Two bitmaps are equal when they are the same object; two
/// decodes of the same bytes are not.
public final class Bitmap: Sendable, Hashable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// The distance between the beginnings of two rows in bytes: a multiple of 16, at least `4 * width`.
    public let bytesPerRow: Int
    /// Whether some pixel may be less than opaque.
    ///
    /// When false, every alpha is 255.
    public let hasAlpha: Bool
    // SAFETY: the initialiser fills the memory before any other code can see the bitmap; nothing writes to it
    // afterwards. (In a decoder process it may be the memory for answers: that is used again after the bitmap is gone.)
    private nonisolated(unsafe) let storage: Buffer<UInt8>

    /// The size of one pixel in bits: 32.
    public var bitsPerPixel: Int { 32 }

    /// Makes a bitmap and lets `fill` write its pixels.
    ///
    /// Without enough memory the process ends, as it does for an array. Sizes from untrusted sources are better passed
    /// to ``make(width:height:hasAlpha:fill:)``.
    ///
    /// - Parameters:
    ///   - width: The width in pixels; smaller than 1 counts as 1.
    ///   - height: The height in pixels; smaller than 1 counts as 1.
    ///   - hasAlpha: Whether pixels may be less than opaque; nil finds out by looking at them.
    ///   - fill: Writes the pixels. It gets the memory, which is zeroed, and the bytes per row.
    public convenience init(
        width: Int,
        height: Int,
        hasAlpha: Bool? = nil,
        fill: (UnsafeMutableRawBufferPointer, Int) -> Void
    ) {
        do throws(ImagingError) {
            try self.init(PixelSize(width, height), hasAlpha: hasAlpha, zeroedFor: fill)
        } catch {
            preconditionFailure("no bitmap of \(width) × \(height) pixels: \(error)")
        }
    }

    /// Makes a bitmap and lets `fill` write its pixels, or throws when there is not enough memory.
    ///
    /// - Parameters:
    ///   - width: The width in pixels; smaller than 1 counts as 1.
    ///   - height: The height in pixels; smaller than 1 counts as 1.
    ///   - hasAlpha: Whether pixels may be less than opaque; nil finds out by looking at them.
    ///   - fill: Writes the pixels. It gets the memory, which is zeroed, and the bytes per row.
    /// - Returns: The bitmap.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    public static func make(
        width: Int,
        height: Int,
        hasAlpha: Bool? = nil,
        fill: (UnsafeMutableRawBufferPointer, Int) -> Void
    ) throws(ImagingError) -> Bitmap {
        try Bitmap(PixelSize(width, height), hasAlpha: hasAlpha, zeroedFor: fill)
    }

    private convenience init(
        _ size: PixelSize,
        hasAlpha: Bool?,
        zeroedFor fill: (UnsafeMutableRawBufferPointer, Int) -> Void
    ) throws(ImagingError) {
        try self.init(size, capacity: { $0 }, isZeroed: true) { rows, _ in
            fill(
                UnsafeMutableRawBufferPointer(start: rows.base, count: rows.bytesPerRow * rows.size.height),
                rows.bytesPerRow
            )
            return hasAlpha
        }
    }

    /// Makes a bitmap over memory that is *not* zeroed: `fill` must write every pixel, or throw.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``, or the error of `fill`.
    package convenience init(
        _ size: PixelSize,
        hasAlpha: Bool?,
        fill: (PixelRows) throws(ImagingError) -> Void
    ) throws(ImagingError) {
        try self.init(size, capacity: { $0 }) { rows, _ throws(ImagingError) in
            try fill(rows)
            return hasAlpha
        }
    }

    /// Makes a bitmap, with room to work in behind its rows.
    ///
    /// - Parameters:
    ///   - size: The size in pixels.
    ///   - capacity: How many bytes the memory is to have, given how many the rows take; never less than these.
    ///   - isZeroed: Whether the memory is zeroed, so that `fill` may leave pixels out.
    ///   - fill: Writes every pixel, or throws. It gets the rows and all the memory, at whose beginning they lie, and
    ///     returns whether pixels may be less than opaque; nil finds out by looking at them.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``, or the error of `fill`.
    init(
        _ size: PixelSize,
        capacity: (Int) -> Int,
        isZeroed: Bool = false,
        fill: (PixelRows, UnsafeMutableBufferPointer<UInt8>) throws(ImagingError) -> Bool?
    ) throws(ImagingError) {
        guard size.width <= Int.max / 8 else { throw .outOfMemory(bytes: nil) }
        let bytesPerRow = Self.bytesPerRow(size)
        let (count, overflow) = bytesPerRow.multipliedReportingOverflow(by: size.height)
        guard !overflow else { throw .outOfMemory(bytes: nil) }
        let storage = try Self.storage(max(count, capacity(count)), isZeroed)
        let rows = PixelRows(base: storage.base, bytesPerRow: bytesPerRow, size: size)
        let hasAlpha = try fill(rows, UnsafeMutableBufferPointer(start: storage.base, count: storage.count))
        if bytesPerRow > size.width * 4 { rows.clearPadding() }
        self.storage = storage
        width = size.width
        height = size.height
        self.bytesPerRow = bytesPerRow
        self.hasAlpha = hasAlpha ?? !rows.isOpaque
    }

    /// The distance between the beginnings of two rows in bytes, for a size that memory can have.
    static func bytesPerRow(_ size: PixelSize) -> Int { (size.width * 4 + 15) & ~15 }

    private static func storage(_ count: Int, _ isZeroed: Bool) throws(ImagingError) -> Buffer<UInt8> {
        guard let memory = BitmapMemory.claim(count) else { return try Buffer(count, isZeroed: isZeroed) }
        if isZeroed { memory.initializeMemory(as: UInt8.self, repeating: 0, count: count) }
        return Buffer(at: memory, count)
    }

    /// The first of all bytes, `height * bytesPerRow` of them; valid as long as the bitmap exists.
    package var baseAddress: UnsafePointer<UInt8> { UnsafePointer(storage.base) }

    /// Calls `body` with all bytes, `height * bytesPerRow` of them.
    ///
    /// The pointer is valid until `body` returns.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(start: storage.base, count: height * bytesPerRow))
    }

    /// The part inside a rectangle in pixels, made integral outwards and cut at the edges; nil when nothing is left.
    ///
    /// - Parameter rect: The rectangle, from the top left corner.
    /// - Returns: A copy of these pixels, or the bitmap itself when the rectangle holds all of it; nil also when there
    ///   is not enough memory.
    public func cropping(to rect: CGRect) -> Bitmap? {
        try? part(rect)
    }

    /// The result of ``cropping(to:)``; nil means that nothing is left.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func part(_ rect: CGRect) throws(ImagingError) -> Bitmap? {
        guard let part = Geometry.pixelRect(rect, within: size) else { return nil }
        return try self.part(x: part.x, y: part.y, part.size)
    }

    /// A copy of some columns and rows, all of which must exist; the bitmap itself when they are all there are.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func part(x: Int, y top: Int, _ part: PixelSize) throws(ImagingError) -> Bitmap {
        if part == size { return self }
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(part, hasAlpha: hasAlpha ? nil : false) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                for y in 0..<part.height {
                    UnsafeMutableRawPointer(rows.row(y)).copyMemory(
                        from: base + (top + y) * bytesPerRow + x * 4,
                        byteCount: part.width * 4
                    )
                }
            }
        }
    }

    package var size: PixelSize { PixelSize(width, height) }

    /// Whether these are the same object.
    public static func == (one: Bitmap, other: Bitmap) -> Bool { one === other }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The name of bitmaps in custom frame sources.
public typealias CGImage = Bitmap

extension PixelRows {
    /// Zeroes the bytes between the rows, so that they do not show what the memory held before.
    fileprivate func clearPadding() {
        let used = size.width * 4
        for y in 0..<size.height {
            (row(y) + used).update(repeating: 0, count: bytesPerRow - used)
        }
    }
}
