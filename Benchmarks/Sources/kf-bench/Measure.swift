// Timing two ways of doing the same, and counting the allocations of one.

import CBaseline
import Glibc

/// The comparison of two pieces of work.
struct Comparison {
    /// The median time of one operation, in seconds.
    let ours: Double
    let baseline: Double
    /// The median, over all pairs, of our time divided by the baseline's.
    let ratio: Double
}

extension Comparison {
    /// Medians of pairs of times, each measured right after the other.
    init(_ pairs: [(ours: Double, theirs: Double)]) {
        self.init(
            ours: median(pairs.map(\.ours)),
            baseline: median(pairs.map(\.theirs)),
            ratio: median(pairs.map { $0.ours / $0.theirs })
        )
    }
}

/// The kind of time that is measured.
enum Stopwatch {
    /// Elapsed time, for work that waits or uses several threads.
    case wall
    /// Processor time of this thread, for work that neither waits nor uses other threads; other load of the machine
    /// has little effect on it.
    case thread
    /// Processor time of all threads of this process, kernel included, for the cost of work that several threads share.
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

/// Times both alternately: a machine that is busy for a while slows both halves of a pair, so the ratio hardly changes.
///
/// - Parameters:
///   - rounds: The number of pairs that are timed, after one that is not.
///   - stopwatch: The kind of time that is measured.
///   - operations: The number of operations in one call.
///   - ours: The library's work.
///   - baseline: The work it is compared with.
/// - Returns: Medians.
/// - Throws: The errors of the work.
func compare(
    rounds: Int,
    by stopwatch: Stopwatch = .thread,
    operations: Int = 1,
    ours: () async throws -> Void,
    baseline: () async throws -> Void
) async throws -> Comparison {
    try await ours()
    try await baseline()
    var pairs: [(ours: Double, theirs: Double)] = []
    for round in 0..<rounds {
        // The second may gain or lose through the first, so they alternate.
        if round.isMultiple(of: 2) {
            let ours = try await seconds(stopwatch, ours)
            pairs.append((ours, try await seconds(stopwatch, baseline)))
        } else {
            let baseline = try await seconds(stopwatch, baseline)
            pairs.append((try await seconds(stopwatch, ours), baseline))
        }
    }
    return Comparison(pairs.map { (ours: $0.ours / Double(operations), theirs: $0.theirs / Double(operations)) })
}

/// The time some work takes.
func seconds(_ stopwatch: Stopwatch, _ work: () async throws -> Void) async throws -> Double {
    let start = stopwatch.seconds
    try await work()
    return stopwatch.seconds - start
}

/// The number of allocations of all threads of this process during some work.
func allocationCount(of work: () async throws -> Void) async throws -> Double {
    let isCounted = baseline_start_counting_allocations()
    defer { _ = baseline_stop_counting_allocations() }
    try BenchmarkError.unless(isCounted, "allocations are not counted: another allocator comes before the benchmark's")
    try await work()
    return Double(baseline_stop_counting_allocations())
}

/// The median.
func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    guard let low = sorted.dropFirst((sorted.count - 1) / 2).first else { return .nan }
    return (low + sorted[sorted.count / 2]) / 2
}
