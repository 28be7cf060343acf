// The outcome of one input of `kf process`, as lines for people and for scripts.

import KFImaging
import KFSupport

/// The outcome of one input.
struct ProcessReport: Sendable {
    /// How it ended.
    enum Outcome: Sendable {
        /// The results: more than one where several widths were asked for.
        case written([WrittenImage])
        /// What would be written, under `--dry-run`.
        case planned(path: String)
        /// A result was there already.
        case skipped(path: String)
        case failed(Failure)
    }

    let input: String
    let outcome: Outcome
    var isDamaged = false
    /// Further warnings about sizes.
    var sizeWarnings: [String] = []

    var failure: Failure? {
        if case .failed(let failure) = outcome { failure } else { nil }
    }

    var warnings: [String] {
        guard case .written(let outputs) = outcome else { return [] }
        let warnings = (isDamaged ? [Failure.damage] : []) + sizeWarnings
        // The results of one input have lost the same.
        return warnings + outputs.prefix(1).compactMap(\.warning)
    }

    /// The lines for people; none for a failure.
    var lines: [String] {
        let source = Units.source(input)
        return switch outcome {
        case .failed: []
        case .planned(let path): ["\(source) → \(path)"]
        case .skipped(let path): ["\(source): skipped, \(path) is there"]
        case .written(let outputs): outputs.map { $0.line(of: input) }
        }
    }

    /// The lines for scripts.
    var json: [JSON] {
        let source = JSON.string(Redaction.source(input))
        return switch outcome {
        case .failed(let failure): [failure.json(about: input)]
        case .planned(let path): [["source": source, "output": .string(path), "skipped": .bool(false)]]
        case .skipped(let path): [["source": source, "output": .string(path), "skipped": .bool(true)]]
        case .written(let outputs):
            outputs.map { output in
                let damaged = JSON.Member(key: "damaged", value: .bool(isDamaged))
                return .object([JSON.Member(key: "source", value: source)] + output.members + [damaged])
            }
        }
    }
}
