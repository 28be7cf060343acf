// Synthetic traces of requests for pictures, the same in every run. Knows nothing of caches.

import Glibc

/// Requests for pictures, in order.
struct Trace {
    /// The number of the picture of each request.
    private(set) var requests: [Int] = []
    /// How many pictures there are that may be requested again; those with higher numbers are requested once.
    let objects: Int
    /// The bytes every picture takes when sizes are mixed: thumbnails mostly, and now and then something large.
    private let sizes = SizeTable()

    private init(objects: Int) { self.objects = objects }

    /// What a picture costs.
    func cost(of picture: Int, mixed: Bool) -> Int { mixed ? sizes[picture] : 1 }

    /// Some pictures are requested far more often than others, and now and then a scan goes through a long list of
    /// pictures that are never requested again.
    ///
    /// - Parameters:
    ///   - exponent: How much more often: number n is requested 1 / n to that power as often as the first.
    ///   - count: How many pictures there are apart from those of scans.
    ///   - length: How many requests there are.
    ///   - scan: How many pictures one scan goes through.
    ///   - period: After how many other requests the next scan begins.
    /// - Returns: The requests.
    static func zipf(_ exponent: Double, count: Int, length: Int, scan: Int, every period: Int) -> Trace {
        var trace = Trace(objects: count)
        var random = Random(state: 1)
        var sums: [Double] = []
        var sum = 0.0
        for rank in 1...count {
            sum += pow(Double(rank), -exponent)
            sums.append(sum)
        }
        var once = count
        for number in 1...length {
            trace.requests.append(sums.firstAtLeast(random.fraction() * sum))
            guard scan > 0, number.isMultiple(of: period) else { continue }
            trace.requests += once..<once + scan
            once += scan
        }
        return trace
    }

    /// A window over a long list that is scrolled up and down, mostly a little and sometimes far; on every screen some
    /// pictures are shown that are always there.
    ///
    /// - Parameters:
    ///   - rows: How long the list is.
    ///   - window: How many rows are visible at once.
    ///   - pinned: How many pictures every screen shows beside the rows.
    ///   - moves: How often the finger moves.
    /// - Returns: The requests.
    static func scrolling(rows: Int, window: Int, pinned: Int, moves: Int) -> Trace {
        var trace = Trace(objects: rows + pinned)
        var random = Random(state: 2)
        var top = 0
        for _ in 0..<moves {
            let isFar = random.fraction() < 0.05
            let length = 1 + Int(-log(1 - random.fraction()) * (isFar ? 60 : 6) * Double(window))
            let step = random.fraction() < 0.55 ? 1 : -1
            for moved in 0..<length {
                let next = top + step
                guard next >= 0, next + window <= rows else { break }
                top = next
                trace.requests.append(pinned + (step > 0 ? top + window - 1 : top))
                if moved.isMultiple(of: window) { trace.requests += 0..<pinned }
            }
        }
        return trace
    }
}

/// Sizes that depend on a picture's number only.
private struct SizeTable {
    subscript(picture: Int) -> Int {
        var random = Random(state: UInt64(truncatingIfNeeded: picture) &* 0x9E37_79B9_7F4A_7C15)
        // From 20 KB to 8 MB, the small ones more often.
        return Int(20_000 * pow(400, pow(random.fraction(), 2)))
    }
}

/// Random numbers that are the same in every run.
struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to just below 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

extension [Double] {
    /// The first place whose number is not below `bound`, in sorted numbers.
    fileprivate func firstAtLeast(_ bound: Double) -> Int {
        var (low, high) = (0, count - 1)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < bound { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
