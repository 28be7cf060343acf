// The work of `kf fetch`: loads sources side by side, writes and reports them in the order they were named.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// One way of loading a list of sources; it may be run several times.
struct FetchRun: Sendable {
    let loader: PictureLoader
    let arguments: [String]
    let destination: OutputDestination
    let encoding: Encoding
    let concurrency: Int
    let usesJSON: Bool
    let console: Console

    /// Loads every source once.
    ///
    /// - Parameter writes: Whether outputs are written.
    /// - Returns: How many failed.
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

    /// Loads a source, and writes it under a name if that is asked for, unless the file is one that is read.
    private func fetch(
        _ text: String,
        index: Int,
        _ output: (name: String, inputs: InputFiles)?,
        _ bar: ProgressReport
    ) async -> FetchReport {
        do throws(Failure) {
            let argument = try source(text)
            let picture = try await loader.load(argument) { received, expected in
                bar.note(index, received: received, expected: expected)
            }
            let output = try await write(picture, output)
            return FetchReport(source: text, key: loader.key(of: argument), picture: picture, output: output)
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

    /// Writes the picture, if that was asked for.
    private func write(
        _ picture: LoadedPicture,
        _ output: (name: String, inputs: InputFiles)?
    ) async throws(Failure) -> FetchReport.Output? {
        guard let output, destination != .nowhere else { return nil }
        let encoded = try await encoding.encoded(picture.image, original: picture.data)
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

/// What became of one source.
struct FetchReport: Sendable {
    /// A file that was written.
    struct Output: Sendable {
        let path: String
        let bytes: Int
        let type: ImageContentType
        let frames: Int
        let warning: String?

        init(_ picture: EncodedPicture, path: String) {
            self.path = path
            type = picture.type
            bytes = picture.data.count
            frames = (try? ImageInfo(data: picture.data))?.frameCount ?? 1
            warning = picture.warning
        }
    }

    let source: String
    var key = ""
    var picture: LoadedPicture?
    var output: Output?
    var failure: Failure?

    var isFailure: Bool { failure != nil }

    /// What is to be said although there is a picture.
    var warnings: [String] {
        [
            picture?.cacheProblem.map { "not cached: \($0)" },
            picture?.image.isDamaged == true ? PictureBytes.damage : nil,
            output?.warning,
        ].compactMap(\.self)
    }

    private var bytes: Int? { output?.bytes ?? picture?.data?.count }

    private var format: String? {
        (output?.type ?? picture?.data.flatMap { ImageContentType(sniffing: $0) } ?? picture?.image.contentType)?.name
    }

    /// The line for scripts.
    var json: JSON {
        guard let picture else {
            return ["source": .string(Redaction.source(source)), "error": failure?.json ?? .null]
        }
        return [
            "source": .string(Redaction.source(source)),
            "key": .string(Redaction.source(key)),
            "cacheType": .string("\(picture.cacheType)"),
            "bytes": .optional(bytes, JSON.int),
            "width": .int(picture.width),
            "height": .int(picture.height),
            "frames": .int(output?.frames ?? picture.image.frameCount ?? 1),
            "format": .optional(format?.lowercased(), JSON.string),
            "milliseconds": .milliseconds(picture.seconds),
            "output": .optional(output?.path, JSON.string),
            "damaged": .bool(picture.image.isDamaged),
        ]
    }

    /// The line for people.
    var line: String {
        guard let picture else { return source }
        let origin =
            switch picture.cacheType {
            case .none: "loaded"
            case .memory: "from memory"
            case .disk: "from disk"
            }
        var parts = ["\(picture.width)×\(picture.height)"]
        if let format { parts.append(format) }
        if let bytes { parts.append(Units.bytes(bytes)) }
        parts.append("\(origin) in \(Units.seconds(picture.seconds))")
        return "\(Units.source(source)): \(parts.joined(separator: ", "))" + (output.map { " → \($0.path)" } ?? "")
    }
}
