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
    /// The file that the result is made of.
    case inPlace

    /// The name that may tell the format of all results.
    private var fileName: String? {
        switch self {
        case .file(let path): path
        case .template(let template): template.hasEnding ? template.text : nil
        case .directory, .standardOutput, .inPlace: nil
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
        case .file, .standardOutput, .inPlace: false
        }
    }

    /// The pattern of names; nil where there is none.
    var template: OutputTemplate? {
        if case .template(let template) = self { template } else { nil }
    }

    /// The most bytes of a result's stem, so that its name is not too long.
    var longestStem: Int { template?.longestStem ?? ResultName.longestStem }

    /// The directory that all results go to; nil where there is none.
    var root: String? {
        switch self {
        case .directory(let path): path
        case .template(let template): template.root.isEmpty ? nil : template.root
        case .file, .standardOutput, .inPlace: nil
        }
    }

    /// The same directory, in which those of the sources are made again.
    var keepingFolders: OutputDestination {
        if case .directory(let path) = self { .template(OutputTemplate(below: path)) } else { self }
    }

    /// The path a result is written to, `-` for standard output.
    ///
    /// - Parameter name: What the name of the result is made of.
    /// - Returns: The path.
    func path(of name: ResultName) -> String {
        switch self {
        case .standardOutput: return "-"
        case .file(let path): return path
        case .inPlace: return name.source ?? name.stem
        case .template(let template): return template.path(of: name)
        case .directory(let directory):
            let stem = (directory as NSString).appendingPathComponent(name.stem)
            guard let ending = name.ending, !ending.isEmpty else { return stem }
            return "\(stem).\(ending)"
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
                + ".avif, .ico, .bmp or .tiff, or name the format with --format"
        )
    }

    /// Throws for a file that is one of several inputs, which the result would replace.
    func check(isNoneOf inputs: InputFiles) throws(ValidationError) {
        guard case .file(let path) = self, inputs.contains(path) else { return }
        throw ValidationError("-o \(path) is one of the images; name another file")
    }

    /// Throws if an image's bytes would go to a terminal, unless that is forced.
    func checkTerminal(force: Bool) throws(ValidationError) {
        guard self == .standardOutput, !force, isatty(STDOUT_FILENO) == 1 else { return }
        throw ValidationError(
            "standard output is a terminal; redirect standard output, use kf show, or insist with --force"
        )
    }

    /// Reads the argument of `-o`; what exists there and the number of sources decide between file and directory.
    ///
    /// - Parameters:
    ///   - argument: The argument.
    ///   - sources: The number of sources; nil for those in folders, which may be many.
    /// - Throws: A usage error.
    init(_ argument: String, sources: Int?) throws(ValidationError) {
        guard !argument.isEmpty else { throw ValidationError("-o needs a name") }
        guard argument != "-" else {
            guard sources == 1 else {
                throw ValidationError("-o - takes one image, but \(Self.count(sources))")
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

    private static func count(_ sources: Int?) -> String {
        sources.map { "there are \($0) sources" } ?? "--recursive may find many"
    }

    private static func template(_ text: String, _ sources: Int?) throws(ValidationError) -> Self? {
        guard let template = try OutputTemplate(text) else { return nil }
        guard sources == 1 || template.has(.name) else {
            throw ValidationError(
                "-o \(text) has no {name}, so several results could have one name: \(count(sources))"
            )
        }
        return .template(template)
    }

    private static func path(_ path: String, _ sources: Int?) throws(ValidationError) -> Self {
        var status = stat()
        let exists = stat(path.systemName, &status) == 0
        if path.hasSuffix("/") || (exists && status.st_mode & S_IFMT == S_IFDIR) { return .directory(path) }
        if sources == 1 { return .file(path) }
        guard !exists, ImageContentType(fileExtension: URL(fileURLWithPath: path).pathExtension) == nil else {
            throw ValidationError("-o \(path) is one file, but \(count(sources))")
        }
        return .directory(path)
    }
}
