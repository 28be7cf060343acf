// The work of `kf fetch`: loads sources side by side, writes and reports them in the order they were named.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// The loads of a list of sources; it can run several times.
struct FetchRun: Sendable {
    let loader: ImageLoader
    /// Makes results of originals; nil where the loader does.
    let processor: (any ImageProcessor)?
    let arguments: [String]
    let destination: OutputDestination?
    let steps: [PipelineStep]
    let encoding: Encoding
    let processing: ProcessingArguments
    let concurrency: Int
    let usesJSON: Bool
    let console: Console

    /// Loads every source once.
    ///
    /// - Parameter writes: Whether outputs are written.
    /// - Returns: The number of failures.
    func load(writes: Bool) async -> Int {
        let sources = arguments.map { try? SourceArgument($0) }
        let files = InputFiles(sources.compactMap { $0?.path })
        let longest = destination?.longestStem ?? ResultName.longestStem
        let names = ResultName.distinct(
            sources.map { source in
                ResultName(
                    stem: source?.baseName(longest: longest) ?? "",
                    directory: source?.typedPath?.directory ?? ""
                )
            },
            byDirectory: destination?.template?.has(.directory) ?? false
        )
        let bar = ProgressReport(total: arguments.count, console: console)
        var failures = 0
        await Concurrently.forEach(arguments, atOnce: concurrency) { index, argument in
            let report = await fetch(argument, index: index, writes ? (names[index], files) : nil, bar)
            bar.end(index, failed: report.isFailure)
            return report
        } report: { report in
            failures += report.isFailure ? 1 : 0
            printLines(of: report)
        }
        console.endProgress()
        return failures
    }

    /// Loads a source, and writes it under a name if that is asked for; in a directory, no input is replaced.
    private func fetch(
        _ text: String,
        index: Int,
        _ output: (name: ResultName, inputs: InputFiles)?,
        _ bar: ProgressReport
    ) async -> FetchReport {
        do throws(Failure) {
            let argument = try SourceArgument.reading(text)
            var loaded = try await loader.load(argument) { received, expected in
                bar.record(index, received: received, expected: expected)
            }
            if let processor, let data = loaded.data {
                loaded.image = try await ImageBytes.image(data, processor, isStill: encoding.isStill)
            }
            try processing.check(loaded.image)
            let output = try await write(loaded, output)
            var whereabouts = output?.path
            if whereabouts == nil { whereabouts = await self.whereabouts(of: loaded, argument) }
            var report = FetchReport(
                source: text,
                key: loader.key(of: argument),
                loaded: loaded,
                output: output,
                whereabouts: whereabouts
            )
            report.enlargingWarning = PipelineStep.enlargingWarning(steps, original: loaded.data)
            return report
        } catch {
            return FetchReport(source: text, failure: error)
        }
    }

    /// What became of a processed image that no file was named for; nil for all others.
    private func whereabouts(of loaded: LoadedImage, _ argument: SourceArgument) async -> String? {
        guard destination == nil, loader.processor != nil else { return nil }
        return await loader.keeps(loaded, of: argument) ? "the cache; -o writes a file" : "nowhere; -o writes a file"
    }

    /// Writes the image, if that was asked for.
    private func write(
        _ loaded: LoadedImage,
        _ output: (name: ResultName, inputs: InputFiles)?
    ) async throws(Failure) -> WrittenImage? {
        guard let output, let destination else { return nil }
        let encoded = try await encoding.encoded(loaded.image, original: loaded.data)
        return try await OutputFile.write(encoded, to: destination, name: output.name, keeping: output.inputs)
    }

    private func printLines(of report: FetchReport) {
        for warning in report.warnings { console.warning("\(Units.source(report.source)): \(warning)") }
        if let failure = report.failure { console.error(failure.line(about: report.source)) }
        if usesJSON {
            console.print(report.json.description, always: true)
        } else if !report.isFailure {
            console.print(report.line)
        }
    }
}
