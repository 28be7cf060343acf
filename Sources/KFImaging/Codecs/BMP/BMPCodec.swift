// Windows bitmaps: their rows. BMPHeader reads headers, BMPRuns reads runs, BMPEncoding writes.

import Foundation

enum BMPCodec: ImageCodec {
    static let contentType = ImageContentType.bmp

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let header = try BMPHeader(file: bytes)
        var info = ImageInfo(contentType: contentType, size: header.size, byteCount: bytes.count)
        info.hasAlpha = header.hasAlpha
        info.colorProfileName = header.profile?.name
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let header = try BMPHeader(file: bytes)
        try options.limits.check(width: header.size.width, height: header.size.height)
        let reader = try BMPReader(bytes, header)
        guard !reader.isEmpty else { throw .malformed(contentType, detail: "the data ends before the first row") }
        return DecodedImage(
            bitmap: try reader.bitmap(of: options.target(for: header.size)),
            isDamaged: !reader.isComplete
        )
    }
}

/// The rows of a bitmap, from the uppermost one on; missing rows are transparent.
final class BMPReader: RowReader {
    /// Whether all rows are there.
    let isComplete: Bool
    /// Whether not a single row is there.
    let isEmpty: Bool
    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    private let runs: BMPRuns?
    private let colors: [UInt32]
    private let channels: BMPChannels
    /// Where the mask of an icon begins: a bit for every pixel, set where nothing is visible.
    private let mask: Int?
    private var next = 0

    /// - Parameters:
    ///   - bytes: The bytes that the header was read from; borrowed as long as the reader is there.
    ///   - header: The header, of an image that is not too large.
    ///   - isMasked: Whether a mask lies behind the rows.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(_ bytes: UnsafeRawBufferPointer, _ header: BMPHeader, isMasked: Bool = false) throws(ImagingError) {
        self.bytes = bytes
        self.header = header
        colors = Self.colors(bytes, header)
        let size = header.size
        switch header.storage {
        case .plain:
            runs = nil
            let available = max(0, bytes.count - header.rows) / header.bytesPerRow
            // The last row may do without its padding.
            let lastByte = header.rows + header.bytesPerRow * (size.height - 1) + (size.width * header.depth + 7) / 8
            isComplete = lastByte <= bytes.count
            isEmpty = available == 0 && !isComplete
        case .runs:
            let stream = bytes[min(header.rows, bytes.count)...]
            let runs = try BMPRuns(.init(rebasing: stream), size, depth: header.depth, colors: colors)
            (isComplete, isEmpty) = (runs.isComplete, runs.isEmpty)
            self.runs = runs
        }
        // Many writers leave the alpha of opaque images 0.
        let usesAlpha = header.hasAlpha && Self.hasAnyAlpha(bytes, header)
        channels = BMPChannels(header.masks, usesAlpha: usesAlpha)
        let behindRows = header.rows + header.bytesPerRow * size.height
        mask = isMasked && !usesAlpha && runs == nil ? behindRows : nil
    }

    /// The image in this size.
    func bitmap(of target: ScaledSize) throws(ImagingError) -> Bitmap {
        let isOpaque = isComplete && runs == nil && mask == nil && !channels.hasAlpha
        let rows = RowDecoding(
            source: header.size,
            target: target,
            conversion: PixelConversion(color: header.profile?.transform(for: .rgb), isStraight: !isOpaque),
            hasAlpha: isOpaque ? false : nil,
            missing: 0
        )
        guard let decoded = try rows.bitmap(from: self) else { throw .malformed(.bmp, detail: "there are no rows") }
        return decoded.bitmap
    }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        let (width, height) = (header.size.width, header.size.height)
        let count = min(count, height - next)
        for index in 0..<count {
            let row = UnsafeMutableRawPointer(rows + index * bytesPerRow).bindMemory(to: UInt32.self, capacity: width)
            let stored = header.isTopDown ? next : height - 1 - next
            read(stored, into: UnsafeMutableBufferPointer(start: row, count: width))
            next += 1
        }
        return count
    }

    /// Decodes a row, counted as the file does.
    private func read(_ y: Int, into pixels: UnsafeMutableBufferPointer<UInt32>) {
        pixels.update(repeating: 0)
        if let runs { return runs.read(y, into: pixels) }
        guard let row = Self.line(bytes, header, y) else { return }
        switch header.depth {
        case 16: for x in pixels.indices { pixels[x] = channels.color(UInt32(Self.number(row, x, as: UInt16.self))) }
        case 24:
            for x in pixels.indices {
                pixels[x] =
                    0xFF00_0000 | UInt32(row[x * 3 + 2]) << 16 | UInt32(row[x * 3 + 1]) << 8 | UInt32(row[x * 3])
            }
        case 32: for x in pixels.indices { pixels[x] = channels.color(Self.number(row, x, as: UInt32.self)) }
        case let depth:
            for x in pixels.indices {
                let bit = x * depth
                pixels[x] = colors[Int(row[bit >> 3] >> (8 - depth - bit & 7)) & (1 << depth - 1)]
            }
        }
        guard let mask, let bits = Self.line(bytes, header, y, maskAt: mask) else { return }
        for x in pixels.indices where bits[x >> 3] << (x & 7) & 0x80 != 0 { pixels[x] = 0 }
    }

    /// The bytes of a row, or of its mask; nil when the data ends before.
    private static func line(
        _ bytes: UnsafeRawBufferPointer,
        _ header: BMPHeader,
        _ y: Int,
        maskAt mask: Int? = nil
    ) -> UnsafeRawBufferPointer? {
        let (width, depth) = (header.size.width, mask == nil ? header.depth : 1)
        let first = (mask ?? header.rows) + y * BMPHeader.bytesPerRow(width, depth)
        let end = first + (width * depth + 7) / 8
        return end <= bytes.count ? UnsafeRawBufferPointer(rebasing: bytes[first..<end]) : nil
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ row: UnsafeRawBufferPointer,
        _ x: Int,
        as type: Number.Type
    ) -> Number {
        Number(littleEndian: row.loadUnaligned(fromByteOffset: x * MemoryLayout<Number>.size, as: type))
    }

    /// The palette; entries beyond it are black.
    private static func colors(_ bytes: UnsafeRawBufferPointer, _ header: BMPHeader) -> [UInt32] {
        var colors = [UInt32](repeating: 0xFF00_0000, count: 256)
        let places = stride(from: header.palette.lowerBound, to: header.palette.upperBound, by: header.paletteStep)
        for (index, place) in places.enumerated() { colors[index] |= UInt32(bytes.littleEndian(place, 3) ?? 0) }
        return colors
    }

    /// Whether the alpha of some pixel is not 0.
    private static func hasAnyAlpha(_ bytes: UnsafeRawBufferPointer, _ header: BMPHeader) -> Bool {
        let mask = header.masks[3]
        for y in 0..<header.size.height {
            guard let row = line(bytes, header, y) else { return false }
            let isFound =
                header.depth == 16
                ? (0..<header.size.width).contains { UInt32(number(row, $0, as: UInt16.self)) & mask != 0 }
                : (0..<header.size.width).contains { number(row, $0, as: UInt32.self) & mask != 0 }
            if isFound { return true }
        }
        return false
    }
}

/// The meaning of the bits of a pixel of 16 or 32 bits.
private struct BMPChannels {
    /// Where one colour lies.
    private struct Channel {
        let shift: UInt32
        let most: UInt32

        /// The bits between the lowest and the highest one of a mask.
        init(_ mask: UInt32) {
            shift = UInt32(mask.trailingZeroBitCount)
            most = mask >> shift == 0 ? 0 : .max >> UInt32((mask >> shift).leadingZeroBitCount)
        }

        /// 0…255, rounded.
        func level(_ pixel: UInt32) -> UInt32 {
            let value = pixel >> shift & most
            if most == 255 || most == 0 { return value }
            return UInt32((UInt64(value) * 255 + UInt64(most) / 2) / UInt64(most))
        }
    }
    private let red, green, blue, alpha: Channel
    /// Whether pixels lie in the file as they do in memory.
    private let areBytes: Bool
    let hasAlpha: Bool

    init(_ masks: [UInt32], usesAlpha: Bool) {
        (red, green, blue, alpha) = (Channel(masks[0]), Channel(masks[1]), Channel(masks[2]), Channel(masks[3]))
        areBytes = masks.starts(with: [0xFF_0000, 0xFF00, 0xFF]) && (!usesAlpha || masks[3] == 0xFF00_0000)
        hasAlpha = usesAlpha
    }

    /// The colour of a pixel, with straight alpha.
    func color(_ pixel: UInt32) -> UInt32 {
        let top = hasAlpha ? alpha.level(pixel) << 24 : 0xFF00_0000
        if areBytes { return top | pixel & 0xFF_FFFF }
        return top | red.level(pixel) << 16 | green.level(pixel) << 8 | blue.level(pixel)
    }
}
