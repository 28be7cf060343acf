// `kf fetch`: its options and what they may be. The work is in FetchRun.

import ArgumentParser
import Foundation
import Kingfisher

/// Loads pictures through the whole pipeline.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Load pictures, through the cache, and write them.",
        discussion: """
            The format written comes from --format, else from the name after -o, else it is the source's own; without \
            processing, those are the source's original bytes. Sources that fail do not stop the others.

            --json prints one object a line: source, key, cacheType (none, memory or disk), bytes, width, height, \
            frames, format, milliseconds, output; or source and error {code, reason, message}. bytes and format are \
            those of the output, or without one those of the picture as it was loaded.
            """
    )

    @Argument(help: ArgumentHelp("What to load.", valueName: "source"))
    var sources: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to this file, or into this directory for several sources.", valueName: "file|dir")
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

    @Option(help: ArgumentHelp("Load this many sources at once.", valueName: "n"))
    var concurrency = 4

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Load everything this many times.", valueName: "n"))
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
        let console = Console(isQuiet: quiet)
        let place = try place()
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
            concurrency: concurrency,
            usesJSON: json,
            console: console
        )
        var failures = 0
        for round in 1...rounds { failures += await run.load(writes: round == 1) }
        if failures > 0 { throw ExitStatus.failed }
    }

    private func place() throws -> OutputPlace {
        do throws(OutputPlaceError) {
            return try OutputPlace(output, sources: sources.count)
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func loader() throws -> PictureLoader {
        var options: KingfisherOptionsInfo = []
        if onlyCache { options.append(.onlyFromCache) }
        if refresh { options.append(.forceRefresh) }
        if let modifier = network.modifier { options.append(.requestModifier(modifier)) }
        return PictureLoader(
            downloader: network.downloader(),
            cache: cacheArguments.cache,
            processor: try PipelineArgument(pipeline).processor,
            writesToDisk: !memoryOnly,
            options: options
        )
    }
}
