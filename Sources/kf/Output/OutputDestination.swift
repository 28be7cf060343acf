// The destinations of results: what `-o` means; for `kf fetch` and `kf process`.

import Foundation
import KFImaging

/// The destination that `-o` names.
enum OutputDestination: Equatable {
    case nowhere
    case file(String)
    case directory(String)
    /// A file for each result, whose name is made of a pattern.
    case template(OutputTemplate)
    /// The meaning of `-`.
    case standardOutput

    /// The name that may tell the format of all results.
    var fileName: String? {
        switch self {
        case .file(let path): path
        case .template(let template): template.hasEnding ? template.text : nil
        case .nowhere, .directory, .standardOutput: nil
        }
    }

    /// Whether names of files are made here, which must not be those of inputs.
    var makesNames: Bool {
        switch self {
        case .directory, .template: true
        case .nowhere, .file, .standardOutput: false
        }
    }

    /// The path a result is written to, `-` for standard output; nil when it is not written.
    func path(of result: ResultName) -> String? {
        switch self {
        case .nowhere: return nil
        case .standardOutput: return "-"
        case .file(let path): return path
        case .template(let template): return template.path(of: result)
        case .directory(let directory):
            let stem = (directory as NSString).appendingPathComponent(result.name)
            return result.ending.isEmpty ? stem : "\(stem).\(result.ending)"
        }
    }

    /// Throws for a file name that asks for a format the tool does not write.
    ///
    /// - Parameter copies: Whether original bytes may be written, in any format that is read.
    /// - Throws: An error that lists the names that are accepted.
    func checkFormat(copies: Bool) throws(OutputDestinationError) {
        guard let fileName else { return }
        let ending = URL(fileURLWithPath: fileName).pathExtension
        let type = ImageContentType(fileExtension: ending)
        guard !ending.isEmpty, type.flatMap({ OutputFormat($0) }) == nil, type == nil || !copies else { return }
        throw OutputDestinationError(
            description: "-o \(fileName) asks for a format this tool does not write; use .png, .jpg, .gif, .webp "
                + "or .avif, or name the format with --format"
        )
    }

    /// Throws if an image's bytes would go to a terminal, unless that is forced.
    func checkTerminal(force: Bool) throws(OutputDestinationError) {
        guard self == .standardOutput, !force, isatty(STDOUT_FILENO) == 1 else { return }
        throw OutputDestinationError(
            description: "standard output is a terminal; redirect standard output, use kf show, or insist with --force"
        )
    }

    /// Reads the argument of `-o`; what exists there and the number of sources decide between file and directory.
    init(_ argument: String?, sources: Int) throws(OutputDestinationError) {
        guard let argument else {
            self = .nowhere
            return
        }
        guard !argument.isEmpty else { throw OutputDestinationError(description: "-o needs a name") }
        guard argument != "-" else {
            guard sources == 1 else {
                throw OutputDestinationError(description: "-o - takes one image, but there are \(sources) sources")
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

    private static func template(_ text: String, _ sources: Int) throws(OutputDestinationError) -> Self? {
        guard let template = try OutputTemplate(text) else { return nil }
        guard sources == 1 || template.has(.name) else {
            throw OutputDestinationError(
                description: "-o \(text) has no {name}, so the results of \(sources) sources could have one name"
            )
        }
        return .template(template)
    }

    private static func path(_ path: String, _ sources: Int) throws(OutputDestinationError) -> Self {
        var status = stat()
        let exists = stat(path.systemName, &status) == 0
        if path.hasSuffix("/") || (exists && status.st_mode & S_IFMT == S_IFDIR) { return .directory(path) }
        if sources == 1 { return .file(path) }
        guard !exists, ImageContentType(fileExtension: URL(fileURLWithPath: path).pathExtension) == nil else {
            throw OutputDestinationError(description: "-o \(path) is one file, but there are \(sources) sources")
        }
        return .directory(path)
    }
}

/// The reason why a destination cannot be used.
struct OutputDestinationError: Error, Equatable, CustomStringConvertible {
    let description: String
}
