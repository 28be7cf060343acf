// The parser of pipelines such as `downsample(200x200)|>round(20)`. The steps are in PipelineSteps.

import Foundation

/// Reads pipelines; all steps are in one table, `PipelineParser.steps`.
enum PipelineParser {
    /// A step's name, its spelling, an example and the meaning for help and page, and the function that reads its
    /// arguments.
    struct Entry: Sendable {
        let name: String
        let usage: String
        let example: String
        let meaning: String
        let read: @Sendable (inout PipelineArguments) throws(PipelineError) -> PipelineStep
    }

    /// The steps that `text` spells, first to last.
    ///
    /// An empty text is a mistake.
    static func parse(_ text: String) throws(PipelineError) -> [PipelineStep] {
        var result: [PipelineStep] = []
        for part in Fragment(whole: text).split(separator: "|>") {
            result.append(try step(part))
        }
        return result
    }

    /// Reads `name(argument,argument…)`.
    private static func step(_ untrimmed: Fragment) throws(PipelineError) -> PipelineStep {
        let part = untrimmed.trimmed
        let allowed = steps.map(\.usage)
        guard !part.isEmpty else { throw part.error("a step is missing", allowed: allowed) }
        let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
        guard let entry = steps.first(where: { $0.name == name.text }) else {
            let wrong = name.isEmpty ? part : name
            let meant = Suggestion.closest(to: wrong.text, among: steps.map(\.name))
            let advice = meant.map { "; did you mean \($0)?" } ?? ""
            throw wrong.error("there is no step \"\(wrong.text)\"\(advice)", allowed: allowed)
        }
        let rest = part.dropFirst(name.count).trimmed
        guard rest.first == "(" else {
            throw rest.error("\"\(entry.name)\" needs its arguments in parentheses", allowed: [entry.usage])
        }
        guard let close = rest.firstIndex(of: ")") else {
            throw rest.end.error("the parenthesis of \"\(entry.name)\" is not closed", allowed: [entry.usage])
        }
        let behind = rest.dropFirst(close + 1).trimmed
        guard behind.isEmpty else {
            throw behind.error("\"\(behind.text)\" stands behind \"\(entry.name)\"", allowed: ["|>", "the end"])
        }
        var arguments = PipelineArguments(inside: rest.slice(1..<close), step: entry.name, usage: entry.usage)
        let step = try entry.read(&arguments)
        try arguments.finish()
        return step
    }
}
