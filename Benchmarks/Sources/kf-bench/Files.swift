// Reading an entry of the file store, against bare system calls and against FileManager. Knows public API only.

import CBaseline
import Foundation
import Kingfisher

let fileBenchmarks = [
    Benchmark(name: "file store, read of 20 KB, against open, fstat, read, close") {
        let entries = try Entries()
        let comparison = try await compare(
            rounds: 201,
            operations: Entries.count,
            ours: { try entries.readOurs(extending: .none) },
            baseline: entries.readBare
        )
        return Figure(comparison, .atMostTimes(1.5))
    },
    // Both prolong the entry's life, as a cache does.
    Benchmark(name: "file store, read of 20 KB and prolonging, against FileManager") {
        let entries = try Entries()
        let comparison = try await compare(
            rounds: 101,
            by: .wall,
            operations: Entries.count,
            ours: { try entries.readOurs(extending: .cacheTime) },
            baseline: entries.readByFileManager
        )
        return Figure(comparison, .faster(4))
    },
]

/// Some entries, and the ways to read them all.
private struct Entries {
    static let count = 100
    private static let size = 20 << 10

    private let folder: TemporaryFolder
    private let store: DiskStorage.Backend<Data>
    private let fileManagerStore: FileManagerStore
    private let keys: [String]
    private let paths: [String]

    init() throws {
        let folder = try TemporaryFolder()
        let config = DiskStorage.Config(name: "bench", sizeLimit: 0, directory: folder.url)
        let store = try DiskStorage.Backend<Data>(config: config)
        let keys = (0..<Self.count).map { "https://images.example.com/albums/\($0 / 10)/picture-\($0).jpg" }
        for (index, key) in keys.enumerated() {
            try store.store(value: Data(repeating: UInt8(index), count: Self.size), forKey: key)
        }
        self.folder = folder
        self.store = store
        self.keys = keys
        paths = keys.map { store.cacheFileURL(forKey: $0).path }
        fileManagerStore = FileManagerStore(folder: store.directoryURL)
    }

    func readOurs(extending: ExpirationExtending) throws {
        for key in keys {
            let data = try store.value(forKey: key, extendingExpiration: extending)
            try Broken.unless(data?.count == Self.size, "the file store does not find its entry")
        }
    }

    func readBare() throws {
        for path in paths {
            var size = 0
            let bytes = baseline_read(path, &size)
            try Broken.unless(bytes != nil && size == Self.size, "the file cannot be read")
            free(bytes)
        }
    }

    func readByFileManager() throws {
        for key in keys {
            let data = try fileManagerStore.value(forKey: key)
            try Broken.unless(data?.count == Self.size, "FileManager does not find the entry")
        }
        fileManagerStore.settle()
    }
}
