// The list that `kf prefetch` reads.

import Foundation

/// A list of sources, one a line.
enum PrefetchList {
    /// The lines of a list that name something.
    ///
    /// - Parameter name: A file, or `-` for standard input.
    /// - Returns: The lines without the spaces around them.
    /// - Throws: Why the list cannot be read.
    static func lines(of name: String) throws(Failure) -> [String] {
        let bytes = try bytes(of: name)
        guard !bytes.contains(0) else {
            throw .cannotReadList(name, "the file is no text; write one URL or path a line")
        }
        return String(systemName: bytes)
            .split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces.union(["\u{FEFF}"])) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private static func bytes(of name: String) throws(Failure) -> Data {
        do throws(StreamError) {
            guard name != "-" else { return try StreamDataProvider.read(STDIN_FILENO) }
            return try StreamDataProvider.read(path: name)
        } catch {
            throw .cannotReadList(name == "-" ? "standard input" : name, error.problem)
        }
    }
}
