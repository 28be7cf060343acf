// `kf prefetch`: its options and their values. The work is in PrefetchRun.

import ArgumentParser
import Foundation
import Kingfisher

/// Loads the images of a list into the cache.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Load the images of a list into the cache.",
        discussion: """
              kf prefetch list.txt -j 8
              kf prefetch - --process 'thumbnail(200x200,fill)' --retry 3 < list.txt

            The list names one source a line: an http or https URL, a file: URL or a path. Empty lines and lines that \
            begin with # are skipped. A source that is there twice is loaded once. What is in the cache already is not \
            loaded again, so an interrupted prefetch goes on where it ended when it is started once more. What is \
            cached, and under which key, is what kf fetch looks for: with --process the processed image and its \
            original.

            Sources that fail do not stop the others; each has a line on standard error in the end. An image that \
            cannot be written to the cache has failed. A damaged image is not kept in the cache: it counts as \
            downloaded, with a warning. Ctrl-C stops: what has not ended by then is counted as stopped, and the tool \
            ends by that signal, which shells show as 130.

            --json prints one object a line for each source, in the order of the list: source, key and status \
            (downloaded, cached or stopped); or source, status failed and error {code, reason, message}. The last \
            line is the summary: downloaded, cached, failed and stopped, each a number.
            """
    )

    @Argument(
        help: ArgumentHelp("A file with one source a line; - is standard input.", valueName: "list"),
        completion: .file()
    )
    var list: String

    @Option(name: .customLong("process"), parsing: .unconditional, help: PipelineArgument.help)
    var pipeline: PipelineArgument?

    @Flag(help: "Take only the first frame of an animation.")
    var still = false

    @OptionGroup var cacheArguments: CacheArguments

    @Flag(help: "Load again what is in the cache.")
    var refresh = false

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network") var network: NetworkArguments

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp("Load this many sources at once, over as many connections.", valueName: "n")
    )
    var concurrency = 4

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print nothing but errors, and the lines --json asks for.")
    var quiet = false

    func validate() throws {
        guard (1...1000).contains(concurrency) else { throw ValidationError("--concurrency must be from 1 to 1000") }
        guard !list.isEmpty else { throw ValidationError("the list needs the name of a file, or - for standard input") }
        _ = try pipeline?.steps
    }

    func run() async throws {
        let console = Console(isQuiet: quiet)
        let lines = try PrefetchList.lines(of: list)
        let run = PrefetchRun(
            loader: try await loader(),
            lines: lines,
            concurrency: concurrency,
            usesJSON: json,
            console: console
        )
        let interruption = Interruption(tidy: console.endProgress) { stop in
            console.endProgress()
            stop()
        }
        let failures = await run.prefetch(stoppedBy: interruption)
        interruption.finish()
        if failures > 0 { throw ExitStatus.failed }
    }

    private func loader() async throws -> ImageLoader {
        limits.apply()
        var options = network.options
        if refresh { options.append(.forceRefresh) }
        if still { options.append(.onlyLoadFirstFrame) }
        return ImageLoader(
            downloader: network.downloader(connections: concurrency),
            cache: cacheArguments.cache,
            processor: try await pipeline?.processor,
            policy: still ? .firstFrame : .transformFrames,
            limits: limits,
            options: options
        )
    }
}
