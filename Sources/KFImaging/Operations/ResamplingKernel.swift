// The weights of source samples in target samples, along one axis.

/// Which source samples make up each target sample of one axis, and with which weights.
struct ResamplingKernel {
    /// How many source samples every target sample uses; weights may be zero.
    let taps: Int
    /// The first source sample of each target sample; never decreases.
    let starts: Buffer<Int32>
    /// `taps` weights for each target sample, with sum 2 to the power of `precision`.
    let weights: Buffer<Int16>
    let precision: UInt32

    /// A kernel whose width is scaled by max(1, n/m), around the centre (i + ½)·n/m of each target sample.
    ///
    /// Samples outside are dropped and the weights normalised. The number of taps is rounded up to a multiple: then the
    /// last of them may lie beyond the source and have the weight zero.
    ///
    /// - Parameters:
    ///   - extent: n, the length of what is resized; need not be a whole number.
    ///   - target: m, the number of samples it becomes.
    ///   - filter: The kernel.
    ///   - multiple: The number that the number of taps is a multiple of.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(from extent: Double, to target: Int, _ filter: ResamplingFilter, multiple: Int = 1) throws(ImagingError) {
        let ratio = extent / Double(target)
        // A sample of which less than half belongs to the image says more about what lies beyond its edge.
        let source = max(1, Int(extent.rounded()))
        let filter = filter.resolved(isReducing: ratio > 1)
        let stretch = filter == .nearest ? 1 : max(1, ratio)
        let support = filter.support * stretch
        let used = filter == .nearest || extent == Double(target) ? 1 : min(source, Int((2 * support).rounded(.up)))
        taps = (used + multiple - 1) / multiple * multiple
        starts = try Buffer(target)
        weights = try Buffer(target * taps)
        let exact = try Buffer<Double>(target * used)
        defer { withExtendedLifetime(exact) {} }
        var largest = 0.0
        var before = Double.infinity
        for i in 0..<target {
            let center = (Double(i) + 0.5) * ratio
            let wanted = used == 1 ? Int(center) : Int((center - support - 0.5).rounded(.down)) + 1
            let first = min(max(wanted, 0), source - used)
            starts.base[i] = Int32(truncatingIfNeeded: first)
            let shares = UnsafeMutableBufferPointer(start: exact.base + i * used, count: used)
            let distance = (Double(first) + 0.5 - center) / stretch
            if distance == before, i > 0 {
                // Where the image becomes smaller by a whole factor, the samples inside have the same weights.
                (exact.base + i * used).update(from: exact.base + (i - 1) * used, count: used)
                continue
            }
            before = distance
            if used == 1 { shares[0] = 1 } else { filter.weigh(shares, from: distance, step: 1 / stretch) }
            let sum = shares.reduce(0, +)
            for tap in 0..<used {
                shares[tap] /= sum
                largest = max(largest, abs(shares[tap]))
            }
        }
        // As many bits as the largest weight leaves room for in 16 with a sign. More than 16 behind the point, and
        // sums of 32 bits might overflow: halos go beyond 0…1 by a third at most, on either axis.
        precision = largest < 0.499 ? 16 : largest < 0.999 ? 15 : 14
        Self.round(exact.base, used: used, to: weights.base, taps: taps, count: target, one: Double(1 << precision))
    }

    /// Rounds sums instead of weights, so that the weights of every sample add up to exactly one.
    private static func round(
        _ exact: UnsafePointer<Double>,
        used: Int,
        to weights: UnsafeMutablePointer<Int16>,
        taps: Int,
        count: Int,
        one: Double
    ) {
        // Sums are between -1 and 2. Without a sign they are rounded by cutting off, which takes no call.
        let offset = 4 * one + 0.5
        for i in 0..<count {
            var (sum, last) = (0.0, Int(offset))
            for tap in 0..<taps {
                sum += tap < used ? exact[i * used + tap] : 0
                let rounded = Int(sum * one + offset)
                weights[i * taps + tap] = Int16(clamping: rounded - last)
                last = rounded
            }
        }
    }
}
