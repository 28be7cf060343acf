// What the folder beside a directory is called. Knows nothing of what is in either.

/// The name of the folder in which the files of a directory are before they are whole: that of `cache` is `.cache.tmp`.
enum FolderName {
    /// Where the folder of the directory at `path` is; `nil` if a directory there can have none.
    ///
    /// A name of nearly 255 bytes leaves no room for a longer one: such a folder cannot be made.
    static func path(besideDirectoryAt path: String) -> String? {
        // Not by what is one character to people: an accent that begins a name would be one with the slash.
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let parent = String(decoding: path.utf8[...slash], as: UTF8.self)
        let name = String(decoding: path.utf8[path.utf8.index(after: slash)...], as: UTF8.self)
        return name.isEmpty ? nil : "\(parent).\(name).tmp"
    }

    /// Whether the directory at `path` is called like such a folder.
    ///
    /// There may be another directory that it is the folder of: no entries may lie there.
    static func isTaken(byDirectoryAt path: String) -> Bool {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:))
        let name = path.utf8[(start ?? path.startIndex)...]
        return name.starts(with: ".".utf8) && name.suffix(4).elementsEqual(".tmp".utf8)
    }
}
