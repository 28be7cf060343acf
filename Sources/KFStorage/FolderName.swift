// What the folder beside a directory is called. Knows nothing of what is in either.

/// The name of the folder in which the files of a directory are before they are whole: that of `cache` is `.cache.tmp`.
enum FolderName {
    /// Where the folder of the directory at `path` is; `nil` if a directory there can have none.
    ///
    /// A name of nearly 255 bytes leaves no room for a longer one: such a folder cannot be made.
    static func path(besideDirectoryAt path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = path[path.index(after: slash)...]
        return name.isEmpty ? nil : "\(path[...slash]).\(name).tmp"
    }

    /// Whether the directory at `path` is called like such a folder.
    ///
    /// There may be another directory that it is the folder of: no entries may lie there.
    static func isTaken(byDirectoryAt path: String) -> Bool {
        let name = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        return name.hasPrefix(".") && name.hasSuffix(".tmp")
    }
}
