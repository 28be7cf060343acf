// How the files of an upload come into a directory: all of them or none.

public import Foundation
import KFSupport

extension Upload {
    /// The names of files unless others are wanted.
    public static let usualTemplate = "{name}-{width}.{ext}"

    /// Writes the files, all of them or none. (Not in Kingfisher.)
    ///
    /// They are written under other names first, in the same directory, and then get their own. When that fails, those
    /// that have theirs are removed again. Files that exist are never replaced. The file system must know hard links. A
    /// process that is killed in the middle may leave some of the files, each of them whole.
    ///
    /// - Parameters:
    ///   - directory: Where; it is made if it is not there.
    ///   - template: The names, with words in braces: `{name}` is that of the variant, `{width}` and `{height}` are in
    ///     pixels, `{ext}` is the extension of the format, `{hash}` stands for the bytes.
    /// - Returns: Where each file is, in the order of ``files``.
    /// - Throws: ``UploadError/notWritten(path:detail:)``, also for two files with one name, and for names that lead
    ///   out of the directory.
    @discardableResult
    public func write(
        to directory: URL,
        template: String = Upload.usualTemplate
    ) async throws(UploadError) -> [URL] {
        var places: [URL] = []
        for file in files {
            let name = file.name(by: template)
            let place = directory.appending(path: name)
            guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
                throw .notWritten(path: place.path, detail: "the name is none of a file")
            }
            guard !places.contains(place) else {
                throw .notWritten(path: place.path, detail: "two files have this name; see the template")
            }
            places.append(place)
        }
        let entries = zip(files, places).map { (data: $0.image.data, place: $1) }
        return try await WorkExecutor.io.run { () async throws(UploadError) -> [URL] in
            try Self.write(entries, to: directory)
            return entries.map(\.place)
        }
    }

    private static func write(_ entries: [(data: Data, place: URL)], to directory: URL) throws(UploadError) {
        let manager = FileManager.default
        var temporary: [URL] = []
        var placed: [URL] = []
        defer { for file in temporary { try? manager.removeItem(at: file) } }
        do throws(UploadError) {
            try attempt(directory) { try manager.createDirectory(at: directory, withIntermediateDirectories: true) }
            for entry in entries {
                let other = directory.appending(path: ".\(UUID().uuidString).upload")
                temporary.append(other)
                try attempt(entry.place) { try entry.data.write(to: other, options: .withoutOverwriting) }
            }
            for (entry, other) in zip(entries, temporary) {
                // Fails where a file is there already.
                try attempt(entry.place) { try manager.linkItem(at: other, to: entry.place) }
                placed.append(entry.place)
            }
        } catch {
            for file in placed { try? manager.removeItem(at: file) }
            throw error
        }
    }

    private static func attempt(_ place: URL, _ work: () throws -> Void) throws(UploadError) {
        do { try work() } catch { throw .notWritten(path: place.path, detail: error.localizedDescription) }
    }
}

extension Upload.File {
    /// The name of the file by a template, see ``Upload/write(to:template:)``.
    public func name(by template: String) -> String {
        let values = [
            "name": variant, "width": "\(pixelWidth)", "height": "\(pixelHeight)",
            "ext": image.contentType.preferredFileExtension ?? "bin", "hash": String(image.checksum, radix: 16),
        ]
        return template.replacing(#/\{(\w+)\}/#) { match in values[String(match.output.1)] ?? String(match.output.0) }
    }
}
