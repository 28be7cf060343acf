// What the server counts, and Prometheus' text of it. The routes count; `/metrics` shows.

package import Kingfisher
import Synchronization

/// The counters and times of one server.
///
/// These are its own, and not those of a library for metrics: such a library has one factory for the whole process,
/// which belongs to the application, and cannot tell what it has counted.
package final class ServerMetrics: Sendable {
    /// What is timed.
    package enum Step: String, CaseIterable, Sendable {
        /// From the path to the answer.
        case request
        /// From the caches' miss to the result: loading, decoding, encoding, and waiting for these.
        case making
        /// Of a making, until its pixels are begun: loading the source, and waiting for a processor.
        case source
        /// Decoding, and all that is done to the pixels.
        case pixels
        /// Encoding, and handing the file over to the caches.
        case encoding
    }

    private struct State {
        var requests: [Int: Int] = [:]
        var errors: [String: Int] = [:]
        var results: [ImageOrigin: Int] = [:]
        var damaged = 0
        var times: [Step: Histogram] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    func count(status: Int, origin: ImageOrigin?, error: String?) {
        state.withLock { state in
            state.requests[status, default: 0] += 1
            if let origin { state.results[origin, default: 0] += 1 }
            if let error { state.errors[error, default: 0] += 1 }
        }
    }

    /// Counts a result of a source of which a part is missing.
    func countDamaged() { state.withLock { $0.damaged += 1 } }

    func count(error: String) { state.withLock { $0.errors[error, default: 0] += 1 } }

    package func observe(_ step: Step, _ duration: Duration) {
        state.withLock { $0.times[step, default: Histogram()].add(duration / .seconds(1)) }
    }

    func observe(_ times: MakingTimes) {
        observe(.source, times.source)
        observe(.pixels, times.pixels)
        observe(.encoding, times.encoding)
    }

    /// All of it, with the names, sentences and values of what is as it is just now.
    package func text(
        tier: SharedTierStatistics? = nil,
        gauges: [(name: String, help: String, value: Int)]
    ) -> String {
        let state = state.withLock { $0 }
        func counter(_ name: String, _ help: String, _ label: String, _ values: [(String, Int)]) -> [String] {
            ["# HELP \(name) \(help)", "# TYPE \(name) counter"]
                + values.sorted { $0.0 < $1.0 }.map { "\(name){\(label)=\"\($0.0)\"} \($0.1)" }
        }
        var lines: [String] = []
        lines += counter(
            "kf_requests_total",
            "Requests for images.",
            "status",
            state.requests.map { ("\($0.key)", $0.value) }
        )
        lines += counter(
            "kf_errors_total",
            "Requests without a result.",
            "kind",
            state.errors.map { ($0.key, $0.value) }
        )
        lines += counter("kf_results_total", "Results sent.", "from", state.results.map { ($0.key.rawValue, $0.value) })
        lines += [
            "# HELP kf_damaged_results_total Results sent of sources of which a part is missing.",
            "# TYPE kf_damaged_results_total counter", "kf_damaged_results_total \(state.damaged)",
        ]
        if let tier {
            lines += counter(
                "kf_tier_total",
                "Calls to the shared tier.",
                "outcome",
                tier.counts.map { ($0.name, $0.value) }
            )
        }
        lines += ["# HELP kf_seconds Time by step.", "# TYPE kf_seconds histogram"]
        for step in Step.allCases {
            lines += (state.times[step] ?? Histogram()).lines(name: "kf_seconds", labels: "step=\"\(step.rawValue)\"")
        }
        for gauge in gauges {
            lines += [
                "# HELP \(gauge.name) \(gauge.help)", "# TYPE \(gauge.name) gauge", "\(gauge.name) \(gauge.value)",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// How often times were within bounds.
struct Histogram {
    private static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    private var sum = 0.0

    mutating func add(_ seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    func lines(name: String, labels: String) -> [String] {
        var total = 0
        let buckets = zip(Self.bounds.map { "\($0)" } + ["+Inf"], counts).map { bound, count in
            total += count
            return "\(name)_bucket{\(labels),le=\"\(bound)\"} \(total)"
        }
        return buckets + ["\(name)_sum{\(labels)} \(sum)", "\(name)_count{\(labels)} \(total)"]
    }
}
