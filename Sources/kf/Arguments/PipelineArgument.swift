// The value of `--process`, for all commands that process images.

import ArgumentParser
import Kingfisher

/// A pipeline as an argument, parsed together with the command line.
struct PipelineArgument: Equatable, Sendable {
    let steps: [PipelineStep]

    /// The help of the commands that take a pipeline.
    static let help = ArgumentHelp(
        "Steps joined by |>, for instance 'thumbnail(200x200,fill)|>round(20)'.",
        discussion: """
            \(PipelineParser.steps.map { "\($0.usage): \($0.meaning)." }.joined(separator: "\n"))
            Sizes are in pixels; P% is a part of the width; COLOR is #rgb, #rrggbb, #rrggbbaa or a name.
            MODE is one of \(PipelineStep.BlendMode.allCases.map(\.rawValue).joined(separator: ", ")).
            OPERATION is one of these with sourceOver for normal, or highlight.
            """,
        valueName: "pipeline"
    )

    /// Reads a pipeline, and turns a mistake into a usage error that keeps its lines.
    init(_ text: String?) throws {
        do throws(PipelineError) {
            steps = try text.map { text throws(PipelineError) in try PipelineParser.parse(text) } ?? []
        } catch {
            throw ValidationError("--process: \(error)")
        }
    }

    /// The steps as one processor; nil when there are none.
    var processor: (any ImageProcessor)? { PipelineStep.processor(of: steps) }
}
