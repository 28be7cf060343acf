// Parts of a pipeline's text that keep their position, so that an error can point at the mistake; and that error.

/// A part of a text that knows its position in the whole.
struct Fragment: Equatable {
    private let whole: [Character]
    private let range: Range<Int>

    init(whole: String) {
        self.whole = Array(whole)
        range = 0..<self.whole.count
    }

    private init(_ whole: [Character], _ range: Range<Int>) {
        self.whole = whole
        self.range = range
    }

    var text: String { String(whole[range]) }
    var count: Int { range.count }
    var isEmpty: Bool { range.isEmpty }
    var first: Character? { isEmpty ? nil : whole[range.lowerBound] }

    /// The position behind the last character.
    var end: Fragment { slice(count..<count) }

    /// The characters at these positions, counted from the fragment's own start.
    func slice(_ positions: Range<Int>) -> Fragment {
        Fragment(whole, range.lowerBound + positions.lowerBound..<range.lowerBound + positions.upperBound)
    }

    func dropFirst(_ count: Int) -> Fragment { slice(min(count, self.count)..<self.count) }

    func prefix(while belongs: (Character) -> Bool) -> Fragment {
        slice(0..<(whole[range].firstIndex { !belongs($0) } ?? range.upperBound) - range.lowerBound)
    }

    func firstIndex(of character: Character) -> Int? {
        whole[range].firstIndex(of: character).map { $0 - range.lowerBound }
    }

    /// Without white space at both ends.
    ///
    /// If there is only white space, the result is the empty position at its end.
    var trimmed: Fragment {
        guard let first = whole[range].firstIndex(where: { !$0.isWhitespace }),
            let last = whole[range].lastIndex(where: { !$0.isWhitespace })
        else { return end }
        return Fragment(whole, first..<last + 1)
    }

    /// The parts between occurrences of `separator`; always at least one.
    func split(separator: String) -> [Fragment] {
        let separator = Array(separator)
        var parts: [Fragment] = []
        var start = range.lowerBound
        var position = start
        while position + separator.count <= range.upperBound {
            if Array(whole[position..<position + separator.count]) == separator {
                parts.append(Fragment(whole, start..<position))
                position += separator.count
                start = position
            } else {
                position += 1
            }
        }
        return parts + [Fragment(whole, start..<range.upperBound)]
    }

    /// An error at this position.
    func error(_ problem: String, allowed: [String]) -> PipelineError {
        PipelineError(text: String(whole), range: range, problem: problem, allowed: allowed)
    }
}

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
