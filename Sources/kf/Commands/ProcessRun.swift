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
    /// The widths of the results; nil leaves them to the pipeline.
    let widths: Widths?
    let encoding: Encoding
    let processing: ProcessingArguments
    let batch: BatchArguments
    let destination: OutputDestination
    let usesJSON: Bool
    let console: Console

    /// Processes every input once, and reports the outcomes in the order of the inputs.
    ///
    /// - Returns: The number of failures.
    func process(_ arguments: [String]) async -> Int {
        let inputs = inputs(arguments)
        let files = SourceArgument.files(inputs.map(\.text))
        let isSorted = destination.template?.has(.directory) ?? false
        let names = ResultName.distinct(inputs.map { $0.resultName(in: destination) }, byDirectory: isSorted)
        let bar = inputs.count > 1 ? ProgressReport(total: inputs.count, console: console) : nil
        // An image for each core, and an image that is read or written; this also bounds the memory.
        let atOnce = batch.concurrency ?? WorkExecutor.cpu.threadCount + 1
        var failures = 0
        await Concurrently.forEach(inputs, atOnce: atOnce) { index, input in
            let report = await report(input, name: names[index], keeping: files)
            bar?.end(index, failed: report.failure != nil)
            return report
        } report: { report in
            failures += report.failure == nil ? 0 : 1
            printLines(of: report)
        }
        console.endProgress()
        return failures
    }

    /// The images that arguments name: each file once where it is replaced, and no file of a folder that is a result of
    /// another one, made before.
    private func inputs(_ arguments: [String]) -> [ProcessInput] {
        let inputs = InputFolder.images(arguments, depth: batch.recursive ? .all : .refused, output: destination.root)
        guard destination != .inPlace else {
            var seen: Set<FileIdentity> = []
            return inputs.filter { $0.identity.map { seen.insert($0).inserted } ?? true }
        }
        guard let ending = encoding.wanted?.preferredFileExtension else { return inputs }
        let results = Set(
            inputs.compactMap { input -> FileIdentity? in
                var name = input.resultName(in: destination)
                name.ending = ending
                let result = FileIdentity(destination.path(of: name))
                return result == input.identity ? nil : result
            }
        )
        return inputs.filter { input in !input.isFound || input.identity.map(results.contains) != true }
    }

    private func report(_ input: ProcessInput, name: ResultName, keeping files: InputFiles) async -> ProcessReport {
        do throws(Failure) {
            if let problem = input.problem { throw problem }
            if name.isNumbered, batch.existing != nil { throw .isAmbiguous(name.plainStem) }
            var data: Data?
            if batch.dryRun || batch.existing != nil {
                if encoding.wanted == nil { data = try await reader.read(input.text) }
                let plan = try plan(name, header: data, keeping: files)
                if let plan { return ProcessReport(input: input.text, outcome: plan) }
            }
            if let data { return try await process(data, input, name: name, keeping: files) }
            let mapped = try reader.map(input.text)
            let bytes = if let mapped { mapped } else { try await reader.read(input.text) }
            return try await process(bytes, isMapped: mapped != nil, input, name: name, keeping: files)
        } catch {
            return ProcessReport(input: input.text, outcome: .failed(error))
        }
    }

    /// The outcome without any work; nil where the image has to be processed.
    ///
    /// - Parameters:
    ///   - name: What the name of the result is made of.
    ///   - header: The bytes that tell the format of the result, unless it is known without them.
    ///   - files: The files that are read.
    /// - Returns: The outcome.
    /// - Throws: Why there can be no result.
    private func plan(
        _ name: ResultName,
        header: Data?,
        keeping files: InputFiles
    ) throws(Failure) -> ProcessReport.Outcome? {
        var name = name
        name.ending = try encoding.type(of: header).preferredFileExtension ?? ""
        let path = destination.path(of: name)
        if batch.leaves(path, of: name.source) { return .skipped(path: path) }
        guard batch.dryRun else { return nil }
        try OutputFile.check(path, in: destination, keeping: files)
        if let source = name.source, access(source.systemName, R_OK) != 0 { throw .unreadableFile(errno) }
        return .planned(path: path)
    }

    private func process(
        _ data: Data,
        isMapped: Bool = false,
        _ input: ProcessInput,
        name: ResultName,
        keeping files: InputFiles
    ) async throws(Failure) -> ProcessReport {
        let strips = (processor ?? DefaultImageProcessor.default)
            .strips(of: data, isMapped: isMapped, KingfisherParsedOptionsInfo(nil))
        if widths == nil, let strips, let made = try await encoding.encoded(strips, original: data) {
            try processing.check(isDamaged: made.isDamaged, replacesSource: destination == .inPlace)
            let output = try await OutputFile.write(made.result, to: destination, name: name, keeping: files)
            return report(input, [output], isDamaged: made.isDamaged, original: data, width: made.result.width)
        }
        let image = try await image(data, strips)
        try processing.check(image, replacesSource: destination == .inPlace)
        let width = Int(image.size.width * image.scale)
        var outputs: [WrittenImage] = []
        for wanted in widths?.fitting(width) ?? [width] {
            let result = wanted == width ? image : try await ImageBytes.image(image, width: wanted)
            let encoded = try await encoding.encoded(result, original: data)
            outputs.append(try await OutputFile.write(encoded, to: destination, name: name, keeping: files))
        }
        return report(input, outputs, isDamaged: image.isDamaged, original: data, width: width)
    }

    /// The processed image, made in strips where it can be.
    private func image(_ data: Data, _ strips: StripImage?) async throws(Failure) -> Image {
        if let strips, let image = await WorkExecutor.cpu.run({ () async -> Image? in try? strips.image() }) {
            return image
        }
        return try await ImageBytes.image(data, processor, isStill: encoding.isStill)
    }

    private func report(
        _ input: ProcessInput,
        _ outputs: [WrittenImage],
        isDamaged: Bool,
        original: Data,
        width: Int
    ) -> ProcessReport {
        let warnings = [widths?.warning(width), PipelineStep.enlargingWarning(steps, original: original)]
        return ProcessReport(
            input: input.text,
            outcome: .written(outputs),
            isDamaged: isDamaged,
            sizeWarnings: warnings.compactMap(\.self)
        )
    }

    private func printLines(of report: ProcessReport) {
        for warning in report.warnings { console.warning("\(Units.source(report.input)): \(warning)") }
        if let failure = report.failure { console.error(failure.line(about: report.input)) }
        if usesJSON {
            for json in report.json { console.print(json.description, always: true) }
        } else {
            for line in report.lines { console.print(line, always: batch.dryRun) }
        }
    }
}
