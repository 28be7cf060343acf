// Finds a few colours that stand for many, for ColorTable.

/// Divides the colours of an image into boxes, always the one whose colours differ most, and takes the mean of each.
struct MedianCut {
    private var bins: [Bin]

    /// Colours that agree in five bits a channel: their mean, and how many there are.
    private struct Bin {
        let mean: SIMD3<Float>
        let count: Float
    }

    /// Some of the bins.
    private struct Box {
        let bins: Range<Int>
        let mean: SIMD3<Float>
        /// The channel the colours differ in most.
        let axis: Int
        /// The sum of their squared distances from the mean in this channel.
        let spread: Float
        /// That sum in all channels.
        let error: Float
    }

    /// Counts colours, `0xFFRRGGBB`; 0 stands for no colour.
    init(_ pixels: some Sequence<UInt32>) {
        var sums = [SIMD4<Int>](repeating: .zero, count: 1 << 15)
        for color in pixels where color != 0 {
            let (red, green, blue) = (color >> 16 & 255, color >> 8 & 255, color & 255)
            let bucket = Int((red >> 3) << 10 | (green >> 3) << 5 | blue >> 3)
            sums[bucket] &+= SIMD4(Int(red), Int(green), Int(blue), 1)
        }
        bins = sums.lazy.filter { $0.w > 0 }.map { sum in
            let count = Float(sum.w)
            return Bin(mean: SIMD3(Float(sum.x), Float(sum.y), Float(sum.z)) / count, count: count)
        }
    }

    /// Colours that stand for all.
    ///
    /// - Parameters:
    ///   - limit: How many there may be, at least one.
    ///   - tolerance: How far from them, on average, colours may be; fewer are returned if that suffices.
    /// - Returns: The colours as `0xFFRRGGBB`.
    consuming func colors(_ limit: Int, tolerance: Float) -> [UInt32] {
        var boxes = [box(bins.indices)]
        var error = boxes[0].error - tolerance * tolerance * bins.reduce(0) { $0 + $1.count }
        while boxes.count < limit, error > 0,
            let index = boxes.indices.max(by: { boxes[$0].spread < boxes[$1].spread }), boxes[index].spread > 0
        {
            let (low, high) = cut(boxes[index])
            error += low.error + high.error - boxes[index].error
            boxes[index] = low
            boxes.append(high)
        }
        return boxes.map { box in
            let mean = (box.mean + 0.5).clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
            return 0xFF00_0000 | UInt32(mean.x) << 16 | UInt32(mean.y) << 8 | UInt32(mean.z)
        }
    }

    /// Cuts at the mean, so that both sides hold colours that are alike.
    private mutating func cut(_ box: Box) -> (Box, Box) {
        let (axis, mean, range) = (box.axis, box.mean[box.axis], box.bins)
        let middle = bins[range].partition { $0.mean[axis] > mean }
        // Rounding could leave one side empty.
        let cut = min(max(middle, range.lowerBound + 1), range.upperBound - 1)
        return (self.box(range.lowerBound..<cut), self.box(cut..<range.upperBound))
    }

    private func box(_ range: Range<Int>) -> Box {
        var (sum, count) = (SIMD3<Float>.zero, Float.zero)
        for bin in bins[range] {
            sum += bin.mean * bin.count
            count += bin.count
        }
        let mean = sum / max(count, 1)
        var spread = SIMD3<Float>.zero
        for bin in bins[range] { spread += (bin.mean - mean) * (bin.mean - mean) * bin.count }
        let axis = spread.max() == spread.y ? 1 : spread.max() == spread.x ? 0 : 2
        let isDivisible = range.count > 1
        return Box(bins: range, mean: mean, axis: axis, spread: isDivisible ? spread[axis] : 0, error: spread.sum())
    }
}
