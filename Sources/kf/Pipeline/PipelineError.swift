// A mistake in a pipeline, and its position.

/// A mistake in a pipeline: the problem, its position, and what is allowed there.
struct PipelineError: Error, Equatable, CustomStringConvertible {
    /// The whole pipeline as it was typed.
    let text: String
    /// The offending characters, counted from the start of `text`.
    ///
    /// Empty where something is missing.
    let range: Range<Int>
    /// The problem with them.
    let problem: String
    /// The alternatives that are allowed there.
    let allowed: [String]

    /// The problem, the pipeline with a mark under the offending part, and the alternatives.
    var description: String {
        // Characters that would move the mark are shown as one column each.
        let shown = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        let mark = String(repeating: " ", count: range.lowerBound) + "^"
        let tail = String(repeating: "~", count: max(0, range.count - 1))
        let alternatives = allowed.map { "\n    \($0)" }.joined()
        return "\(problem)\n    \(shown)\n    \(mark)\(tail)\n  allowed here:\(alternatives)"
    }
}
