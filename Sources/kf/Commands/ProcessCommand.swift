// `kf process`: its options and their values. The work is in ProcessRun.

import ArgumentParser
import Foundation
import Kingfisher

/// Processes images.
struct ProcessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "process",
        abstract: "Process images and write the results, without any cache.",
        discussion: """
              kf process in.png -o out.webp
              kf process a.jpg -o b.jpg --process 'thumbnail(1600x)' -q 80 --keep exif
              kf process *.jpg -o 'thumbs/{name}.webp' --process 'thumbnail(300x)'
              kf process photos -o small -r --update --process 'thumbnail(1600x)'
              kf process a.jpg -o 'a-{width}.webp' --widths 320,640,1280
              kf process *.jpg --in-place --process 'rotate(90)'

            The format written comes from --format, else from the name of the output, else it is the input's own, or \
            PNG for formats that are only read. Of an animation every frame goes through the pipeline; it stays in its \
            own format, or becomes WebP if that is only read, where nothing asks for another one, and is written as \
            its first frame, with a warning, in formats that hold no animations.

            Images are turned upright, as their EXIF data says, and lose it unless --keep is given: without --process they \
            are only converted. Several inputs go to a directory, on all cores at once. Those that fail do not stop \
            the others. A file that is there is replaced, and keeps its mode.

            --json prints one object per line: source, bytes, width, height, frames, format, output, damaged (whether \
            a part of the image is missing); or source and error {code, reason, message}, with imaging (malformed, \
            limitExceeded and so on) if the bytes are what is wrong; or source, output and skipped (true or false) where \
            nothing was to be written. With -o - the lines go to standard error.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("What to process; - is standard input.", valueName: "input"), completion: .file())
    var inputs: [String]

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp(
            "The file to write, or the directory for several inputs; - is standard output.",
            discussion: OutputTemplate.help,
            valueName: "file|dir"
        ),
        completion: .file()
    )
    var output: String?

    @Option(name: .customLong("process"), parsing: .unconditional, help: PipelineArgument.help)
    var pipeline: PipelineArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Write each image in these widths, from one decode; it needs {width} after -o.",
            discussion: "Images are not enlarged: for widths beyond that of an image, its own is written once.",
            valueName: "n,n…"
        )
    )
    var widths: Widths?

    @OptionGroup(title: "Many files") var batch: BatchArguments
    @OptionGroup(title: "Results") var processing: ProcessingArguments
    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print nothing but errors, and the lines --json asks for.")
    var quiet = false

    /// The meaning of `output`, known once the options have been validated.
    private var destination = OutputDestination.standardOutput

    mutating func validate() throws {
        _ = try pipeline?.steps
        if inputs.count == 1 { try SourceArgument.check(inputs[0]) }
        if batch.inPlace { try checkInPlace() }
        switch (output, batch.inPlace) {
        case (nil, true): destination = .inPlace
        case (_?, true): throw ValidationError("-o and --in-place exclude each other")
        case (nil, false):
            throw ValidationError("where to? name a file or a directory with -o, or replace the files with --in-place")
        case (let output?, false):
            let count = batch.recursive ? nil : inputs.count
            destination = try processing.destination(output, sources: count, copies: false)
            if batch.recursive { destination = destination.keepingFolders }
        }
        if widths != nil, destination.template?.has(.width) != true {
            throw ValidationError(
                "--widths makes several results; name them with {width}, as in -o '{name}-{width}.webp'"
            )
        }
        if widths != nil, (processing.format?.contentType ?? destination.type) == .ico {
            throw ValidationError("--widths does not go with ICO, which has several sizes in one file: see --sizes")
        }
        try batch.check(destination)
    }

    private func checkInPlace() throws {
        if let format = processing.format {
            throw ValidationError("--in-place keeps the format; use -o to write \(format.rawValue)")
        }
        let other = inputs.first { (try? SourceArgument($0))?.typedPath == nil }
        if let other { throw ValidationError("--in-place replaces files, and \(Units.source(other)) is none") }
    }

    func run() async throws {
        let console = Console(isQuiet: quiet, results: OutputFile.resultsDescriptor(for: destination))
        let interruption = console.tidyingOnInterruption()
        defer { interruption.finish() }
        if !batch.dryRun { try await OutputFile.prepare(destination) }
        let run = ProcessRun(
            reader: SourceBytes(network, limits),
            steps: try pipeline?.steps ?? [],
            processor: try await pipeline?.processor,
            widths: widths,
            encoding: processing.encoding(for: destination, isProcessed: true),
            processing: processing,
            batch: batch,
            destination: destination,
            usesJSON: json,
            console: console
        )
        if await run.process(inputs) > 0 { throw ExitStatus.failed }
    }
}
