// Resizing, row by row as rows arrive. Knows premultiplied pixels only, and no decoder.

import CKFCodecs

/// Resizes a picture whose rows arrive one after another.
///
/// Rows are made out of rows first: of the many that arrive few remain, and only they are resized horizontally. All sums are
/// of whole numbers; bytes are rounded once. Holds as many rows as the kernel is high, and no more.
struct Resampler {
    private let source: PixelSize
    private let target: PixelSize
    private let columns: ResamplingKernel
    private let lines: ResamplingKernel
    /// The last `lines.taps` rows, row j at j modulo that number; none when all rows are in memory anyway.
    private let window: Buffer<UInt8>?
    /// The rows that make up one line.
    private let parts: Buffer<UnsafePointer<UInt8>?>
    /// Their weighted sum.
    private let sums: Buffer<Int16>
    private var received = 0
    private var emitted = 0

    init(from source: PixelSize, to target: PixelSize, _ filter: ResamplingFilter = .bilinear) throws(ImagingError) {
        try self.init(from: source, to: target, filter, isWindowed: true)
    }

    private init(
        from source: PixelSize,
        to target: PixelSize,
        _ filter: ResamplingFilter,
        isWindowed: Bool
    ) throws(ImagingError) {
        self.source = source
        self.target = target
        // The loops take four pixels at a time, and may read three that do not exist.
        columns = try ResamplingKernel(from: source.width, to: target.width, filter, multiple: 4)
        lines = try ResamplingKernel(from: source.height, to: target.height, filter)
        window = isWindowed ? try Buffer(lines.taps * source.width * 4) : nil
        parts = try Buffer(lines.taps)
        sums = try Buffer((source.width + 3) * 4)
        (sums.base + source.width * 4).update(repeating: 0, count: 12)
    }

    /// Takes the next source row and writes the target rows that are complete with it.
    mutating func push(_ row: UnsafePointer<UInt8>, to output: PixelRows) {
        guard received < source.height, let window else { return }
        let length = source.width * 4
        (window.base + received % lines.taps * length).update(from: row, count: length)
        received += 1
        while emitted < target.height, Int(lines.starts.base[emitted]) + lines.taps <= received {
            emit(emitted, to: output.row(emitted)) { UnsafePointer(window.base + $0 % lines.taps * length) }
            emitted += 1
        }
    }

    /// Resizes a picture in memory.
    static func resize(
        _ rows: UnsafePointer<UInt8>,
        bytesPerRow: Int,
        from source: PixelSize,
        to output: PixelRows,
        _ filter: ResamplingFilter
    ) throws(ImagingError) {
        let resampler = try Resampler(from: source, to: output.size, filter, isWindowed: false)
        defer { withExtendedLifetime(resampler) {} }
        for line in 0..<output.size.height {
            resampler.emit(line, to: output.row(line)) { rows + $0 * bytesPerRow }
        }
    }

    /// Makes one line of the result.
    private func emit(_ line: Int, to output: UnsafeMutablePointer<UInt8>, row: (Int) -> UnsafePointer<UInt8>) {
        let first = Int(lines.starts.base[line])
        for tap in 0..<lines.taps { parts.base[tap] = row(first + tap) }
        kf_blend_rows(
            parts.base,
            lines.weights.base + line * lines.taps,
            lines.taps,
            lines.precision,
            source.width * 4,
            sums.base
        )
        kf_blend_columns(
            sums.base,
            columns.starts.base,
            columns.weights.base,
            columns.taps,
            columns.precision,
            target.width,
            output
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
        filter: ResamplingFilter = .bilinear
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
