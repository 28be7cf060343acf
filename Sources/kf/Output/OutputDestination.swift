// The destinations of results: what `-o` means; for `kf fetch` and `kf process`.

import ArgumentParser
import Foundation
import KFImaging

/// The destination that `-o` names; decodable, since the parser asks that of everything a command holds.
enum OutputDestination: Equatable, Decodable {
    case file(String)
    case directory(String)
    /// A file for each result, whose name is made of a pattern.
    case template(OutputTemplate)
    /// The meaning of `-`.
    case standardOutput

    /// The name that may tell the format of all results.
    private var fileName: String? {
        switch self {
        case .file(let path): path
        case .template(let template): template.hasEnding ? template.text : nil
        case .directory, .standardOutput: nil
        }
    }

    /// The format that this name stands for, if any.
    var type: ImageContentType? {
        fileName.flatMap { ImageContentType(fileExtension: URL(fileURLWithPath: $0).pathExtension) }
    }

    /// Whether names of files are made here, which must not be those of inputs.
    var makesNames: Bool {
        switch self {
        case .directory, .template: true
        case .file, .standardOutput: false
        }
    }

    /// The path a result is written to, `-` for standard output.
    ///
    /// - Parameters:
    ///   - image: The result.
    ///   - name: The name of its source without the extension.
    /// - Returns: The path.
    func path(of image: EncodedImage, name: String) -> String {
        switch self {
        case .standardOutput: return "-"
        case .file(let path): return path
        case .template(let template): return template.path(of: image, name: name)
        case .directory(let directory):
            let stem = (directory as NSString).appendingPathComponent(name)
            return image.ending.isEmpty ? stem : "\(stem).\(image.ending)"
        }
    }

    /// Throws for a file name that asks for a format the tool does not write.
    ///
    /// - Parameter copies: Whether original bytes may be written, in any format that is read.
    /// - Throws: An error that lists the names that are accepted.
    func checkFormat(copies: Bool) throws(ValidationError) {
        guard let fileName, !URL(fileURLWithPath: fileName).pathExtension.isEmpty else { return }
        guard type.flatMap({ OutputFormat($0) }) == nil, type == nil || !copies else { return }
        throw ValidationError(
            "-o \(fileName) asks for a format this tool does not write; use .png, .jpg, .gif, .webp, "
                + ".avif or .ico, or name the format with --format"
        )
    }

    /// Throws if an image's bytes would go to a terminal, unless that is forced.
    func checkTerminal(force: Bool) throws(ValidationError) {
        guard self == .standardOutput, !force, isatty(STDOUT_FILENO) == 1 else { return }
        throw ValidationError(
            "standard output is a terminal; redirect standard output, use kf show, or insist with --force"
        )
    }

    /// Reads the argument of `-o`; what exists there and the number of sources decide between file and directory.
    init(_ argument: String, sources: Int) throws(ValidationError) {
        guard !argument.isEmpty else { throw ValidationError("-o needs a name") }
        guard argument != "-" else {
            guard sources == 1 else {
                throw ValidationError("-o - takes one image, but there are \(sources) sources")
            }
            self = .standardOutput
            return
        }
        // A name with braces that exists is no pattern.
        if access(argument.systemName, F_OK) != 0, let template = try Self.template(argument, sources) {
            self = template
        } else {
            self = try Self.path(argument, sources)
        }
    }

    private static func template(_ text: String, _ sources: Int) throws(ValidationError) -> Self? {
        guard let template = try OutputTemplate(text) else { return nil }
        guard sources == 1 || template.has(.name) else {
            throw ValidationError(
                "-o \(text) has no {name}, so the results of \(sources) sources could have one name"
            )
        }
        return .template(template)
    }

    private static func path(_ path: String, _ sources: Int) throws(ValidationError) -> Self {
        var status = stat()
        let exists = stat(path.systemName, &status) == 0
        if path.hasSuffix("/") || (exists && status.st_mode & S_IFMT == S_IFDIR) { return .directory(path) }
        if sources == 1 { return .file(path) }
        guard !exists, ImageContentType(fileExtension: URL(fileURLWithPath: path).pathExtension) == nil else {
            throw ValidationError("-o \(path) is one file, but there are \(sources) sources")
        }
        return .directory(path)
    }
}
