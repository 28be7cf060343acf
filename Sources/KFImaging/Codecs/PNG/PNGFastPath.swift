// PNG the fast way: the whole image inflated at once, where memory allows it.

import CKFCodecs

/// A PNG that is inflated in one go.
///
/// An image that is decoded as it is needs no memory but its own: its filtered lines, shorter than rows but for one
/// byte, lie at the end of the bitmap, and rows are written over lines that have been read. (Compressed data that comes
/// in several chunks is put together in a copy, which is gone before the first row is made.)
///
/// An image that is made smaller on the way has no such place, so that its lines take memory of their full length. Up
/// to ``maxLineBytes`` that is a fair price for a third of the time; larger images are left to libpng, which holds a
/// row and 32 KB of inflated data, so that memory stays bounded whatever the size of the image.
struct PNGFastPath {
    /// 32 MiB: a screen of 3840 × 2160 pixels with alpha, a photo of 11 megapixels without.
    static let maxLineBytes = 32 << 20

    private let size: PixelSize
    private let hasAlpha: Bool
    private let conversion: PixelConversion
    private let rows: Rows

    /// Nil when the image is not one to be decoded this way.
    ///
    /// - Parameters:
    ///   - reader: The open file, from which no rows have been read.
    ///   - size: Its size.
    ///   - color: The conversion of its colours; nil when they are sRGB.
    ///   - hasAlpha: Whether it says that pixels may be less than opaque.
    init?(_ reader: OpaquePointer, _ size: PixelSize, _ color: ColorTransform?, hasAlpha: Bool) {
        guard BuiltInLibrary.deflate.isThere, let handle = kf_png_fast_open(reader, color == nil) else { return nil }
        rows = Rows(handle)
        conversion = PixelConversion(color: color, isStraight: color != nil && hasAlpha)
        self.size = size
        self.hasAlpha = hasAlpha
    }

    /// The image in this size; nil when that fails, and libpng has to decode as much as it can.
    func bitmap(of target: ScaledSize) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        let decoding = RowDecoding(
            source: size,
            target: target,
            conversion: conversion,
            hasAlpha: hasAlpha ? nil : false,
            missing: 0
        )
        if target.size == size { return try bitmapInPlace(decoding) }
        guard rows.lineBytes <= Self.maxLineBytes else { return nil }
        let lines = try Buffer<UInt8>(rows.lineBytes)
        defer { withExtendedLifetime(lines) {} }
        return rows.inflate(into: UnsafeMutableBufferPointer(start: lines.base, count: lines.count))
            ? try decoding.bitmap(from: rows) : nil
    }

    private func bitmapInPlace(_ decoding: RowDecoding) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        var decoded = 0
        let bitmap = try Bitmap(size, capacity: rows.capacity) { pixels, memory in
            // Without a row the bitmap is dropped, so its alpha does not matter.
            guard rows.inflate(into: memory) else { return false }
            decoded = decoding.fill(pixels, from: rows)
            return decoded < size.height ? true : !rows.isOpaque
        }
        return decoded > 0 ? (bitmap, decoded == size.height) : nil
    }
}

extension PNGFastPath {
    /// The rows, once the image has been inflated.
    fileprivate final class Rows: RowPartReader {
        private let handle: OpaquePointer

        init(_ handle: OpaquePointer) { self.handle = handle }
        deinit { kf_png_fast_close(handle) }

        /// How many bytes the lines take.
        var lineBytes: Int { kf_png_fast_memory(handle) }

        /// Whether all rows were read, and are opaque.
        var isOpaque: Bool { kf_png_fast_is_opaque(handle) }

        /// How many bytes a bitmap with rows of so many must have for the lines to lie at its end.
        func capacity(_ rowBytes: Int) -> Int { max(lineBytes, rowBytes + Int(KF_PNG_FAST_SLACK)) }

        /// Inflates into the end of this memory, which must last until the last row is read; false when that fails.
        func inflate(into memory: UnsafeMutableBufferPointer<UInt8>) -> Bool {
            guard let start = memory.baseAddress, memory.count >= lineBytes else { return false }
            return kf_png_fast_inflate(handle, start + (memory.count - lineBytes))
        }

        func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
            Int(kf_png_fast_read(handle, rows, bytesPerRow, UInt32(count)))
        }

        func readPart(_ columns: Range<Int>, into pixels: UnsafeMutablePointer<UInt8>) -> Bool {
            kf_png_fast_read_part(handle, UInt32(columns.lowerBound), UInt32(columns.count), pixels)
        }
    }
}
