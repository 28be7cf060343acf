// Writing results so that no reader sees half of one; for `kf fetch` and `kf process`.

import Foundation
import KFImaging
import KFSupport

/// Writes output files.
enum OutputFile {
    /// Makes a directory and those above it; it may exist.
    private static func makeDirectory(_ path: String) async throws(Failure) {
        let code = await WorkExecutor.io.run { () async -> Int32 in makeDirectories(path) }
        guard code == 0 else { throw .cannotWrite(path, code) }
    }

    private static func makeDirectories(_ path: String) -> Int32 {
        if mkdir(path.systemName, 0o777) == 0 { return 0 }
        var status = stat()
        switch errno {
        case EEXIST: return stat(path.systemName, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? 0 : ENOTDIR
        case ENOENT:
            let parent = path.directory
            guard !parent.isEmpty, parent != path else { return ENOENT }
            let code = makeDirectories(parent)
            guard code == 0 else { return code }
            return mkdir(path.systemName, 0o777) == 0 || errno == EEXIST ? 0 : errno
        case let number: return number
        }
    }

    /// The descriptor for lines about results: not the one for an image's bytes.
    static func resultsDescriptor(for destination: OutputDestination?) -> Int32 {
        destination == .standardOutput ? STDERR_FILENO : STDOUT_FILENO
    }

    /// Writes an image to its destination.
    ///
    /// - Parameters:
    ///   - image: The image's bytes and format.
    ///   - destination: The destination.
    ///   - name: What its name is made of, where names are made here.
    ///   - inputs: The files that are read: where names are made here, none of them is replaced.
    /// - Returns: What was written, and where.
    /// - Throws: Why it cannot be written.
    static func write(
        _ image: EncodedImage,
        to destination: OutputDestination,
        name: ResultName,
        keeping inputs: InputFiles
    ) async throws(Failure) -> WrittenImage {
        let path = destination.path(of: name.completed(by: image))
        try check(path, in: destination, keeping: inputs)
        if destination == .standardOutput {
            try await writeToStandardOutput(image.data)
        } else {
            let directory = path.directory
            if destination.template != nil, !directory.isEmpty { try await makeDirectory(directory) }
            // A link stays one, and its file is replaced whole.
            try await write(image.data, to: destination == .inPlace ? path.withoutLinks : path)
        }
        return WrittenImage(image, path: path)
    }

    /// Throws where a result would replace a source under a name that was made here.
    static func check(_ path: String, in destination: OutputDestination, keeping inputs: InputFiles) throws(Failure) {
        if destination.makesNames, inputs.contains(path) { throw .wouldReplaceInput(path) }
    }

    /// Makes the directory for the results, if they go to one.
    static func prepare(_ destination: OutputDestination?) async throws(Failure) {
        if case .directory(let path) = destination { try await makeDirectory(path) }
    }

    /// Writes a file: whole under its name, or not at all.
    ///
    /// Devices, pipes and links are written in place and not replaced. A file that is there keeps its mode, and its
    /// owner where this user may give it that.
    static func write(_ data: Data, to path: String) async throws(Failure) {
        let code = await WorkExecutor.io.run { () async -> Int32 in
            var status = stat()
            guard lstat(path.systemName, &status) == 0 else { return replace(path, with: data, attributes: nil) }
            guard status.st_mode & S_IFMT == S_IFREG else { return overwrite(path, with: data) }
            return replace(path, with: data, attributes: status)
        }
        guard code == 0 else { throw .cannotWrite(path, code) }
    }

    /// Writes to standard output.
    static func writeToStandardOutput(_ data: Data) async throws(Failure) {
        let code = await WorkExecutor.io.run { () async -> Int32 in put(data, STDOUT_FILENO) }
        guard code == 0 else { throw .cannotWrite("standard output", code) }
    }

    /// Returns 0 or the error's number; without attributes, those of new files are used.
    private static func replace(_ path: String, with data: Data, attributes: stat?) -> Int32 {
        let mode = attributes.map { $0.st_mode & 0o777 }
        return UnfinishedFiles.shared.make(path, mode: mode ?? 0o666) { descriptor in
            if let attributes { _ = fchown(descriptor, attributes.st_uid, attributes.st_gid) }
            // The umask is for new files: this one gets the mode of the file that it replaces.
            if let mode, fchmod(descriptor, mode) != 0 { return errno }
            return put(data, descriptor)
        }
    }

    /// Writes to what is there, and returns 0 or the error's number.
    private static func overwrite(_ path: String, with data: Data) -> Int32 {
        let descriptor = open(path.systemName, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0o666)
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
}
