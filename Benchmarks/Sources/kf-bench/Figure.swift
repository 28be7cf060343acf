// One row of the table: what was measured, and the goal it must reach.

/// A number with the unit it is best read in.
enum Quantity {
    /// Time, in seconds.
    case seconds(Double)
    /// Memory, in bytes.
    case bytes(Double)
    /// Operations per second.
    case rate(Double)
    /// A number of events.
    case count(Int)
    /// A number of events for each operation, on average.
    case average(Double)
    /// A score of SSIMULACRA 2.
    case score(Double)

    var value: Double {
        switch self {
        case .seconds(let value), .bytes(let value), .rate(let value), .average(let value), .score(let value): value
        case .count(let count): Double(count)
        }
    }
}

/// The goal of a figure.
enum Goal {
    /// At least this many times faster than the baseline.
    case faster(Double)
    /// At most this many times the baseline.
    case atMostTimes(Double)
    /// At least this many times the baseline.
    case atLeastTimes(Double)
    /// At least this share of the baseline's rate.
    case share(Double)
    /// At most this value, whatever the baseline takes.
    case atMost(Quantity)
    /// At least this value, whatever the baseline's is.
    case atLeast(Quantity)
    /// At most this many seconds more than the baseline.
    case atMostMore(seconds: Double)
    /// Less than this value, whatever the baseline takes.
    case below(Quantity)
    /// Exactly this number.
    case exactly(Int)
    /// None: the figure is shown for comparison.
    case shown
}

/// The similarity of two small images to the ideal one, in decibels.
struct Similarity {
    let ours: Double
    /// Nil where the baseline makes no small image.
    let baseline: Double?

    /// Whether ours is as good, apart from differences by rounding.
    var isReached: Bool { baseline.map { ours >= $0 - 0.1 } ?? true }
}

/// A measured row.
struct Figure {
    let ours: Quantity
    let baseline: Quantity?
    /// Our time divided by the baseline's; where both were measured together, the median of the pairs' ratios.
    let timesBaseline: Double?
    let goal: Goal
    /// The similarity, for work that makes a small image; if it is below the baseline's, no speed reaches the goal.
    let similarity: Similarity?

    /// Two pieces of work that were timed against each other.
    init(_ comparison: Comparison, _ goal: Goal, _ similarity: Similarity? = nil) {
        self.similarity = similarity
        ours = .seconds(comparison.ours)
        baseline = .seconds(comparison.baseline)
        timesBaseline = comparison.ratio
        self.goal = goal
    }

    /// The same, as operations per second.
    init(rateOf comparison: Comparison, _ goal: Goal) {
        similarity = nil
        ours = .rate(1 / comparison.ours)
        baseline = .rate(1 / comparison.baseline)
        timesBaseline = comparison.ratio
        self.goal = goal
    }

    /// A single number, with a baseline if there is one.
    init(_ ours: Quantity, baseline: Quantity? = nil, _ goal: Goal, _ similarity: Similarity? = nil) {
        self.similarity = similarity
        self.ours = ours
        self.baseline = baseline
        timesBaseline = baseline.map { ours.value / $0.value }
        self.goal = goal
    }

    /// How much more than the baseline it is.
    var moreThanBaseline: Double { baseline.map { ours.value - $0.value } ?? .infinity }

    /// Whether the goal is reached; a comparison without a baseline never does.
    var isReached: Bool {
        if let similarity, !similarity.isReached { return false }
        let ratio = timesBaseline ?? .infinity
        return switch goal {
        case .faster(let times): 1 / ratio >= times
        case .atMostTimes(let times): ratio <= times
        case .atLeastTimes(let times): ratio >= times
        case .shown: true
        case .share(let share): 1 / ratio >= share
        case .atMost(let limit): ours.value <= limit.value
        case .atLeast(let limit): ours.value >= limit.value
        case .atMostMore(let seconds): moreThanBaseline <= seconds
        case .below(let limit): ours.value < limit.value
        case .exactly(let count): ours.value == Double(count)
        }
    }
}

/// A row that can be measured.
struct Benchmark: Sendable {
    let name: String
    /// Whether the figure is a number of events that hardly depends on what else the machine does, so that a single run
    /// shows whether a change has made it worse.
    var isCounted = false
    let measure: @Sendable () async throws -> Figure
}

/// The benchmark itself failed: what it measures did not happen.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws unless `condition` holds.
    static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        if !condition { throw BenchmarkError(description()) }
    }
}
