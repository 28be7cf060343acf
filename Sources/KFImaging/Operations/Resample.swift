// Resizing with a triangle kernel, row by row as rows arrive. Knows premultiplied pixels only, and no decoder.

/// Which source samples make up each target sample of one axis, and with which weights.
struct ResamplingKernel {
    /// How many source samples every target sample uses; weights may be zero.
    let taps: Int
    /// The first source sample of each target sample; never decreases.
    let starts: Buffer<Int>
    /// `taps` weights for each target sample, with sum 1.
    let weights: Buffer<Float>

    /// A triangle of half-width max(1, n/m) source samples around the centre (i + ½)·n/m.
    ///
    /// Samples outside are dropped and the weights normalised.
    init(from source: Int, to target: Int) throws(ImagingError) {
        let ratio = Double(source) / Double(target)
        let support = max(1, ratio)
        // No more samples than this have their centre inside the support.
        let taps = min(source, Int((2 * support).rounded(.up)) + (ratio == 1 ? -1 : 0))
        let starts = try Buffer<Int>(target)
        let weights = try Buffer<Float>(target * taps)
        let (firsts, shares) = (starts.base, weights.base)
        for i in 0..<target {
            let center = (Double(i) + 0.5) * ratio
            let first = min(max(Int((center - support - 0.5).rounded(.down)) + 1, 0), source - taps)
            func weight(_ tap: Int) -> Double { max(0, 1 - abs(Double(first + tap) + 0.5 - center) / support) }
            var sum = 0.0
            for tap in 0..<taps { sum += weight(tap) }
            let share = 1 / sum
            for tap in 0..<taps { shares[i * taps + tap] = Float(weight(tap) * share) }
            firsts[i] = first
        }
        self.taps = taps
        self.starts = starts
        self.weights = weights
    }
}

/// Resizes a picture whose rows arrive one after another.
///
/// Holds as many rows as the kernel is high, and no more.
struct Resampler {
    private let source: PixelSize
    private let target: PixelSize
    private let columns: ResamplingKernel
    private let lines: ResamplingKernel
    /// The row that has just arrived, as numbers.
    private let arrived: Buffer<Float>
    /// The last `lines.taps` rows, resized horizontally; row j is at j modulo that number.
    private let window: Buffer<Float>
    /// One row of weighted sums.
    private let sums: Buffer<Float>
    private var received = 0
    private var emitted = 0

    init(from source: PixelSize, to target: PixelSize) throws(ImagingError) {
        self.source = source
        self.target = target
        columns = try ResamplingKernel(from: source.width, to: target.width)
        lines = try ResamplingKernel(from: source.height, to: target.height)
        arrived = try Buffer(source.width * 4)
        window = try Buffer(lines.taps * target.width * 4)
        sums = try Buffer(target.width * 4)
    }

    /// Takes the next source row and writes the target rows that are complete with it.
    mutating func push(_ row: UnsafePointer<UInt8>, to output: PixelRows) {
        guard received < source.height else { return }
        let length = target.width * 4
        let slot = window.base + (received % lines.taps) * length
        if source.width == target.width {
            Self.widen(row, to: slot, count: length)
        } else {
            Self.widen(row, to: arrived.base, count: source.width * 4)
            Self.squeeze(arrived.base, to: slot, columns, count: target.width)
        }
        received += 1
        while emitted < target.height, lines.starts.base[emitted] + lines.taps <= received {
            Self.blend(window.base, to: output.row(emitted), lines, line: emitted, sums: sums.base, length: length)
            emitted += 1
        }
    }

    /// Bytes to numbers.
    private static func widen(_ bytes: UnsafePointer<UInt8>, to numbers: UnsafeMutablePointer<Float>, count: Int) {
        for i in 0..<count { numbers[i] = Float(bytes[i]) }
    }

    /// Resizes one row: four components at a time.
    private static func squeeze(
        _ row: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        _ kernel: ResamplingKernel,
        count: Int
    ) {
        let taps = kernel.taps
        let pixels = UnsafeRawPointer(row)
        let target = UnsafeMutableRawPointer(output)
        let (starts, weights) = (kernel.starts.base, kernel.weights.base)
        var weight = 0
        for x in 0..<count {
            var sum = SIMD4<Float>.zero
            var place = starts[x] &* 16
            for _ in 0..<taps {
                sum += pixels.loadUnaligned(fromByteOffset: place, as: SIMD4<Float>.self) * weights[weight]
                weight &+= 1
                place &+= 16
            }
            target.storeBytes(of: sum, toByteOffset: x &* 16, as: SIMD4<Float>.self)
        }
    }

    /// Makes one row of bytes out of those in the window: the only place where anything is rounded.
    private static func blend(
        _ window: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<UInt8>,
        _ kernel: ResamplingKernel,
        line: Int,
        sums: UnsafeMutablePointer<Float>,
        length: Int
    ) {
        // Adding 2²³ leaves the rounded number in the lowest bits. The little extra makes halves go up.
        let rounder: Float = 8_388_608
        let taps = kernel.taps
        var slot = kernel.starts.base[line] % taps
        for tap in 0..<taps {
            let weight = kernel.weights.base[line &* taps &+ tap]
            let row = window + slot &* length
            if tap == 0 {
                for i in 0..<length { sums[i] = row[i] * weight + 0.0005 }
            } else {
                for i in 0..<length { sums[i] += row[i] * weight }
            }
            slot = slot &+ 1 == taps ? 0 : slot &+ 1
        }
        for i in 0..<length { output[i] = UInt8(truncatingIfNeeded: (sums[i] + rounder).bitPattern) }
    }
}

extension Bitmap {
    /// This bitmap in another size.
    ///
    /// The same size gives the same object.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func resampled(to target: PixelSize) throws(ImagingError) -> Bitmap {
        guard target != size else { return self }
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(target, hasAlpha: hasAlpha ? nil : false) { rows throws(ImagingError) in
                guard let base = bytes.baseAddress else { return rows.fill() }
                var resampler = try Resampler(from: size, to: target)
                defer { withExtendedLifetime(resampler) {} }
                for y in 0..<height {
                    resampler.push((base + y * bytesPerRow).assumingMemoryBound(to: UInt8.self), to: rows)
                }
            }
        }
    }
}
