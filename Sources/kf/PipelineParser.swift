// The spelling of pipelines: `downsample(200x200)|>round(20)`. Knows nothing of pixels.

import Foundation

/// Reads pipelines.
///
/// One table holds every step there is; help and error messages follow from it.
enum PipelineParser {
    /// A step's name, its spelling for people, and how its arguments become a value.
    struct Entry: Sendable {
        let name: String
        let usage: String
        let read: @Sendable (inout PipelineArguments) throws(PipelineError) -> PipelineStep
    }

    /// Every step there is.
    static let steps = [
        Entry(name: "downsample", usage: "downsample(WxH)") { arguments throws(PipelineError) in
            .downsample(try arguments.size("downsample"))
        },
        Entry(name: "resize", usage: "resize(WxH[,none|aspectFit|aspectFill])") { arguments throws(PipelineError) in
            let size = try arguments.size("resize")
            return .resize(size, try arguments.word(of: PipelineStep.Fit.self) ?? .none)
        },
        Entry(
            name: "round",
            usage: "round(R|P%[,corners=tl+tr+bl+br][,size=WxH][,background=COLOR])"
        ) { arguments throws(PipelineError) in
            .round(try rounding(&arguments))
        },
    ]

    /// The largest width or height a pipeline may ask for, in pixels.
    static let largestSide = 16_384.0

    /// The steps that `text` spells, first to last.
    ///
    /// An empty text is a mistake: it asks for nothing.
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
            throw wrong.error("there is no step \"\(wrong.text)\"", allowed: allowed)
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
        var arguments = PipelineArguments(inside: rest.slice(1..<close), usage: entry.usage)
        let step = try entry.read(&arguments)
        try arguments.finish(entry.name)
        return step
    }

    private static func rounding(
        _ arguments: inout PipelineArguments
    ) throws(PipelineError) -> PipelineStep.Rounding {
        var result = PipelineStep.Rounding(radius: try arguments.length("round"))
        while let (key, value) = try arguments.named(["corners", "size", "background"]) {
            switch key {
            case "corners": result.corners = try arguments.corners(value)
            case "size": result.size = try arguments.size(value)
            default: result.background = try arguments.color(value)
            }
        }
        return result
    }
}
