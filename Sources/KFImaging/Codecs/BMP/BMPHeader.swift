// Reads the headers of Windows bitmaps, of every kind, with or without a file around. Decodes nothing.

import Foundation

/// The header of a bitmap.
struct BMPHeader {
    /// How rows are stored.
    enum Storage {
        /// Pixels side by side, every row padded to four bytes.
        case plain
        /// Runs of pixels.
        case runs
    }

    let size: PixelSize
    let storage: Storage
    let isTopDown: Bool
    /// Bits a pixel: 1, 2, 4, 8, 16, 24 or 32.
    let depth: Int
    /// Where red, green, blue and alpha lie within a pixel of 16 or 32 bits.
    let masks: [UInt32]
    /// Where the palette lies, and how many bytes each of its colours has.
    let palette: Range<Int>
    let paletteStep: Int
    /// Where the rows begin.
    let rows: Int
    let profile: ColorProfile?

    /// Whether pixels have an alpha of their own.
    var hasAlpha: Bool { depth >= 16 && depth != 24 && masks[3] != 0 }

    /// How many bytes a row takes when it is not stored as runs.
    var bytesPerRow: Int { Self.bytesPerRow(size.width, depth) }

    static func bytesPerRow(_ width: Int, _ depth: Int) -> Int { (width * depth + 31) / 32 * 4 }

    /// The header of a file.
    init(file bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        try self.init(bytes, at: 14, rows: bytes.littleEndian(10, 4), type: .bmp)
    }

    /// The header of an image in an icon: it declares twice the height, since a mask lies behind the rows.
    init(icon bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        try self.init(bytes, at: 0, rows: nil, type: .ico)
    }

    private init(
        _ bytes: UnsafeRawBufferPointer,
        at start: Int,
        rows: Int?,
        type: ImageContentType
    ) throws(ImagingError) {
        guard let length = bytes.littleEndian(start, 4), length >= 12, start + length <= bytes.count else {
            throw .malformed(type, detail: "the header is not complete")
        }
        func field(_ offset: Int, _ size: Int) -> Int {
            offset + size <= length ? bytes.littleEndian(start + offset, size) ?? 0 : 0
        }
        let isCore = length == 12
        let width = isCore ? field(4, 2) : Int(Int32(truncatingIfNeeded: field(4, 4)))
        let height = isCore ? field(6, 2) : Int(Int32(truncatingIfNeeded: field(8, 4)))
        let rowCount = type == .ico ? abs(height) / 2 : abs(height)
        guard width > 0, rowCount > 0 else { throw .malformed(type, detail: "the image has no pixels") }
        size = PixelSize(width, rowCount)
        isTopDown = height < 0
        let depth = isCore ? field(10, 2) : field(14, 2)
        self.depth = depth
        // OS/2 gave the numbers above 2 meanings of its own.
        let compression = field(16, 4)
        let isOS2 = length <= 64 && ![40, 52, 56].contains(length)
        guard let storage = Self.storage(compression, depth, isOS2) else {
            throw .unsupported(type, detail: "compression \(compression) of pixels of \(depth) bits")
        }
        self.storage = storage
        let hasMasks = compression == 3 || compression == 6
        let maskBytes = hasMasks && length == 40 ? (compression == 6 ? 16 : 12) : 0
        if hasMasks {
            let count = length >= 56 || maskBytes == 16 ? 4 : 3
            let found = (0..<count).map { UInt32(bytes.littleEndian(start + 40 + $0 * 4, 4) ?? 0) }
            let within: UInt32 = depth == 16 ? 0xFFFF : .max
            masks = (found + [0]).prefix(4).map { $0 & within }
        } else {
            masks = depth == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
        }
        paletteStep = isCore ? 3 : 4
        let paletteStart = start + length + maskBytes
        let most = depth <= 8 ? 1 << depth : 0
        let used = field(32, 4)
        var paletteEnd = paletteStart + (used == 0 ? most : min(used, most)) * paletteStep
        // The file's own offset of its rows counts, if it is valid. Some files name the place of the palette instead,
        // although the rows are behind it.
        let rowBytes = Self.bytesPerRow(width, depth).multipliedReportingOverflow(by: rowCount)
        let areBehindPalette =
            storage == .plain && !rowBytes.overflow && rowBytes.partialValue <= bytes.count - paletteEnd
        if let rows, rows >= paletteStart, rows > paletteStart || !areBehindPalette {
            paletteEnd = min(paletteEnd, rows)
            self.rows = rows
        } else {
            self.rows = paletteEnd
        }
        palette = paletteStart..<max(paletteStart, min(paletteEnd, bytes.count))
        // Entries of an icon may share one, which would be copied for each.
        profile = type == .bmp ? Self.profile(bytes, start, length, field) : nil
    }

    /// Nil for combinations that do not exist, and those for printers only.
    private static func storage(_ compression: Int, _ depth: Int, _ isOS2: Bool) -> Storage? {
        switch (compression, depth) {
        case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32): .plain
        case (3, 16), (3, 32), (6, 16), (6, 32): isOS2 ? nil : .plain
        case (1, 8), (2, 4): .runs
        case (4, 24): isOS2 ? .runs : nil
        default: nil
        }
    }

    /// The profile that the latest header may name.
    private static func profile(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int,
        _ length: Int,
        _ field: (Int, Int) -> Int
    ) -> ColorProfile? {
        let isEmbedded = length >= 124 && field(56, 4) == 0x4D42_4544
        let (first, size) = (start + field(112, 4), field(116, 4))
        guard isEmbedded, size > 0, first <= bytes.count - size else { return nil }
        return .icc(Data(bytes[first..<first + size]))
    }
}
