// `kf fetch`: its options and what they may be. The work is in FetchRun.

import ArgumentParser
import Foundation
import KFImaging
import Kingfisher

/// Loads pictures through the whole pipeline.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Load pictures, through the cache, and write them.",
        discussion: """
            The format written comes from --format, else from the name after -o, else it is the source's own; without \
            processing, those are the source's original bytes. Of an animation every frame goes through the pipeline when \
            GIF, PNG, WebP or AVIF is written, and the first one otherwise. Sources that fail do not stop the others.

            --json prints one object a line: source, key, cacheType (none, memory or disk), bytes, width, height, \
            frames, format, milliseconds, output; or source and error {code, reason, message}. bytes, frames and format \
            are those of the output, or without one those of the picture as it was loaded. With -o - the lines go to standard \
            error.
            """
    )

    @Argument(help: ArgumentHelp("What to load.", valueName: "source"))
    var sources: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write to this file, or into this directory for several sources; - is standard output.",
            valueName: "file|dir"
        )
    )
    var output: String?

    @Option(name: .customLong("process"), help: PipelineArgument.help)
    var pipeline: String?

    @OptionGroup var processing: ProcessingArguments
    @OptionGroup var cacheArguments: CacheArguments

    @Flag(help: "Load nothing that is not in the cache.")
    var onlyCache = false

    @Flag(help: "Load again what is in the cache.")
    var refresh = false

    @Flag(help: "Write nothing to the disk cache.")
    var memoryOnly = false

    @OptionGroup var network: NetworkArguments

    @Option(parsing: .unconditional, help: ArgumentHelp("Load this many sources at once.", valueName: "n"))
    var concurrency = 4

    @Option(
        name: .customLong("repeat"),
        parsing: .unconditional,
        help: ArgumentHelp("Load everything this many times.", valueName: "n")
    )
    var rounds = 1

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Flag(help: "Print nothing but errors, and the lines --json asks for.")
    var quiet = false

    func validate() throws {
        guard (1...1000).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 1000") }
        guard rounds >= 1 else { throw ValidationError("--repeat must be at least 1") }
        if onlyCache, refresh { throw ValidationError("--only-cache and --refresh exclude each other") }
        _ = try PipelineArgument(pipeline)
        _ = try place()
    }

    func run() async throws {
        let place = try place()
        let console = Console(isQuiet: quiet, results: OutputFile.resultsDescriptor(for: place))
        if case .directory(let path) = place {
            do throws(Failure) {
                try await OutputFile.makeDirectory(path)
            } catch {
                console.error("\(path): \(error.text)")
                throw ExitStatus.failed
            }
        }
        let run = FetchRun(
            loader: try loader(),
            arguments: sources,
            place: place,
            format: processing.format,
            quality: processing.quality,
            isStill: processing.still,
            concurrency: concurrency,
            usesJSON: json,
            console: console
        )
        var failures = 0
        for round in 1...rounds { failures += await run.load(writes: round == 1) }
        if failures > 0 { throw ExitStatus.failed }
    }

    /// Whether the output is one that may be an animation, as far as that was said.
    private var writesAnimations: Bool {
        guard !processing.still else { return false }
        let named = output.flatMap { ImageContentType(fileExtension: URL(fileURLWithPath: $0).pathExtension) }
        return (processing.format?.contentType ?? named).map { Codecs.canEncodeAnimation(as: $0) } ?? false
    }

    private func place() throws -> OutputPlace {
        do throws(OutputPlaceError) {
            let place = try OutputPlace(output, sources: sources.count)
            try place.checkTerminal(force: processing.force)
            // Of what is not changed the bytes are kept, whatever their format.
            if pipeline != nil, processing.format == nil { try place.checkFormat(acceptsUnknown: true) }
            return place
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func loader() throws -> PictureLoader {
        var options: KingfisherOptionsInfo = []
        if onlyCache { options.append(.onlyFromCache) }
        if refresh { options.append(.forceRefresh) }
        if processing.still { options.append(.onlyLoadFirstFrame) }
        if let modifier = network.modifier { options.append(.requestModifier(modifier)) }
        return PictureLoader(
            downloader: network.downloader(),
            cache: cacheArguments.cache,
            processor: try PipelineArgument(pipeline).processor,
            policy: writesAnimations ? .transformFrames : .firstFrame,
            writesToDisk: !memoryOnly,
            options: options
        )
    }
}
