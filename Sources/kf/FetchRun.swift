// The work of `kf fetch`: loads sources side by side, writes and reports them in the order they were named.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// One way of loading a list of sources; it may be run several times.
struct FetchRun: Sendable {
    let loader: PictureLoader
    let arguments: [String]
    let place: OutputPlace
    let format: OutputFormat?
    let quality: Double?
    /// Whether of animations only the first frame is wanted.
    let isStill: Bool
    let concurrency: Int
    let usesJSON: Bool
    let console: Console

    /// Loads every source once.
    ///
    /// - Parameter writes: Whether outputs are written.
    /// - Returns: How many failed.
    func load(writes: Bool) async -> Int {
        let names = OutputFile.distinct(arguments.map { (try? SourceArgument($0))?.baseName ?? "" })
        let bar = ProgressReport(total: arguments.count, console: console)
        let reports = OrderedReports(self)
        await withTaskGroup(of: Void.self) { group in
            for (index, argument) in arguments.enumerated() {
                if index >= concurrency { await group.next() }
                group.addTask {
                    let report = await fetch(argument, index: index, name: writes ? names[index] : nil, bar)
                    bar.end(index, failed: report.isFailure)
                    reports.add(report, at: index)
                }
            }
        }
        console.endProgress()
        return reports.failures
    }

    private func fetch(_ text: String, index: Int, name: String?, _ bar: ProgressReport) async -> FetchReport {
        do throws(Failure) {
            let argument = try source(text)
            let picture = try await loader.load(argument) { received, expected in
                bar.note(index, received: received, expected: expected)
            }
            let output = try await write(picture, name: name)
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
    private func write(_ picture: LoadedPicture, name: String?) async throws(Failure) -> FetchReport.Output? {
        guard let name, place != .nowhere else { return nil }
        var encoding = Encoding(format: format, quality: quality, isChanged: loader.processor != nil || isStill)
        encoding.fileName = place.fileName
        let (data, type) = try await encoding.encoded(picture.image, original: picture.data)
        let path: String
        switch place {
        case .nowhere: return nil
        case .standardOutput:
            try await OutputFile.writeToStandardOutput(data)
            return FetchReport.Output(path: "-", data: data, type: type)
        case .file(let file): path = file
        case .directory(let directory):
            let stem = (directory as NSString).appendingPathComponent(name)
            path = type.preferredFileExtension.map { "\(stem).\($0)" } ?? stem
        }
        try await OutputFile.write(data, to: path)
        return FetchReport.Output(path: path, data: data, type: type)
    }

    fileprivate func say(_ report: FetchReport) {
        if let problem = report.picture?.cacheProblem {
            console.warning("\(Units.source(report.source)): not cached: \(problem)")
        }
        if let failure = report.failure { console.error("\(Units.source(report.source)): \(failure.text)") }
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

        init(path: String, data: Data, type: ImageContentType) {
            self.path = path
            self.type = type
            bytes = data.count
            frames = (try? ImageInfo(data: data))?.frameCount ?? 1
        }
    }

    let source: String
    var key = ""
    var picture: LoadedPicture?
    var output: Output?
    var failure: Failure?

    var isFailure: Bool { failure != nil }

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
        ]
    }

    /// The line for people.
    var line: String {
        guard let picture else { return source }
        let place =
            switch picture.cacheType {
            case .none: "loaded"
            case .memory: "from memory"
            case .disk: "from disk"
            }
        var parts = ["\(picture.width)×\(picture.height)"]
        if let format { parts.append(format) }
        if let bytes { parts.append(Units.bytes(bytes)) }
        parts.append("\(place) in \(Units.seconds(picture.seconds))")
        return "\(Units.source(source)): \(parts.joined(separator: ", "))" + (output.map { " → \($0.path)" } ?? "")
    }
}

/// Says reports in the order of their sources, as soon as all earlier ones are there.
private final class OrderedReports: Sendable {
    private struct State {
        var waiting: [Int: FetchReport] = [:]
        var next = 0
        var failures = 0
    }

    private let state = Locked(State())
    private let run: FetchRun

    init(_ run: FetchRun) { self.run = run }

    var failures: Int { state.withLock { $0.failures } }

    func add(_ report: FetchReport, at index: Int) {
        // Saying happens inside, so that two lines cannot swap places; the console calls nobody back.
        state.withLock { state in
            state.failures += report.isFailure ? 1 : 0
            state.waiting[index] = report
            while let ready = state.waiting.removeValue(forKey: state.next) {
                run.say(ready)
                state.next += 1
            }
        }
    }
}
