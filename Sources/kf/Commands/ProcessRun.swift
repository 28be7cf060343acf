// The work of `kf process`: images through a pipeline, without the caches, on all cores.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// The processing of a list of images.
struct ProcessRun: Sendable {
    let reader: SourceBytes
    let steps: [PipelineStep]
    /// The steps as one processor.
    let processor: (any ImageProcessor)?
    let encoding: Encoding
    let processing: ProcessingArguments
    let destination: OutputDestination
    let usesJSON: Bool
    let console: Console

    /// The number of inputs in work: one for each core, and one that is read or written; this also bounds the memory.
    private static let atOnce = WorkExecutor.cpu.threadCount + 1

    /// Processes every input once, and reports the outcomes in the order of the inputs.
    ///
    /// - Returns: The number of failures.
    func process(_ inputs: [String]) async -> Int {
        let sources = inputs.map { try? SourceArgument($0) }
        let files = InputFiles(sources.compactMap { $0?.path })
        let names = OutputFile.distinct(sources.map { $0?.baseName ?? "" })
        let bar = inputs.count > 1 ? ProgressReport(total: inputs.count, console: console) : nil
        var failures = 0
        await Concurrently.forEach(inputs, atOnce: Self.atOnce) { index, input in
            let report = await process(input, name: names[index], keeping: files)
            bar?.end(index, failed: report.isFailure)
            return report
        } report: { report in
            failures += report.isFailure ? 1 : 0
            printLines(of: report)
        }
        console.endProgress()
        return failures
    }

    private func process(_ input: String, name: String, keeping files: InputFiles) async -> ProcessReport {
        do throws(Failure) {
            let data = try await reader.read(input)
            let image = try await ImageBytes.image(data, processor, isStill: encoding.isStill)
            try processing.check(image)
            let encoded = try await encoding.encoded(image, original: data)
            let output = try await OutputFile.write(encoded, to: destination, name: name, keeping: files)
            var report = ProcessReport(input: input, result: .success(output), isDamaged: image.isDamaged)
            report.enlargingWarning = PipelineStep.enlargingWarning(steps, original: data)
            return report
        } catch {
            return ProcessReport(input: input, result: .failure(error))
        }
    }

    private func printLines(of report: ProcessReport) {
        for warning in report.warnings { console.warning("\(Units.source(report.input)): \(warning)") }
        if case .failure(let failure) = report.result { console.error(failure.line(about: report.input)) }
        if usesJSON {
            console.print(report.json.description, always: true)
        } else if let line = report.line {
            console.print(line)
        }
    }
}

/// The outcome of one input.
private struct ProcessReport: Sendable {
    let input: String
    let result: Result<WrittenImage, Failure>
    var isDamaged = false
    var enlargingWarning: String?

    var isFailure: Bool { (try? result.get()) == nil }

    var warnings: [String] {
        guard case .success(let output) = result else { return [] }
        return [isDamaged ? Failure.damage : nil, enlargingWarning, output.warning].compactMap(\.self)
    }

    /// The line for people; nil for a failure.
    var line: String? {
        guard case .success(let output) = result else { return nil }
        return "\(Units.source(input)): \(output.width)×\(output.height), \(output.type.name), "
            + "\(Units.bytes(output.bytes)) → \(output.path)"
    }

    /// The line for scripts.
    var json: JSON {
        switch result {
        case .failure(let failure): failure.json(about: input)
        case .success(let output):
            [
                "source": .string(Redaction.source(input)),
                "bytes": .int(output.bytes),
                "width": .int(output.width),
                "height": .int(output.height),
                "frames": .int(output.frames),
                "format": .string(output.type.name.lowercased()),
                "output": .string(output.path),
                "damaged": .bool(isDamaged),
            ]
        }
    }
}
