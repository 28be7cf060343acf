// Synthetic traces of requests for images, the same in every run.

import Glibc

/// Requests for images, in order.
struct Trace {
    /// The number of the image of each request.
    private(set) var requests: [Int] = []
    /// The number of images that may be requested again; those with higher numbers are requested once.
    let objects: Int
    /// The bytes of every image when sizes are mixed: mostly thumbnails, sometimes a large image.
    private let sizes = SizeTable()

    private init(objects: Int) { self.objects = objects }

    /// The cost of an image.
    func cost(of image: Int, mixed: Bool) -> Int { mixed ? sizes[image] : 1 }

    /// Requests by Zipf's law, with scans between that go through many images which are never requested again.
    ///
    /// - Parameters:
    ///   - exponent: Image number n is requested 1 / n to this power as often as the first.
    ///   - count: The number of images apart from those of scans.
    ///   - length: The number of requests.
    ///   - scan: The number of images in one scan.
    ///   - period: The number of other requests before the next scan begins.
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

    /// A long list that is scrolled up and down, mostly a little and sometimes far, with some images on every screen.
    ///
    /// - Parameters:
    ///   - rows: The number of rows in the list.
    ///   - window: The number of rows that are visible at once.
    ///   - pinned: The number of images that every screen shows beside the rows.
    ///   - moves: The number of scroll movements.
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

/// Sizes that depend on an image's number only.
private struct SizeTable {
    subscript(image: Int) -> Int {
        var random = Random(state: UInt64(truncatingIfNeeded: image) &* 0x9E37_79B9_7F4A_7C15)
        // From 20 KB to 8 MB, the small ones more often.
        return Int(20_000 * pow(400, pow(random.fraction(), 2)))
    }
}

/// Pseudo-random numbers, the same in every run.
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
    /// The first index whose number is not below `bound`, in sorted numbers.
    fileprivate func firstAtLeast(_ bound: Double) -> Int {
        var (low, high) = (0, count - 1)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < bound { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
