// The work of `kf fetch`: loads sources side by side, writes and reports them in the order they were named.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// The loads of a list of sources; it can run several times.
struct FetchRun: Sendable {
    let loader: ImageLoader
    let arguments: [String]
    let destination: OutputDestination
    let steps: [PipelineStep]
    let encoding: Encoding
    let concurrency: Int
    let usesJSON: Bool
    let console: Console

    /// Loads every source once.
    ///
    /// - Parameter writes: Whether outputs are written.
    /// - Returns: The number of failures.
    func load(writes: Bool) async -> Int {
        let files = InputFiles(arguments)
        let names = OutputFile.distinct(arguments.map { (try? SourceArgument($0))?.baseName ?? "" })
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
        _ output: (name: String, inputs: InputFiles)?,
        _ bar: ProgressReport
    ) async -> FetchReport {
        do throws(Failure) {
            let argument = try source(text)
            let loaded = try await loader.load(argument) { received, expected in
                bar.record(index, received: received, expected: expected)
            }
            let output = try await write(loaded, output)
            var report = FetchReport(source: text, key: loader.key(of: argument), loaded: loaded, output: output)
            report.enlargingWarning = PipelineStep.enlargingWarning(steps, original: loaded.data)
            return report
        } catch {
            return FetchReport(source: text, failure: error)
        }
    }

    private func source(_ text: String) throws(Failure) -> SourceArgument {
        do throws(SourceArgumentError) {
            return try SourceArgument(text)
        } catch {
            throw .badSource(error)
        }
    }

    /// Writes the image, if that was asked for.
    private func write(
        _ loaded: LoadedImage,
        _ output: (name: String, inputs: InputFiles)?
    ) async throws(Failure) -> FetchReport.Output? {
        guard let output, destination != .nowhere else { return nil }
        let encoded = try await encoding.encoded(loaded.image, original: loaded.data)
        return try await OutputFile.write(encoded, to: destination, name: output.name, keeping: output.inputs)
            .map { FetchReport.Output(encoded, path: $0) }
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

/// The outcome of one source.
struct FetchReport: Sendable {
    /// A file that was written.
    struct Output: Sendable {
        let path: String
        let bytes: Int
        let type: ImageContentType
        let frames: Int
        let warning: String?

        init(_ image: EncodedImage, path: String) {
            self.path = path
            type = image.type
            bytes = image.data.count
            frames = (try? ImageInfo(data: image.data))?.frameCount ?? 1
            warning = image.warning
        }
    }

    let source: String
    var key = ""
    var loaded: LoadedImage?
    var output: Output?
    var enlargingWarning: String?
    var failure: Failure?

    var isFailure: Bool { failure != nil }

    /// The warnings about a source that was loaded.
    var warnings: [String] {
        [
            loaded?.cacheProblem.map { "not cached: \($0)" },
            loaded?.refreshProblem.map { "out of date, perhaps: the cached image is used, since \($0)" },
            loaded?.image.isDamaged == true ? ImageBytes.damage : nil,
            enlargingWarning,
            output?.warning,
        ].compactMap(\.self)
    }

    private var bytes: Int? { output?.bytes ?? loaded?.data?.count }

    private var format: String? {
        (output?.type ?? loaded?.data.flatMap { ImageContentType(sniffing: $0) } ?? loaded?.image.contentType)?.name
    }

    /// The line for scripts.
    var json: JSON {
        guard let loaded else {
            return ["source": .string(Redaction.source(source)), "error": failure?.json ?? .null]
        }
        return [
            "source": .string(Redaction.source(source)),
            "key": .string(Redaction.source(key)),
            "cacheType": .string("\(loaded.cacheType)"),
            "bytes": .optional(bytes, JSON.int),
            "width": .int(loaded.width),
            "height": .int(loaded.height),
            "frames": .int(output?.frames ?? loaded.image.frameCount ?? 1),
            "format": .optional(format?.lowercased(), JSON.string),
            "milliseconds": .milliseconds(loaded.seconds),
            "output": .optional(output?.path, JSON.string),
            "damaged": .bool(loaded.image.isDamaged),
        ]
    }

    /// The line for people.
    var line: String {
        guard let loaded else { return source }
        let origin =
            switch loaded.cacheType {
            case .none: "loaded"
            case .memory: "from memory"
            case .disk: "from disk"
            }
        var parts = ["\(loaded.width)×\(loaded.height)"]
        if let format { parts.append(format) }
        if let bytes { parts.append(Units.bytes(bytes)) }
        parts.append("\(origin) in \(Units.seconds(loaded.seconds))")
        return "\(Units.source(source)): \(parts.joined(separator: ", "))" + (output.map { " → \($0.path)" } ?? "")
    }
}
