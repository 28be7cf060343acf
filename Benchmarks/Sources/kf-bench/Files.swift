// Reading and writing an entry of the file store, against bare system calls and against FileManager. Knows public API only.

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
    // Nothing is known of an entry yet, as it is after a start: what lies beside it has to be read, too.
    Benchmark(name: "file store, the first read of 20 KB, against the same") {
        let entries = try Entries()
        var starts = try (0...101).map { _ in try entries.start() }
        let comparison = try await compare(
            rounds: 101,
            operations: Entries.count,
            ours: { if let store = starts.popLast() { try entries.read(from: store) } },
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
    // Both leave the old entry or the new one, whenever the process is killed.
    Benchmark(name: "file store, storing 20 KB, against open, write, close, rename") {
        let entries = try NewEntries()
        let comparison = try await compare(
            rounds: 41,
            operations: NewEntries.count,
            ours: entries.storeOurs,
            baseline: entries.storeBare
        )
        return Figure(comparison, .atMostTimes(1.5))
    },
    Benchmark(name: "file store, storing 20 KB over an entry, against the same") {
        let entries = try NewEntries(areNew: false)
        let comparison = try await compare(
            rounds: 41,
            operations: NewEntries.count,
            ours: entries.storeOurs,
            baseline: entries.storeBare
        )
        return Figure(comparison, .atMostTimes(1.5))
    },
    Benchmark(name: "file store, storing 20 KB, against FileManager") {
        let entries = try NewEntries()
        let comparison = try await compare(
            rounds: 41,
            operations: NewEntries.count,
            ours: entries.storeOurs,
            baseline: entries.storeByFileManager
        )
        return Figure(comparison, .faster(3))
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
        let store = try DiskStorage.Backend<Data>(config: Self.config(in: folder))
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

    /// A storage of the same entries that knows nothing of them yet.
    func start() throws -> DiskStorage.Backend<Data> { try DiskStorage.Backend<Data>(config: Self.config(in: folder)) }

    func readOurs(extending: ExpirationExtending) throws { try read(from: store, extending: extending) }

    func read(from store: DiskStorage.Backend<Data>, extending: ExpirationExtending = .none) throws {
        for key in keys {
            let data = try store.value(forKey: key, extendingExpiration: extending)
            try Broken.unless(data?.count == Self.size, "the file store does not find its entry")
        }
    }

    private static func config(in folder: TemporaryFolder) -> DiskStorage.Config {
        DiskStorage.Config(name: "bench", sizeLimit: 0, directory: folder.url)
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

/// Entries that are stored, and the ways to do it.
private final class NewEntries {
    static let count = 50
    private static let size = 20 << 10

    private let folder: TemporaryFolder
    private let store: DiskStorage.Backend<Data>
    private let fileManagerStore: FileManagerStore
    private let areNew: Bool
    private let data = Data(repeating: 7, count: size)
    private var rounds = 0

    /// - Parameter areNew: Whether every round stores entries there have not been, or replaces those of the first.
    /// - Throws: What making folders throws.
    init(areNew: Bool = true) throws {
        folder = try TemporaryFolder()
        self.areNew = areNew
        let config = DiskStorage.Config(name: "bench", sizeLimit: 0, directory: folder.url)
        store = try DiskStorage.Backend<Data>(config: config)
        for name in ["plain", "plain.tmp", "foundation"] {
            let url = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }
        fileManagerStore = FileManagerStore(folder: folder.url.appendingPathComponent("foundation"))
    }

    func storeOurs() throws {
        for key in nextKeys() { try store.store(value: data, forKey: key) }
    }

    func storeByFileManager() throws {
        for key in nextKeys() { try fileManagerStore.store(data, forKey: key) }
    }

    func storeBare() throws {
        // As long as the names of the others.
        let prefix = folder.url.path
        let round = nextRound()
        for index in 0..<Self.count {
            let name = "\(100_000 + round)-0123456789abcdef0123456789abcdef0123456789abcdef-\(10_000_000 + index)"
            let isStored = data.withUnsafeBytes { bytes in
                baseline_store(
                    "\(prefix)/plain.tmp/\(index)",
                    "\(prefix)/plain/\(name)",
                    bytes.bindMemory(to: UInt8.self).baseAddress,
                    bytes.count
                )
            }
            try Broken.unless(isStored, "the file cannot be written")
        }
    }

    private func nextKeys() -> [String] {
        let round = nextRound()
        return (0..<Self.count).map { "https://images.example.com/albums/\(round)/picture-\($0).jpg" }
    }

    private func nextRound() -> Int {
        rounds += areNew ? 1 : 0
        return rounds
    }
}
