// The weights of source samples in target samples, along one axis; for the resampler.

/// Which source samples make up each target sample of one axis, and with which weights.
///
/// Describes a section of the axis at a time, which is all of it but for extreme lengths: so the memory does not grow
/// with the axis.
struct ResamplingKernel {
    /// How many source samples every target sample uses; weights may be zero.
    let taps: Int
    /// The number of target samples.
    let count: Int
    /// The most target samples in a section.
    let sectionLength: Int
    /// The target samples that are described.
    private(set) var section = 0..<0
    /// The first source sample of the section.
    private(set) var origin = 0
    /// The first source sample of each target sample, counted from the section's; never decreases.
    let starts: Buffer<Int32>
    /// `taps` weights for each target sample, with sum 2 to the power of `precision`.
    let weights: Buffer<Int16>
    private(set) var precision: UInt32 = 0
    private let exact: Buffer<Double>
    /// The weights of a target sample that are not always zero.
    private let used: Int
    private let source: Int
    private let ratio: Double
    /// Where the first target sample begins in the source.
    private let beginning: Double
    private let filter: ResamplingFilter

    /// How many weights a section may have: enough for targets of 20,000 samples at a hundred weights each.
    private static let mostWeights = 1 << 21

    /// A kernel whose width is scaled by max(1, n/m), around the centre (i + ½)·n/m of each target sample.
    ///
    /// Samples outside are dropped and the weights normalised. The number of taps is rounded up to a multiple: then the
    /// last of them may lie beyond the source and have the weight zero.
    ///
    /// - Parameters:
    ///   - extent: n, the length of what is resized; need not be a whole number.
    ///   - coverage: Which share of it the target shows, around the middle: n is that much less, or more.
    ///   - target: m, the number of samples it becomes.
    ///   - filter: The kernel.
    ///   - multiple: The number that the number of taps is a multiple of.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(
        from extent: Double,
        coverage: Double = 1,
        to target: Int,
        _ filter: ResamplingFilter,
        multiple: Int = 1
    ) throws(ImagingError) {
        ratio = extent * coverage / Double(target)
        beginning = extent * (1 - coverage) / 2
        // A sample of which less than half belongs to the image says more about what lies beyond its edge.
        source = max(1, Int(extent.rounded()))
        self.filter = filter.resolved(isReducing: ratio > 1)
        let support = self.filter.support * Self.stretch(self.filter, ratio)
        let isSingle = self.filter == .nearest || extent == Double(target) && coverage == 1
        used = isSingle ? 1 : min(source, Int((2 * support).rounded(.up)))
        taps = (used + multiple - 1) / multiple * multiple
        count = target
        // Even, so that pairs of samples are in one section.
        sectionLength = min(target, max(2, Self.mostWeights / taps / 2 * 2))
        starts = try Buffer(sectionLength)
        weights = try Buffer(sectionLength * taps)
        exact = try Buffer(sectionLength * used)
    }

    private static func stretch(_ filter: ResamplingFilter, _ ratio: Double) -> Double {
        filter == .nearest ? 1 : max(1, ratio)
    }

    /// The most that the first source samples of neighbours may differ: rounding may add one.
    var step: Int { Int(ratio.rounded(.up)) + 1 }

    /// The most source samples that a section reaches over.
    var longestSpan: Int { min(source, Int((Double(sectionLength) * ratio).rounded(.up)) + used + 1) + taps - used }

    /// How many source samples the section reaches over; with rounding of the taps, perhaps beyond the source.
    var span: Int { Int(starts.base[section.count - 1]) + taps }

    /// The first source sample of a target sample, of whose section this becomes the description.
    mutating func start(of sample: Int) -> Int {
        describe(sectionOf: sample)
        return origin + Int(starts.base[sample - section.lowerBound])
    }

    /// The weights of a target sample of the section.
    func weights(of sample: Int) -> UnsafeMutablePointer<Int16> { weights.base + (sample - section.lowerBound) * taps }

    /// Computes the weights of the section that a target sample is in.
    mutating func describe(sectionOf sample: Int) {
        guard !section.contains(sample) else { return }
        let first = sample / sectionLength * sectionLength
        section = first..<min(first + sectionLength, count)
        let stretch = Self.stretch(filter, ratio)
        let support = filter.support * stretch
        var largest = 0.0
        var before = Double.infinity
        for i in section {
            let center = beginning + (Double(i) + 0.5) * ratio
            let wanted = used == 1 ? Int(center) : Int((center - support - 0.5).rounded(.down)) + 1
            let first = min(max(wanted, 0), source - used)
            let place = i - section.lowerBound
            if place == 0 { origin = first }
            starts.base[place] = Int32(truncatingIfNeeded: first - origin)
            let shares = UnsafeMutableBufferPointer(start: exact.base + place * used, count: used)
            let distance = (Double(first) + 0.5 - center) / stretch
            if distance == before, place > 0 {
                // Where the image becomes smaller by a whole factor, the samples inside have the same weights.
                (exact.base + place * used).update(from: exact.base + (place - 1) * used, count: used)
                continue
            }
            before = distance
            largest = max(largest, weigh(shares, from: distance, step: 1 / stretch))
        }
        // As many bits as the largest weight leaves room for in 16 with a sign. More than 16 behind the point, and
        // sums of 32 bits might overflow: halos go beyond 0…1 by a third at most, on either axis.
        precision = largest < 0.499 ? 16 : largest < 0.999 ? 15 : 14
        roundWeights()
    }

    /// Computes the weights of one target sample, whose sum is 1; returns the largest amount.
    private func weigh(_ shares: UnsafeMutableBufferPointer<Double>, from distance: Double, step: Double) -> Double {
        if used == 1 { shares[0] = 1 } else { filter.weigh(shares, from: distance, step: step) }
        var sum = shares.reduce(0, +)
        if sum < 1e-6 {
            // So far beyond an edge that the kernel hardly reaches the image, it looks as the edge does.
            shares.update(repeating: 0)
            shares[distance > 0 ? 0 : used - 1] = 1
            sum = 1
        }
        var largest = 0.0
        for tap in 0..<used {
            shares[tap] /= sum
            largest = max(largest, abs(shares[tap]))
        }
        return largest
    }

    /// Rounds sums instead of weights, so that the weights of every sample add up to exactly one.
    private func roundWeights() {
        let one = Double(1 << precision)
        // Sums are between -1 and 2. Without a sign they are rounded by cutting off, which takes no call.
        let offset = 4 * one + 0.5
        for i in 0..<section.count {
            var (sum, last) = (0.0, Int(offset))
            for tap in 0..<taps {
                sum += tap < used ? exact.base[i * used + tap] : 0
                let rounded = Int(sum * one + offset)
                weights.base[i * taps + tap] = Int16(clamping: rounded - last)
                last = rounded
            }
        }
    }
}
