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
            The format written comes from --format, else from the name of the output, else it is the input's own.
            """
    )

    @Argument(help: ArgumentHelp("What to process.", valueName: "input"))
    var input: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
    var output: String

    @Option(name: .customLong("process"), help: PipelineArgument.help)
    var pipeline: String

    @OptionGroup var processing: ProcessingArguments
    @OptionGroup var network: NetworkArguments

    func validate() throws {
        _ = try PipelineArgument(pipeline)
        do throws(OutputPlaceError) {
            guard case .file = try OutputPlace(output, sources: 1) else {
                throw OutputPlaceError(description: "-o \(output) is a directory; name a file")
            }
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        let steps = try PipelineArgument(pipeline)
        do throws(Failure) {
            let data = try await SourceBytes(network).read(input)
            let image = try await Self.process(data, steps.processor ?? DefaultImageProcessor.default)
            let encoding = Encoding(
                format: processing.format,
                quality: processing.quality,
                fileName: output,
                isProcessed: true
            )
            let (bytes, type) = try await encoding.encoded(image, original: data)
            try await OutputFile.write(bytes, to: output)
            Console().print(
                "\(Units.abbreviated(input)): \(image.pixelWidth)×\(image.pixelHeight), \(type.name), "
                    + "\(Units.bytes(bytes.count)) → \(output)"
            )
        } catch {
            Console().error("\(Units.abbreviated(input)): \(error.text)")
            throw ExitStatus.failed
        }
    }

    private static func process(_ data: Data, _ processor: any ImageProcessor) async throws(Failure) -> Image {
        let options = KingfisherParsedOptionsInfo(nil)
        let image = await WorkExecutor.cpu.run { () async -> Image? in
            processor.process(item: .data(data), options: options)
        }
        guard let image else {
            throw Failure(.processorError(reason: .processingFailed(processor: processor, item: .data(data))))
        }
        return image
    }
}
