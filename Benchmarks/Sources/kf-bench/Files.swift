// Reading an entry of the file store, against bare system calls and against FileManager. Uses public API only.

import CBaseline
import Foundation
import Kingfisher

let fileBenchmarks = [
    Benchmark(name: "file store, read of 20 KB, against open, fstat, read, close") {
        let entries = try Entries()
        let comparison = try await compare(
            rounds: 201,
            operations: entries.count,
            ours: { try entries.readOurs(extending: .none) },
            baseline: entries.readBare
        )
        return Figure(comparison, .atMostTimes(1.5))
    },
    // The metadata of the entries has to be read too, as after a start. There are so many entries that their bytes
    // come from memory and not from the processor's caches, as on the first read.
    Benchmark(name: "file store, the first read of 20 KB, against the same") {
        Figure(try await firstReads(of: 1_000, rounds: 31), .atMostTimes(1.5))
    },
    // Reading the bytes takes half the time here, and the rest as long as before: the harder of the two.
    Benchmark(name: "file store, the first read of 20 KB that lie in the processor's caches, against the same") {
        Figure(try await firstReads(of: 100, rounds: 101), .atMostTimes(1.5))
    },
    // Both extend the entry's life, as a cache does.
    Benchmark(name: "file store, read of 20 KB and prolonging, against FileManager") {
        let entries = try Entries()
        let comparison = try await compare(
            rounds: 101,
            by: .wall,
            operations: entries.count,
            ours: { try entries.readOurs(extending: .cacheTime) },
            baseline: entries.readByFileManager
        )
        return Figure(comparison, .faster(4))
    },
]

private func firstReads(of count: Int, rounds: Int) async throws -> Comparison {
    let entries = try Entries(count: count)
    // All storages live until the end, so that releasing them is not measured.
    var starts = try (0...rounds).map { _ in try entries.start() }[...]
    return try await compare(
        rounds: rounds,
        operations: count,
        ours: { if let store = starts.popFirst() { try entries.read(from: store) } },
        baseline: entries.readBare
    )
}

/// Some entries, and the ways to read them all.
private struct Entries {
    private static let size = 20 << 10

    let count: Int
    private let folder: TemporaryFolder
    private let store: DiskStorage.Backend<Data>
    private let fileManagerStore: FileManagerStore
    private let keys: [String]
    private let paths: [String]

    init(count: Int = 100) throws {
        let folder = try TemporaryFolder()
        let store = try DiskStorage.Backend<Data>(config: Self.config(in: folder))
        let keys = (0..<count).map { "https://images.example.com/albums/\($0 / 10)/picture-\($0).jpg" }
        for (index, key) in keys.enumerated() {
            try store.store(value: Data(repeating: UInt8(truncatingIfNeeded: index), count: Self.size), forKey: key)
        }
        self.count = count
        self.folder = folder
        self.store = store
        self.keys = keys
        paths = keys.map { store.cacheFileURL(forKey: $0).path }
        fileManagerStore = FileManagerStore(folder: store.directoryURL)
    }

    /// A storage of the same entries that has scanned their names and read none.
    func start() throws -> DiskStorage.Backend<Data> {
        let store = try DiskStorage.Backend<Data>(config: Self.config(in: folder))
        // The scan of the directory in the background ends before the measurement.
        _ = try store.totalSize()
        return store
    }

    func readOurs(extending: ExpirationExtending) throws { try read(from: store, extending: extending) }

    func read(from store: DiskStorage.Backend<Data>, extending: ExpirationExtending = .none) throws {
        for key in keys {
            let data = try store.value(forKey: key, extendingExpiration: extending)
            try BenchmarkError.unless(data?.count == Self.size, "the file store does not find its entry")
        }
    }

    private static func config(in folder: TemporaryFolder) -> DiskStorage.Config {
        DiskStorage.Config(name: "bench", sizeLimit: 0, directory: folder.url)
    }

    func readBare() throws {
        for path in paths {
            var size = 0
            let bytes = baseline_read(path, &size)
            try BenchmarkError.unless(bytes != nil && size == Self.size, "the file cannot be read")
            free(bytes)
        }
    }

    func readByFileManager() throws {
        for key in keys {
            let data = try fileManagerStore.value(forKey: key)
            try BenchmarkError.unless(data?.count == Self.size, "FileManager does not find the entry")
        }
        fileManagerStore.settle()
    }
}
