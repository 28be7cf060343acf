// The work of `kf variants`: each image is decoded once, and written in several widths and formats.

import Foundation
import KFImaging
import Kingfisher

/// The writing of the variants of a list of images.
struct VariantsRun: Sendable {
    let reader: SourceBytes
    let widths: Widths
    /// Without any, each image keeps its own.
    let formats: [ImageContentType]
    let coding: CodingArguments
    let markup: MarkupArguments
    /// Whether a file is accepted though its extension belongs to another format.
    let allowsWrongExtension: Bool
    /// A directory, or names made of a pattern.
    let destination: OutputDestination
    let usesJSON: Bool
    let console: Console

    /// One image is decoded while the files of another one are written; these take all cores.
    private static let atOnce = 2

    /// Works on every image once, and reports the outcomes in the order of the images.
    ///
    /// - Returns: The number of failures.
    func process(_ sources: [String]) async -> Int {
        let inputs = SourceArgument.files(sources)
        let isSorted = destination.template?.has(.directory) ?? false
        let names = ResultName.distinct(sources.map(name(of:)), byDirectory: isSorted)
        let bar = sources.count > 1 ? ProgressReport(total: sources.count, console: console) : nil
        var failures = 0
        await Concurrently.forEach(sources, atOnce: Self.atOnce) { index, source in
            let report = await report(source, name: names[index], keeping: inputs)
            bar?.end(index, failed: report.failure != nil)
            return report
        } report: { report in
            failures += report.failure == nil ? 0 : 1
            print(report)
        }
        console.endProgress()
        return failures
    }

    /// What the names of an image's files are made of; there is room for the width.
    private func name(of source: String) -> ResultName {
        let argument = try? SourceArgument(source)
        let stem = argument?.baseName(longest: destination.longestStem - 6) ?? ""
        let path = argument?.typedPath
        return ResultName(stem: stem, directory: path?.directory ?? "", source: path)
    }

    private func report(_ source: String, name: ResultName, keeping inputs: InputFiles) async -> VariantsReport {
        do throws(Failure) {
            let data = try await reader.read(source)
            return VariantsReport(source: source, outcome: .success(try await written(data, name, keeping: inputs)))
        } catch {
            return VariantsReport(source: source, outcome: .failure(error))
        }
    }

    private func written(
        _ data: Data,
        _ name: ResultName,
        keeping inputs: InputFiles
    ) async throws(Failure) -> VariantsReport.Written {
        let info = try ImageInfo.reading(data)
        let width = info.orientation.isTransposing ? info.pixelHeight : info.pixelWidth
        let upload = try await upload(data, named: name.source, widths: widths.fitting(width))
        if coding.strict, upload.facts.isDamaged { throw .damaged }
        var files: [WrittenImage] = []
        for file in upload.files {
            let name = self.name(name, of: file)
            files.append(try await OutputFile.write(Self.encoded(file), to: destination, name: name, keeping: inputs))
        }
        let paths = Dictionary(
            zip(upload.files.map(Self.identity(of:)), files.map { pathInRoot($0.path) }),
            uniquingKeysWith: { first, _ in first }
        )
        let types = Set(files.map(\.type)).sorted { $0.name < $1.name }
        return VariantsReport.Written(
            facts: upload.facts,
            files: files,
            html: markup.text(of: upload) { paths[Self.identity(of: $0)] ?? "" },
            warnings: [upload.facts.isDamaged ? Failure.damage : nil, widths.warning(width)].compactMap(\.self)
                + types.compactMap { warning(about: $0, of: data, frames: info.frameCount) }
        )
    }

    /// Makes the files of an image; the path is nil where it is no file: addresses often have another extension.
    private func upload(_ data: Data, named path: String?, widths: [Int]) async throws(Failure) -> Upload {
        let types: [ImageContentType?] = formats.isEmpty ? [nil] : formats
        let encodings = types.map(coding.encoding(as:))
        let variants = widths.map { UploadVariant("of \($0) pixels", width: $0, encodings: encodings) }
        // The limits are those of the options, and were checked where the bytes were read.
        var options = UploadOptions()
        (options.maxBytes, options.limits, options.allowsDamage) = (.max, .default, true)
        options.allowsWrongExtension = allowsWrongExtension
        do throws(UploadError) {
            return try await Upload.processing(data, named: path, into: variants, options: options)
        } catch {
            throw Failure(error, of: data)
        }
    }

    /// The name of a file: in a directory, with its width.
    private func name(_ name: ResultName, of file: Upload.File) -> ResultName {
        guard case .directory = destination else { return name }
        return ResultName(stem: "\(name.stem)-\(file.pixelWidth)", directory: name.directory, source: name.source)
    }

    private static func encoded(_ file: Upload.File) -> EncodedImage {
        let size = PixelSize(file.pixelWidth, file.pixelHeight)
        return EncodedImage(file.image.data, type: file.image.contentType, size: size)
    }

    private static func identity(of file: Upload.File) -> String { "\(file.image.mimeType) \(file.variant)" }

    /// The path of a file below the directory that all files go to.
    private func pathInRoot(_ path: String) -> String {
        guard let root = destination.template?.root else {
            return path.split(separator: "/").last.map(String.init) ?? path
        }
        return path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
    }

    /// The warning about what a format does not hold of an image.
    private func warning(about type: ImageContentType, of data: Data, frames: Int) -> String? {
        if frames > 1, !coding.still, OutputFormat(type)?.holdsAnimations != true {
            return "only the first of \(frames) frames was written as \(type.name), which holds no animations here; "
                + "--still takes one frame for all formats"
        }
        return coding.keep?.warning(of: data, as: type)
    }

    private func print(_ report: VariantsReport) {
        for warning in report.warnings { console.warning("\(Units.source(report.source)): \(warning)") }
        if let failure = report.failure { console.error(failure.line(about: report.source)) }
        if usesJSON {
            console.print(report.json.description, always: true)
        } else if let html = report.html {
            console.print(lines: html.components(separatedBy: "\n"), always: true)
        } else {
            console.print(lines: report.lines)
        }
    }
}

extension CodingArguments {
    /// What the options ask for in a format; nil is the image's own.
    fileprivate func encoding(as type: ImageContentType?) -> ImageEncoding {
        var encoding = ImageEncoding(type, quality: quality?.fraction)
        encoding.targetScore = quality?.score
        encoding.isLossless = lossless || quality?.fraction ?? 0 >= 1
        encoding.encoder = encoder
        encoding.embedsProfile = profile
        encoding.frames = still ? .first : .all
        if keep?.hasEXIF ?? false { encoding.keptMetadata.formUnion(.exif) }
        if keep?.hasLocation ?? false { encoding.keptMetadata.formUnion(.exifWithLocation) }
        if keep?.hasGainMap ?? false { encoding.keptMetadata.formUnion(.gainMap) }
        return encoding
    }
}

extension Failure {
    /// Why an image has no variants.
    fileprivate init(_ error: UploadError, of data: Data) {
        switch error {
        case .unusable(let reason):
            let item = ImageProcessItem.data(data)
            let failure = KingfisherError.processorError(
                reason: .processingFailed(processor: DefaultImageProcessor.default, item: item)
            )
            // Of an image that can be decoded, a format is too small for a variant.
            if failure.imagingError == nil {
                self.init(code: 9003, reason: "cannotEncode", message: "\(reason)")
            } else {
                self.init(failure)
            }
        case .wrongExtension(let ending, let type): self = .wrongExtension(ending, type)
        case .tooManyBytes, .variantFailed, .notWritten, .cancelled:
            self.init(code: 9003, reason: "cannotEncode", message: "\(error)")
        }
    }
}
