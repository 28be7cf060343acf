// Removing the variants of an entry, which are made of it and found by their names. For the removal of a source.

import Glibc

extension FileStore {
    /// Says that the directory has variants; without this file none are looked for.
    private static let marker = ".variants"

    /// Notes that a variant is about to be written.
    package func willWriteVariant() throws(StorageError) {
        BlockingGuard.check()
        let path = directory.path(of: Self.marker)
        guard access(path, F_OK) != 0 else { return }
        try directory.make()
        let file = Glibc.open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(.write, path, errno) }
        close(file)
    }

    /// Removes all variants of a key, which takes a look at every name in the directory if it has any variants.
    package func removeVariants(of key: String) throws(StorageError) {
        BlockingGuard.check()
        guard access(directory.path(of: Self.marker), F_OK) == 0 else { return }
        let prefix = FileNaming.variantPrefix(of: key)
        var names: [String] = []
        try directory.forEachName { _, raw in
            if strncmp(raw, prefix, prefix.utf8.count) == 0 { names.append(String(cString: raw)) }
        }
        for name in names { try remove(name) }
    }
}
