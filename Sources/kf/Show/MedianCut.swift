// Finds a few colours that stand for many. Knows neither pixels' places nor terminals.

/// Divides the colours of a picture into boxes of about equal importance, and takes the mean of each.
struct MedianCut {
    /// Colours that agree in five bits a channel, with their sum.
    private struct Bin {
        var channels = SIMD3<Int32>.zero
        var sum = SIMD3<Int>.zero
        var count = 0

        mutating func add(_ color: SIMD3<Int32>) {
            channels = color &>> 3
            sum &+= SIMD3(truncatingIfNeeded: color)
            count += 1
        }
    }

    private var bins: [Bin] = []

    init(_ pixels: ShownPixels) {
        var all = [Bin](repeating: Bin(), count: Self.places)
        for color in pixels.colors where color != ShownPixels.nothing {
            let channels = Self.channels(color)
            all[Self.place(of: channels)].add(channels)
        }
        bins = all.filter { $0.count > 0 }
    }

    /// Red, green and blue.
    static func channels(_ color: UInt32) -> SIMD3<Int32> {
        SIMD3(Int32(color >> 16 & 255), Int32(color >> 8 & 255), Int32(color & 255))
    }

    /// The place of a colour when five bits a channel count.
    static func place(of color: SIMD3<Int32>) -> Int {
        let coarse = color &>> 3
        return Int(coarse.x &<< 10 | coarse.y &<< 5 | coarse.z)
    }

    /// How many places there are.
    static let places = 1 << 15

    /// Colours that stand for those of the picture, at most this many.
    func colors(_ limit: Int) -> [UInt32] {
        var boxes = [bins[...]]
        // The box with the widest spread, counted with its pixels, is cut where half of them lie on each side.
        while boxes.count < limit {
            let weights = boxes.map(Self.weight)
            guard let index = weights.indices.max(by: { weights[$0] < weights[$1] }), weights[index] > 0 else { break }
            let (low, high) = Self.cut(boxes[index])
            boxes[index] = low
            boxes.append(high)
        }
        return boxes.map(Self.mean)
    }

    private static func spread(_ box: ArraySlice<Bin>) -> SIMD3<Int32> {
        guard let first = box.first?.channels else { return .zero }
        var (low, high) = (first, first)
        for bin in box {
            low = pointwiseMin(low, bin.channels)
            high = pointwiseMax(high, bin.channels)
        }
        return high &- low
    }

    private static func weight(_ box: ArraySlice<Bin>) -> Int {
        Int(spread(box).max()) * Int(Double(box.reduce(0) { $0 + $1.count }).squareRoot())
    }

    private static func cut(_ box: ArraySlice<Bin>) -> (ArraySlice<Bin>, ArraySlice<Bin>) {
        let spread = spread(box)
        let axis = spread.max() == spread.y ? 1 : spread.max() == spread.x ? 0 : 2
        let sorted = box.sorted { $0.channels[axis] < $1.channels[axis] }
        let half = sorted.reduce(0) { $0 + $1.count } / 2
        var (place, seen) = (1, sorted[0].count)
        while place < sorted.count - 1, seen < half {
            seen += sorted[place].count
            place += 1
        }
        return (sorted[..<place], sorted[place...])
    }

    private static func mean(_ box: ArraySlice<Bin>) -> UInt32 {
        let count = max(1, box.reduce(0) { $0 + $1.count })
        let sum = box.reduce(SIMD3<Int>.zero) { $0 &+ $1.sum } &+ SIMD3(repeating: count / 2)
        return 0xFF00_0000 | UInt32(sum.x / count) << 16 | UInt32(sum.y / count) << 8 | UInt32(sum.z / count)
    }
}
