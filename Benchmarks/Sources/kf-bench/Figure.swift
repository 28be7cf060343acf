// One row of the table: what was measured, and what it must reach. Knows neither how it is measured nor printed.

/// A number with the unit it is best read in.
enum Quantity {
    /// Time, in seconds.
    case seconds(Double)
    /// Memory, in bytes.
    case bytes(Double)
    /// Operations a second.
    case rate(Double)
    /// A part of a whole, from 0 to 1.
    case fraction(Double)
    /// How often something happened.
    case count(Int)

    var value: Double {
        switch self {
        case .seconds(let value), .bytes(let value), .rate(let value), .fraction(let value): value
        case .count(let count): Double(count)
        }
    }
}

/// What a figure must reach.
enum Goal {
    /// So many times faster than the baseline.
    case faster(Double)
    /// No more than so many times the baseline.
    case atMostTimes(Double)
    /// At least so many times the baseline.
    case atLeastTimes(Double)
    /// At least this share of the baseline's rate.
    case share(Double)
    /// No more than so much, whatever the baseline takes.
    case atMost(Quantity)
    /// Less than so much, whatever the baseline takes.
    case below(Quantity)
    /// Exactly so often.
    case exactly(Int)
    /// Nothing: it is there to compare with.
    case shown
}

/// How much two small pictures are like what they should be, in decibels.
struct Similarity {
    let ours: Double
    /// Nil where the baseline makes no small picture.
    let baseline: Double?

    /// Whether ours is as good, a difference left out that comes of rounding alone.
    var isReached: Bool { baseline.map { ours >= $0 - 0.1 } ?? true }
}

/// A measured row.
struct Figure {
    let ours: Quantity
    let baseline: Quantity?
    /// How many times the baseline's time ours takes; pairs are compared, not averages, where both were measured
    /// together.
    let timesBaseline: Double?
    let goal: Goal
    /// For work that makes a small picture; without the baseline's similarity no speed reaches the goal.
    let similarity: Similarity?

    /// Two pieces of work that were timed against each other.
    init(_ comparison: Comparison, _ goal: Goal, _ similarity: Similarity? = nil) {
        self.similarity = similarity
        ours = .seconds(comparison.ours)
        baseline = .seconds(comparison.baseline)
        timesBaseline = comparison.ratio
        self.goal = goal
    }

    /// The same, as operations a second.
    init(rateOf comparison: Comparison, _ goal: Goal) {
        similarity = nil
        ours = .rate(1 / comparison.ours)
        baseline = .rate(1 / comparison.baseline)
        timesBaseline = comparison.ratio
        self.goal = goal
    }

    /// A number, and perhaps one to see it in proportion to.
    init(_ ours: Quantity, baseline: Quantity? = nil, _ goal: Goal, _ similarity: Similarity? = nil) {
        self.similarity = similarity
        self.ours = ours
        self.baseline = baseline
        timesBaseline = baseline.map { ours.value / $0.value }
        self.goal = goal
    }

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
        case .below(let limit): ours.value < limit.value
        case .exactly(let count): ours.value == Double(count)
        }
    }
}

/// A row that can be measured.
struct Benchmark: Sendable {
    let name: String
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
