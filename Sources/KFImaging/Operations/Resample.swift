// Resizing, row by row as rows arrive.

import CKFCodecs

/// Resizes an image whose rows arrive one after another.
///
/// Rows are made out of rows first: of the many that arrive few remain, and only they are resized horizontally. All
/// sums are of whole numbers; bytes are rounded once. In linear light rows become light as they arrive. Holds as many
/// rows as two lines need, and those of one band, into which the caller writes. Lines are made in pairs, which share
/// the work of loading rows and the columns' weights; those that have no rows in common are made one by one.
///
/// For images at least 32 times as long as they are to become, ``BoxReduction`` comes first.
struct Resampler {
    /// The source: the number of rows, and of pixels in a row.
    private let source: PixelSize
    private let target: PixelSize
    private var columns: ResamplingKernel
    private var lines: ResamplingKernel
    private let window: Window
    /// How many rows the window has room for.
    private let slots: Int
    /// How many of them may arrive at a time.
    private let band: Int
    /// Whether two lines have rows in common, and are made at once.
    private let isPaired: Bool
    /// The rows that make up two lines.
    private let parts: Buffer<UnsafeRawPointer?>
    /// Their weights in the upper line, and then in the lower one.
    private let shares: Buffer<Int16>
    /// Their weighted sum, for two lines.
    private let sums: Buffer<Int16>
    private let blending = kf_best_blending()
    private var received = 0
    private var emitted = 0

    /// The last rows of the source, row j at j modulo their number.
    private enum Window {
        /// All rows are in memory anyway.
        case none
        case bytes(Buffer<UInt8>)
        /// Those that arrive are bytes.
        case light(Buffer<Int16>, arriving: Buffer<UInt8>)
    }

    /// - Parameters:
    ///   - source: The size that the rows have.
    ///   - extent: How much of the bitmap is the image; nil when all of it is.
    ///   - target: The size to make, how much of the image it shows, and the numbers that are added up.
    ///   - filter: The kernel.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(
        from source: PixelSize,
        extent: PixelExtent? = nil,
        to target: ScaledSize,
        _ filter: ResamplingFilter = .automatic
    ) throws(ImagingError) {
        try self.init(from: source, extent ?? PixelExtent(source), to: target, filter, isWindowed: true)
    }

    private init(
        from source: PixelSize,
        _ extent: PixelExtent,
        to scaled: ScaledSize,
        _ filter: ResamplingFilter,
        isWindowed: Bool
    ) throws(ImagingError) {
        self.source = source
        target = scaled.size
        let coverage = scaled.coverage
        // The loops take four pixels at a time, and may read three that do not exist.
        columns = try ResamplingKernel(
            from: extent.width,
            coverage: coverage.width,
            to: target.width,
            filter,
            multiple: 4
        )
        lines = try ResamplingKernel(
            from: extent.height,
            coverage: coverage.height,
            to: target.height,
            filter,
            multiple: 2
        )
        band = Self.band(of: source)
        isPaired = lines.step <= lines.taps
        let rows = lines.taps + (isPaired ? lines.step : 0)
        slots = min(rows + band, source.height)
        switch scaled.space {
        case .encoded: window = isWindowed ? .bytes(try Buffer(slots * source.width * 4)) : .none
        case .linear:
            let arriving = try Buffer<UInt8>((isWindowed ? band : 1) * source.width * 4)
            window = .light(try Buffer(slots * source.width * 4), arriving: arriving)
        }
        parts = try Buffer(rows + 1)
        shares = try Buffer((rows + 1) * 2)
        sums = try Buffer((columns.longestSpan + 3) * 4 * 2)
    }

    /// How many rows of a size are handled at a time: sixteen, but no more than a megabyte.
    static func band(of source: PixelSize) -> Int { max(1, min(16, (1 << 18) / source.width, source.height)) }

    /// How many bytes lie between the beginnings of two source rows.
    var bytesPerRow: Int { source.width * 4 }

    /// Where the next source rows are to be written, and how many at most; nil when all have been received.
    var space: (rows: UnsafeMutablePointer<UInt8>, count: Int)? {
        guard received < source.height else { return nil }
        let slot = received % slots
        let count = min(band, slots - slot, source.height - received)
        switch window {
        case .none: return nil
        case .bytes(let rows): return (rows.base + slot * bytesPerRow, count)
        case .light(_, let arriving): return (arriving.base, count)
        }
    }

    /// Where the next row is to be written as light; nil if rows are no light, or all have been received.
    var spaceForLight: UnsafeMutablePointer<Int16>? {
        guard received < source.height, case .light(let rows, _) = window else { return nil }
        return rows.base + received % slots * bytesPerRow
    }

    /// Records that so many rows have been written to ``space``, and makes the target rows that are complete with them.
    mutating func receive(_ count: Int, to output: PixelRows) {
        guard case .light(_, let arriving) = window else { return receiveWritten(count, to: output) }
        for row in 0..<count { receive(arriving.base + row * bytesPerRow, to: output) }
    }

    /// Makes light of a row, and the target rows that are complete with it.
    private mutating func receive(_ row: UnsafePointer<UInt8>, to output: PixelRows) {
        guard let light = spaceForLight else { return }
        kf_light_of_pixels(row, source.width, light)
        receiveWritten(1, to: output)
    }

    /// Records that so many rows are in the window, and makes the target rows that are complete with them.
    mutating func receiveWritten(_ count: Int, to output: PixelRows) {
        received += count
        while emitted < target.height, !needsRow { makeLines { output.row($0) } }
    }

    /// The last line of those that are made next.
    private var lastOfNext: Int { isPaired ? min(emitted + 1, target.height - 1) : emitted }

    /// Whether the next lines need more rows than have been received.
    var needsRow: Bool {
        mutating get { min(lines.start(of: lastOfNext) + lines.taps, source.height) > received }
    }

    /// Copies the next source row into the window, which no line is waiting in it for.
    mutating func take(_ row: UnsafePointer<UInt8>) {
        let place = received % slots * bytesPerRow
        switch window {
        case .none: return
        case .bytes(let rows): (rows.base + place).update(from: row, count: bytesPerRow)
        case .light(let rows, _): kf_light_of_pixels(row, source.width, rows.base + place)
        }
        received += 1
    }

    /// Makes the next line, or the next two, of rows in the window.
    ///
    /// - Parameter target: Where a line is to be written.
    /// - Returns: How many lines have been written.
    @discardableResult
    mutating func makeLines(at target: (Int) -> UnsafeMutablePointer<UInt8>) -> Int {
        let (slots, length) = (slots, bytesPerRow)
        switch window {
        case .none: break
        case .bytes(let rows): emit(to: target) { UnsafeRawPointer(rows.base + $0 % slots * length) }
        case .light(let rows, _): emit(to: target) { UnsafeRawPointer(rows.base + $0 % slots * length) }
        }
        return emitted
    }

    /// Resizes an image in memory to the size of the output.
    static func resize(
        _ rows: UnsafePointer<UInt8>,
        bytesPerRow: Int,
        from source: PixelSize,
        extent: PixelExtent,
        to target: ScaledSize,
        _ filter: ResamplingFilter,
        output: PixelRows
    ) throws(ImagingError) {
        var resampler = try Resampler(from: source, extent, to: target, filter, isWindowed: false)
        defer { withExtendedLifetime(resampler) {} }
        switch target.space {
        case .encoded:
            while resampler.emitted < output.size.height {
                resampler.emit(to: output.row) { UnsafeRawPointer(rows + $0 * bytesPerRow) }
            }
        case .linear:
            for y in 0..<source.height { resampler.receive(rows + y * bytesPerRow, to: output) }
        }
    }

    /// Adds up the rows of the next lines, and makes these.
    private mutating func emit(to output: (Int) -> UnsafeMutablePointer<UInt8>, row: (Int) -> UnsafeRawPointer) {
        let (upper, lower) = (emitted, lastOfNext)
        let lowerSums = upper == lower ? sums.base : sums.base + sums.count / 2
        for column in stride(from: 0, to: target.width, by: columns.sectionLength) {
            columns.describe(sectionOf: column)
            addRows(of: upper, lower, to: lowerSums, row: row)
            let blendColumns = isLight ? kf_blend_light_columns : kf_blend_columns
            blendColumns(
                blending,
                sums.base,
                lowerSums,
                columns.starts.base,
                columns.weights.base,
                columns.taps,
                columns.precision,
                columns.section.count,
                output(upper) + column * 4,
                output(lower) + column * 4
            )
        }
        emitted = lower + 1
    }

    private var isLight: Bool { if case .light = window { true } else { false } }

    /// Adds up the rows of two lines, which may be the same, where the columns' section lies.
    private mutating func addRows(
        of upper: Int,
        _ lower: Int,
        to lowerSums: UnsafeMutablePointer<Int16>,
        row: (Int) -> UnsafeRawPointer
    ) {
        let first = lines.start(of: upper)
        let last = min(lines.start(of: lower) + lines.taps, source.height) - 1
        let weights = weights(of: upper, lower)
        let offset = columns.origin * (isLight ? 8 : 4)
        // There may be one more than the lines need, without any weight.
        for tap in 0..<weights.taps { parts.base[tap] = row(min(first + tap, last)) + offset }
        let count = min(columns.span, source.width - columns.origin)
        let (precision, sums) = (lines.precision, sums.base)
        if isLight {
            parts.base.withMemoryRebound(to: UnsafePointer<Int16>?.self, capacity: weights.taps) {
                kf_blend_light_rows(blending, $0, weights, precision, count * 4, sums, lowerSums)
            }
        } else {
            parts.base.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: weights.taps) {
                kf_blend_rows(blending, $0, weights, precision, count * 4, sums, lowerSums)
            }
        }
        for sums in [sums, lowerSums] { (sums + count * 4).update(repeating: 0, count: 12) }
    }

    /// The weights that the rows from the upper line's first to the lower line's last have in both.
    private mutating func weights(of upper: Int, _ lower: Int) -> kf_row_weights {
        let shift = lines.start(of: lower) - lines.start(of: upper)
        let taps = (lines.taps + shift + 1) / 2 * 2
        shares.base.update(repeating: 0, count: taps * 2)
        shares.base.update(from: lines.weights(of: upper), count: lines.taps)
        (shares.base + taps + shift).update(from: lines.weights(of: lower), count: lines.taps)
        return kf_row_weights(upper: shares.base, lower: shares.base + taps, taps: taps)
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
        filter: ResamplingFilter = .automatic,
        in space: WorkingSpace = .encoded
    ) throws(ImagingError) -> Bitmap {
        try resampled(to: ScaledSize(target, in: space), filter: filter)
    }

    /// This bitmap, or as much of it as is to be shown, in another size.
    ///
    /// The same size gives the same object, unless an extent is named.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func resampled(
        to target: ScaledSize,
        extent: PixelExtent? = nil,
        filter: ResamplingFilter = .automatic
    ) throws(ImagingError) -> Bitmap {
        guard target.size != size || extent != nil else { return self }
        let extent = extent ?? PixelExtent(size)
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(target.size, hasAlpha: hasAlpha ? nil : false) { rows throws(ImagingError) in
                guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return rows.fill() }
                if var boxes = try BoxReduction(from: size, extent: extent, to: target, filter) {
                    for y in 0..<height { boxes.addRow(base + y * bytesPerRow, to: rows) }
                    return
                }
                try Resampler.resize(
                    base,
                    bytesPerRow: bytesPerRow,
                    from: size,
                    extent: extent,
                    to: target,
                    filter,
                    output: rows
                )
            }
        }
    }
}
