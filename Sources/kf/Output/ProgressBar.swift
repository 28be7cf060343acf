// The state of a progress bar, and its line of text.

/// The progress of a number of loads, as a value.
struct ProgressBar: Equatable, Sendable {
    /// The number of loads.
    let total: Int
    /// The number of loads that have ended, failed ones included.
    var finished = 0
    /// The number of loads that failed.
    var failed = 0
    /// The seconds since the first load began.
    var elapsed = 0.0
    /// The bytes that have arrived, by load.
    private(set) var received: [Int: Int64] = [:]
    /// The part of each running load that has arrived, from 0 to 1.
    private var parts: [Int: Double] = [:]

    init(total: Int) { self.total = total }

    var isComplete: Bool { finished >= total }

    /// Records the bytes received by one load; an expected length of zero or less is unknown.
    mutating func record(_ load: Int, received: Int64, expected: Int64) {
        self.received[load] = received
        parts[load] = expected > 0 ? min(1, Double(received) / Double(expected)) : 0
    }

    /// Records that one load has ended.
    mutating func end(_ load: Int, failed hasFailed: Bool) {
        parts[load] = nil
        finished += 1
        failed += hasFailed ? 1 : 0
    }

    /// The part of everything that is done, from 0 to 1.
    var fraction: Double {
        total == 0 ? 1 : min(1, (Double(finished) + parts.values.reduce(0, +)) / Double(total))
    }

    /// The seconds until everything is done, if the rest takes as long as what is done; nil where that says too little.
    private var secondsLeft: Double? {
        guard elapsed >= 2, fraction > 0.01, !isComplete else { return nil }
        return elapsed / fraction * (1 - fraction)
    }

    /// The bar in at most `width - 1` columns, so that the cursor never wraps.
    func line(width: Int) -> String {
        var text = " \(finished)/\(total)"
        if failed > 0 { text += ", \(failed) failed" }
        let bytes = received.values.reduce(0, +)
        if bytes > 0 { text += ", \(Units.bytes(Int(bytes)))" }
        if let secondsLeft { text += ", \(Units.timeLeft(secondsLeft)) left" }
        let cells = min(40, width - text.count - 3)
        guard cells >= 5 else { return String(text.dropFirst().prefix(max(0, width - 1))) }
        let full = Int((fraction * Double(cells)).rounded(.down))
        return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: cells - full) + "]" + text
    }
}
