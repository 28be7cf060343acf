// `kf process`: one picture through a pipeline, past the caches.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Processes one picture.
struct ProcessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "process",
        abstract: "Process one picture and write the result, without any cache.",
        discussion: """
            The format written comes from --format, else from the name of the output, else it is the input's own, or PNG \
            for formats that are only read. Of an animation every frame goes through the pipeline when GIF, PNG, WebP \
            or AVIF is written, and the first one otherwise.
            """
    )

    @Argument(help: ArgumentHelp("What to process; - is standard input.", valueName: "input"))
    var input: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var output: String

    @Option(name: .customLong("process"), help: PipelineArgument.help)
    var pipeline: String

    @OptionGroup var processing: ProcessingArguments
    @OptionGroup var network: NetworkArguments

    func validate() throws {
        _ = try PipelineArgument(pipeline)
        try SourceArgument.check(input)
        do throws(OutputPlaceError) {
            let place = try place()
            if processing.format == nil { try place.checkFormat(acceptsUnknown: true) }
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func place() throws(OutputPlaceError) -> OutputPlace {
        let place = try OutputPlace(output, sources: 1)
        if case .directory = place { throw OutputPlaceError(description: "-o \(output) is a directory; name a file") }
        try place.checkTerminal(force: processing.force)
        return place
    }

    func run() async throws {
        let steps = try PipelineArgument(pipeline)
        let place = try OutputPlace(output, sources: 1)
        do throws(Failure) {
            let data = try await SourceBytes(network).read(input)
            let image = try await PictureBytes.picture(data, steps.processor, isStill: processing.still)
            let encoding = Encoding(
                format: processing.format,
                quality: processing.quality,
                fileName: place.fileName,
                isChanged: true
            )
            let (bytes, type) = try await encoding.encoded(image, original: data)
            if place == .standardOutput {
                try await OutputFile.writeToStandardOutput(bytes)
            } else {
                try await OutputFile.write(bytes, to: output)
            }
            Console(results: OutputFile.resultsDescriptor(for: place)).print(
                "\(Units.source(input)): \(image.pixelWidth)×\(image.pixelHeight), \(type.name), "
                    + "\(Units.bytes(bytes.count)) → \(output)"
            )
        } catch {
            Console().error("\(Units.source(input)): \(error.text)")
            throw ExitStatus.failed
        }
    }
}
