// Resizing, row by row as rows arrive.

import CKFCodecs

/// Resizes an image whose rows arrive one after another.
///
/// Rows are made out of rows first: of the many that arrive few remain, and only they are resized horizontally. All
/// sums are of whole numbers; bytes are rounded once. Holds as many rows as the kernel is high, and those of one band,
/// into which the caller writes. Lines are made in pairs, which share the work of loading the columns' weights.
struct Resampler {
    /// The source: the number of rows, and of pixels in a row.
    private let source: PixelSize
    private let target: PixelSize
    private let columns: ResamplingKernel
    private let lines: ResamplingKernel
    /// The last rows, row j at j modulo their number; none when all rows are in memory anyway.
    private let window: Buffer<UInt8>?
    /// How many rows may arrive at a time.
    private static let band = 16
    /// The rows that make up one line.
    private let parts: Buffer<UnsafePointer<UInt8>?>
    /// Their weighted sum, for two lines.
    private let sums: Buffer<Int16>
    private let blending = kf_best_blending()
    private var received = 0
    private var emitted = 0

    /// - Parameters:
    ///   - source: The size that the rows have.
    ///   - extent: How much of that is the image; nil when all of it is.
    ///   - target: The size to make.
    ///   - filter: The kernel.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(
        from source: PixelSize,
        extent: PixelExtent? = nil,
        to target: PixelSize,
        _ filter: ResamplingFilter = .automatic
    ) throws(ImagingError) {
        try self.init(from: source, extent ?? PixelExtent(source), to: target, filter, isWindowed: true)
    }

    private init(
        from source: PixelSize,
        _ extent: PixelExtent,
        to target: PixelSize,
        _ filter: ResamplingFilter,
        isWindowed: Bool
    ) throws(ImagingError) {
        self.source = source
        self.target = target
        // The loops take four pixels at a time, and may read three that do not exist.
        columns = try ResamplingKernel(from: extent.width, to: target.width, filter, multiple: 4)
        lines = try ResamplingKernel(from: extent.height, to: target.height, filter, multiple: 2)
        window = isWindowed ? try Buffer((lines.taps + Self.band) * source.width * 4) : nil
        parts = try Buffer(lines.taps)
        sums = try Buffer((source.width + 3) * 4 * 2)
        for line in 0..<2 { (sums(of: line) + source.width * 4).update(repeating: 0, count: 12) }
    }

    private func sums(of line: Int) -> UnsafeMutablePointer<Int16> {
        sums.base + line % 2 * (source.width + 3) * 4
    }

    /// How many bytes lie between the beginnings of two source rows.
    var bytesPerRow: Int { source.width * 4 }

    /// Where the next source rows are to be written, and how many at most; nil when all have been received.
    var space: (rows: UnsafeMutablePointer<UInt8>, count: Int)? {
        guard received < source.height, let window else { return nil }
        let slots = lines.taps + Self.band
        let slot = received % slots
        return (window.base + slot * bytesPerRow, min(Self.band, slots - slot, source.height - received))
    }

    /// Records that so many rows have been written to ``space``, and makes the target rows that are complete with them.
    mutating func receive(_ count: Int, to output: PixelRows) {
        guard let window else { return }
        received += count
        let (slots, length) = (lines.taps + Self.band, bytesPerRow)
        while emitted < target.height, min(Int(lines.starts.base[emitted]) + lines.taps, source.height) <= received {
            emit(emitted, to: output) { UnsafePointer(window.base + $0 % slots * length) }
            emitted += 1
        }
    }

    /// Resizes an image in memory.
    static func resize(
        _ rows: UnsafePointer<UInt8>,
        bytesPerRow: Int,
        from source: PixelSize,
        to output: PixelRows,
        _ filter: ResamplingFilter
    ) throws(ImagingError) {
        let resampler = try Resampler(from: source, PixelExtent(source), to: output.size, filter, isWindowed: false)
        defer { withExtendedLifetime(resampler) {} }
        for line in 0..<output.size.height {
            resampler.emit(line, to: output) { rows + $0 * bytesPerRow }
        }
    }

    /// Adds up the rows of one line, and makes it and the one before it when it is the second of a pair or the last.
    private func emit(_ line: Int, to output: PixelRows, row: (Int) -> UnsafePointer<UInt8>) {
        let first = Int(lines.starts.base[line])
        // The last one may be one beyond the source, without any weight.
        for tap in 0..<lines.taps { parts.base[tap] = row(min(first + tap, source.height - 1)) }
        kf_blend_rows(
            blending,
            parts.base,
            lines.weights.base + line * lines.taps,
            lines.taps,
            lines.precision,
            source.width * 4,
            sums(of: line)
        )
        guard line % 2 == 1 || line == target.height - 1 else { return }
        let pair = (upper: line - line % 2, lower: line)
        kf_blend_columns(
            blending,
            sums(of: pair.upper),
            sums(of: pair.lower),
            columns.starts.base,
            columns.weights.base,
            columns.taps,
            columns.precision,
            target.width,
            output.row(pair.upper),
            output.row(pair.lower)
        )
    }
}

extension Bitmap {
    /// This bitmap in another size.
    ///
    /// The same size gives the same object.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func resampled(
        to target: PixelSize,
        filter: ResamplingFilter = .automatic
    ) throws(ImagingError) -> Bitmap {
        guard target != size else { return self }
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(target, hasAlpha: hasAlpha ? nil : false) { rows throws(ImagingError) in
                guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return rows.fill() }
                try Resampler.resize(base, bytesPerRow: bytesPerRow, from: size, to: rows, filter)
            }
        }
    }
}
