// The work of `kf process`: images through a pipeline, without the caches, on all cores.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// The processing of a list of images.
struct ProcessRun: Sendable {
    let reader: SourceBytes
    let steps: [PipelineStep]
    let encoding: Encoding
    let destination: OutputDestination
    let console: Console

    /// The outcome of one input.
    private struct Report: Sendable {
        let input: String
        let result: Result<String, Failure>
        var warnings: [String] = []
    }

    /// The number of inputs in work: one for each core, and one that is read or written; this also bounds the memory.
    private static let atOnce = WorkExecutor.cpu.threadCount + 1

    /// Processes every input once, and reports the outcomes in the order of the inputs.
    ///
    /// - Returns: The number of failures.
    func process(_ inputs: [String]) async -> Int {
        let files = InputFiles(inputs)
        let names = OutputFile.distinct(inputs.map { (try? SourceArgument($0))?.baseName ?? "" })
        let bar = inputs.count > 1 ? ProgressReport(total: inputs.count, console: console) : nil
        var failures = 0
        await Concurrently.forEach(inputs, atOnce: Self.atOnce) { index, input in
            let report = await process(input, name: names[index], keeping: files)
            if case .failure = report.result { bar?.end(index, failed: true) } else { bar?.end(index, failed: false) }
            return report
        } report: { report in
            for warning in report.warnings { console.warning("\(Units.source(report.input)): \(warning)") }
            switch report.result {
            case .success(let line): console.print(line)
            case .failure(let failure):
                failures += 1
                console.error(failure.line(about: report.input))
            }
        }
        console.endProgress()
        return failures
    }

    private func process(_ input: String, name: String, keeping files: InputFiles) async -> Report {
        var warnings: [String] = []
        do throws(Failure) {
            let data = try await reader.read(input)
            let image = try await ImageBytes.image(data, PipelineStep.processor(of: steps), isStill: encoding.isStill)
            let encoded = try await encoding.encoded(image, original: data)
            warnings = [
                image.isDamaged ? ImageBytes.damage : nil,
                PipelineStep.enlargingWarning(steps, original: data),
                encoded.warning,
            ].compactMap(\.self)
            let path = try await OutputFile.write(encoded, to: destination, name: name, keeping: files) ?? ""
            let line =
                "\(Units.source(input)): \(image.pixelWidth)×\(image.pixelHeight), \(encoded.type.name), "
                + "\(Units.bytes(encoded.data.count)) → \(path)"
            return Report(input: input, result: .success(line), warnings: warnings)
        } catch {
            return Report(input: input, result: .failure(error), warnings: warnings)
        }
    }
}
