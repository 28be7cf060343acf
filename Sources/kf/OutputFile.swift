// The destinations of results, and writing files so that no reader sees half of one.

import Foundation
import KFImaging
import KFSupport

/// The destination that `-o` names.
enum OutputDestination: Equatable {
    case nowhere
    case file(String)
    case directory(String)
    /// The meaning of `-`.
    case standardOutput

    /// The path of the one output file, if there is only one.
    var fileName: String? {
        guard case .file(let path) = self else { return nil }
        return path
    }

    /// The path an image is written to; nil when it is not written.
    ///
    /// - Parameters:
    ///   - name: The name of its file in a directory, without the extension.
    ///   - type: Its format.
    /// - Returns: A path, or `-` for standard output.
    func path(name: String, type: ImageContentType) -> String? {
        switch self {
        case .nowhere: return nil
        case .standardOutput: return "-"
        case .file(let path): return path
        case .directory(let directory):
            let stem = (directory as NSString).appendingPathComponent(name)
            return type.preferredFileExtension.map { "\(stem).\($0)" } ?? stem
        }
    }

    /// Throws for a file name that asks for a format the tool does not write.
    ///
    /// - Parameter acceptsUnknown: Whether a name that stands for no format is accepted.
    /// - Throws: An error that lists the names that are accepted.
    func checkFormat(acceptsUnknown: Bool) throws(OutputDestinationError) {
        guard let fileName else { return }
        let ending = URL(fileURLWithPath: fileName).pathExtension
        let type = ImageContentType(fileExtension: ending)
        guard !ending.isEmpty, type.flatMap({ OutputFormat($0) }) == nil, type != nil || !acceptsUnknown else { return }
        throw OutputDestinationError(
            description: "-o \(fileName) asks for a format this tool does not write; use .png, .jpg, .gif, .webp "
                + "or .avif"
        )
    }

    /// Throws if an image's bytes would go to a terminal, unless that is forced.
    func checkTerminal(force: Bool) throws(OutputDestinationError) {
        guard self == .standardOutput, !force, isatty(STDOUT_FILENO) == 1 else { return }
        throw OutputDestinationError(
            description: "standard output is a terminal; send it elsewhere, use kf show, or insist with --force"
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
        var status = stat()
        let exists = stat(argument, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR || argument.hasSuffix("/") {
            self = .directory(argument)
        } else if argument.hasSuffix("/") {
            self = .directory(argument)
        } else if sources == 1 {
            self = .file(argument)
        } else if exists || ImageContentType(fileExtension: URL(fileURLWithPath: argument).pathExtension) != nil {
            throw OutputDestinationError(description: "-o \(argument) is one file, but there are \(sources) sources")
        } else {
            self = .directory(argument)
        }
    }
}

/// The reason why a destination cannot be used.
struct OutputDestinationError: Error, Equatable, CustomStringConvertible {
    let description: String
}

/// The files that images are read from, recognized under any of their names.
struct InputFiles: Sendable {
    private struct Identity: Hashable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    private let identities: Set<Identity>

    /// The files among some sources, as they were typed.
    init(_ sources: [String]) {
        identities = Set(
            sources.compactMap { source in
                guard case .file(let url)? = (try? SourceArgument(source))?.location else { return nil }
                return Identity(url.path)
            }
        )
    }

    func contains(_ path: String) -> Bool { Identity(path).map { identities.contains($0) } ?? false }
}

/// Writes output files.
enum OutputFile {
    /// Different names for sources whose own names are equal: `a`, `a-2`, `a-3`.
    static func distinct(_ names: [String]) -> [String] {
        var taken: Set<String> = []
        return names.map { name in
            var candidate = name
            var number = 2
            while !taken.insert(candidate).inserted {
                candidate = "\(name)-\(number)"
                number += 1
            }
            return candidate
        }
    }

    /// Makes a directory and those above it; it may exist.
    static func makeDirectory(_ path: String) async throws(Failure) {
        let code = await WorkExecutor.io.run { () async -> Int32 in
            do {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                return 0
            } catch {
                var status = stat()
                return stat(path, &status) == 0 ? ENOTDIR : (Self.number(of: error) ?? EACCES)
            }
        }
        guard code == 0 else { throw .cannotWrite(path, code) }
    }

    /// The descriptor for lines about results: not the one for an image's bytes.
    static func resultsDescriptor(for destination: OutputDestination) -> Int32 {
        destination == .standardOutput ? STDERR_FILENO : STDOUT_FILENO
    }

    /// Writes an image to its destination.
    ///
    /// - Parameters:
    ///   - image: The image's bytes and format.
    ///   - destination: The destination.
    ///   - name: The name of its file in a directory, without the extension.
    ///   - inputs: The files that are read: in a directory, none of them is replaced.
    /// - Returns: The path, `-` for standard output; nil when nothing is written.
    /// - Throws: Why it cannot be written.
    static func write(
        _ image: EncodedImage,
        to destination: OutputDestination,
        name: String,
        keeping inputs: InputFiles
    ) async throws(Failure) -> String? {
        guard let path = destination.path(name: name, type: image.type) else { return nil }
        if case .directory = destination, inputs.contains(path) { throw .wouldReplaceInput(path) }
        if destination == .standardOutput {
            try await writeToStandardOutput(image.data)
        } else {
            try await write(image.data, to: path)
        }
        return path
    }

    /// Makes the directory for the results, if they go to one; prints why it cannot be made.
    static func prepare(_ destination: OutputDestination, _ console: Console) async throws {
        guard case .directory(let path) = destination else { return }
        do throws(Failure) {
            try await makeDirectory(path)
        } catch {
            console.error(error.text)
            throw ExitStatus.failed
        }
    }

    /// Writes a file: whole under its name, or not at all.
    ///
    /// Devices, pipes and links are written in place and not replaced.
    static func write(_ data: Data, to path: String) async throws(Failure) {
        let code = await WorkExecutor.io.run { () async -> Int32 in
            var status = stat()
            let isThere = lstat(path, &status) == 0
            return isThere && status.st_mode & S_IFMT != S_IFREG ? put(data, path, O_TRUNC) : replace(path, with: data)
        }
        guard code == 0 else { throw .cannotWrite(path, code) }
    }

    /// Writes to standard output.
    static func writeToStandardOutput(_ data: Data) async throws(Failure) {
        let code = await WorkExecutor.io.run { () async -> Int32 in put(data, STDOUT_FILENO) }
        guard code == 0 else { throw .cannotWrite("standard output", code) }
    }

    private static func replace(_ path: String, with data: Data) -> Int32 {
        // Hidden, beside the file, so that the renaming stays within one file system.
        let url = URL(fileURLWithPath: path)
        let temporary = url.deletingLastPathComponent().path + "/.kf-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        var code = put(data, temporary, O_EXCL)
        if code == 0, rename(temporary, path) != 0 { code = errno }
        if code != 0 { unlink(temporary) }
        return code
    }

    /// Returns 0 or the error's number.
    private static func put(_ data: Data, _ path: String, _ flags: Int32) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o666)
        guard descriptor >= 0 else { return errno }
        let code = put(data, descriptor)
        // Some file systems report a full disk only here.
        return close(descriptor) != 0 && code == 0 ? errno : code
    }

    private static func put(_ data: Data, _ descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            FileDescriptorOutput.write(bytes, to: descriptor) ? 0 : errno
        }
    }

    private static func number(of error: any Error) -> Int32? {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey]
        return (underlying as? POSIXError)?.code.rawValue ?? (error as? POSIXError)?.code.rawValue
    }
}
