// The value of `--process`, for all commands that process images.

import ArgumentParser
import Kingfisher

/// A pipeline as an argument, read when the command line is.
struct PipelineArgument: ExpressibleByArgument {
    private let reading: Result<[PipelineStep], PipelineError>

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

    /// Reads a pipeline; a mistake is kept, since the argument parser would put its own words before it.
    init(argument: String) {
        reading = Result { () throws(PipelineError) in try PipelineParser.parse(argument) }
    }

    /// The steps.
    ///
    /// - Throws: A mistake, as a usage error that keeps its lines; never once the command has been validated.
    var steps: [PipelineStep] {
        get throws {
            do throws(PipelineError) {
                return try reading.get()
            } catch {
                throw ValidationError("--process: \(error)")
            }
        }
    }
}
