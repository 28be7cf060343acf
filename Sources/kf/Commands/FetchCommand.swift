// `kf fetch`: its options and their values. The work is in FetchRun.

import ArgumentParser
import Foundation
import Kingfisher

/// Loads images through the whole pipeline.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Load images, through the cache, and write them.",
        discussion: """
              kf fetch https://example.com/photo.jpg -o photo.jpg
              kf fetch https://example.com/a.jpg -o a.webp --process 'resize(200x)'
              kf fetch $(cat urls.txt) -o images/ --retry 3

            The format written comes from --format, else from the name after -o, else it is the source's own; without \
            processing, those are the source's original bytes with all of their metadata, the location included; images \
            that are encoded are turned upright, as their EXIF data says, and lose it. Of an animation every frame goes through the pipeline; \
            it stays in its own format, or becomes WebP if that is only read, where nothing asks for another one, and \
            is written as its first frame, with a warning, in formats that hold no animations. Sources that fail do \
            not stop the others. A file that is there is replaced, and keeps its mode. A cached image is used for as \
            long as its server says, or for seven days; then the server is asked whether it is still the one. Of a \
            file on this machine, too, a copy is kept in the cache for a week; kf process keeps none, and no metadata. \
            A user name and a password in a URL are sent to that server, and not printed.

            --json prints one object per line: source, key, cacheType (none, memory or disk), bytes, width, height, \
            frames, format, milliseconds, output, damaged (whether a part of the image is missing); or source and \
            error {code, reason, message}, with imaging (malformed, limitExceeded and so on) if the bytes are what is \
            wrong. bytes, frames and format are those of the output, or without one those of the image as it was \
            loaded. With -o - the lines go to standard error.
            """
    )

    @Argument(help: ArgumentHelp("What to load.", valueName: "source"), completion: .file())
    var sources: [String]

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp(
            "Write to this file, or into this directory for several sources; - is standard output.",
            discussion: OutputTemplate.help,
            valueName: "file|dir"
        ),
        completion: .file()
    )
    var output: String?

    @Option(name: .customLong("process"), parsing: .unconditional, help: PipelineArgument.help)
    var pipeline: PipelineArgument?

    @OptionGroup(title: "Results") var processing: ProcessingArguments
    @OptionGroup var cacheArguments: CacheArguments

    @Flag(help: "Load nothing that is not in the cache.")
    var onlyCache = false

    @Flag(help: "Load again what is in the cache.")
    var refresh = false

    @Flag(help: "Neither read nor write the disk cache.")
    var memoryOnly = false

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network") var network: NetworkArguments

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp("Load this many sources at once, over as many connections.", valueName: "n")
    )
    var concurrency = 4

    @Option(
        name: .customLong("repeat"),
        parsing: .unconditional,
        help: ArgumentHelp("Load everything this many times.", valueName: "n")
    )
    var rounds = 1

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print nothing but errors, and the lines --json asks for.")
    var quiet = false

    /// The meaning of `output`, known once the options have been validated.
    private var destination: OutputDestination?

    mutating func validate() throws {
        guard (1...1000).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 1000") }
        guard rounds >= 1 else { throw ValidationError("--repeat must be at least 1") }
        if onlyCache, refresh { throw ValidationError("--only-cache and --refresh exclude each other") }
        if onlyCache, memoryOnly {
            throw ValidationError("--only-cache and --memory-only exclude each other: memory is empty at first")
        }
        _ = try pipeline?.steps
        if let output {
            destination = try processing.destination(output, sources: sources.count, copies: pipeline == nil)
        }
    }

    func run() async throws {
        let console = Console(isQuiet: quiet, results: OutputFile.resultsDescriptor(for: destination))
        let interruption = console.tidyingOnInterruption()
        defer { interruption.finish() }
        try await OutputFile.prepare(destination)
        let encoding = processing.encoding(for: destination, isProcessed: pipeline != nil)
        // The cache has images without gain maps: with one they are made of the original each time.
        let isMadeAnew = destination != nil && processing.coding.keep?.hasGainMap ?? false
        limits.apply()
        let processor = try await pipeline?.processor
        let run = FetchRun(
            loader: await loader(
                isMadeAnew ? nil : processor,
                keepsAnimations: destination != nil && encoding.mayHoldAnimation
            ),
            processor: isMadeAnew ? processor : nil,
            arguments: sources,
            destination: destination,
            steps: try pipeline?.steps ?? [],
            encoding: encoding,
            processing: processing,
            concurrency: concurrency,
            usesJSON: json,
            console: console
        )
        var failures = 0
        for round in 1...rounds { failures += await run.load(writes: round == 1) }
        if failures > 0 { throw ExitStatus.failed }
    }

    private func loader(_ processor: (any ImageProcessor)?, keepsAnimations: Bool) async -> ImageLoader {
        var options = network.options + [.respectCacheControl]
        if onlyCache { options.append(.onlyFromCache) }
        if refresh { options.append(.forceRefresh) }
        if processing.coding.still { options.append(.onlyLoadFirstFrame) }
        return ImageLoader(
            downloader: network.downloader(connections: concurrency),
            cache: cacheArguments.cache,
            processor: processor,
            policy: keepsAnimations ? .transformFrames : .firstFrame,
            usesDisk: !memoryOnly,
            limits: limits,
            options: options
        )
    }
}
