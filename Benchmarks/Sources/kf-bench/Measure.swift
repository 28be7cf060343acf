// Timing two ways of doing the same. Knows nothing of what they do.

import Glibc

/// How two pieces of work compare.
struct Comparison {
    /// The median time of one operation, in seconds.
    let ours: Double
    let baseline: Double
    /// The median, over all pairs, of our time divided by the baseline's.
    let ratio: Double
}

/// Which time is measured.
enum Stopwatch {
    /// The time on the wall: for work that waits, or that several threads do.
    case wall
    /// The time this thread had a core: for work that neither waits nor is done elsewhere. What else the machine does
    /// hardly matters then.
    case thread
    /// The time all threads of this process had a core, in the kernel too: for what work costs that several do.
    case process

    private var clock: clockid_t {
        switch self {
        case .wall: CLOCK_MONOTONIC
        case .thread: CLOCK_THREAD_CPUTIME_ID
        case .process: CLOCK_PROCESS_CPUTIME_ID
        }
    }

    fileprivate var seconds: Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Times both alternately: a machine that is busy for a while slows both halves of a pair, and the pair's ratio hardly
/// moves.
///
/// - Parameters:
///   - rounds: How many pairs are timed, after one that is not.
///   - stopwatch: Which time is measured.
///   - operations: How many operations one call performs.
///   - ours: Our way.
///   - baseline: The way to compare with.
/// - Returns: Medians.
/// - Throws: What the work throws.
func compare(
    rounds: Int,
    by stopwatch: Stopwatch = .thread,
    operations: Int = 1,
    ours: () async throws -> Void,
    baseline: () async throws -> Void
) async throws -> Comparison {
    try await ours()
    try await baseline()
    var pairs: [(ours: Double, baseline: Double)] = []
    for round in 0..<rounds {
        // The second may profit from the first, or suffer: they alternate.
        if round.isMultiple(of: 2) {
            let ours = try await seconds(stopwatch, ours)
            pairs.append((ours, try await seconds(stopwatch, baseline)))
        } else {
            let baseline = try await seconds(stopwatch, baseline)
            pairs.append((try await seconds(stopwatch, ours), baseline))
        }
    }
    return Comparison(
        ours: median(pairs.map(\.ours)) / Double(operations),
        baseline: median(pairs.map(\.baseline)) / Double(operations),
        ratio: median(pairs.map { $0.ours / $0.baseline })
    )
}

/// How long some work takes.
func seconds(_ stopwatch: Stopwatch, _ work: () async throws -> Void) async throws -> Double {
    let start = stopwatch.seconds
    try await work()
    return stopwatch.seconds - start
}

/// The number in the middle.
func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    guard let low = sorted.dropFirst((sorted.count - 1) / 2).first else { return .nan }
    return (low + sorted[sorted.count / 2]) / 2
}
