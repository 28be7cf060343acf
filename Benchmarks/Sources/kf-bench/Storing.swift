// Storing an entry in the file store, against bare system calls and against FileManager. Uses public API only.

import CBaseline
import Foundation
import Glibc
import Kingfisher

// All of these leave the old entry or the new one, whenever the process is killed. FileManager also waits until the
// bytes are on the disk, which cannot be turned off. Only one row counts that wait; all others measure processor time,
// for both sides.
let storingBenchmarks = [
    Benchmark(name: "file store, storing 20 KB, against open, write, close, rename") {
        let entries = try NewEntries()
        return Figure(try await entries.compared(with: entries.storeBare), .atMostTimes(1.5))
    },
    Benchmark(name: "file store, storing 20 KB, in memory, against the same") {
        let entries = try NewEntries(in: .memory)
        return Figure(try await entries.compared(with: entries.storeBare), .shown)
    },
    // The key does not fit beside the file's status: the file system has to find a block for it.
    Benchmark(name: "file store, storing 20 KB with a key of 110 bytes, against the same") {
        let entries = try NewEntries(keyLength: 110)
        return Figure(try await entries.compared(with: entries.storeBare), .shown)
    },
    Benchmark(name: "file store, storing 20 KB over an entry, against the same") {
        let entries = try NewEntries(areNew: false)
        return Figure(try await entries.compared(with: entries.storeBare), .atMostTimes(1.5))
    },
    Benchmark(name: "file store, storing 20 KB, against FileManager") {
        let entries = try NewEntries()
        return Figure(try await entries.compared(with: entries.storeByFileManager), .faster(3))
    },
    Benchmark(name: "file store, storing 20 KB, with all waiting, against FileManager") {
        let entries = try NewEntries()
        return Figure(try await entries.compared(by: .wall, with: entries.storeByFileManager), .shown)
    },
    // No journal and no waiting: this is the cost of the two sides alone.
    Benchmark(name: "file store, storing 20 KB, in memory, against FileManager") {
        let entries = try NewEntries(in: .memory)
        return Figure(try await entries.compared(with: entries.storeByFileManager), .shown)
    },
]

/// Entries that are stored, and the ways to do it.
///
/// Both sides store alternately, into folders that lie side by side and hold the same number of entries.
private final class NewEntries {
    private static let count = 50
    private static let size = 20 << 10

    /// The file system that entries are stored on.
    enum Place {
        case disk, memory
    }

    private let around: TemporaryFolder
    private let folder: TemporaryFolder
    private let store: DiskStorage.Backend<Data>
    private let fileManagerStore: FileManagerStore
    private let areNew: Bool
    private let keyLength: Int
    private let data = Data(repeating: 7, count: size)
    private var rounds = 0

    /// - Parameters:
    ///   - place: The file system.
    ///   - areNew: Whether every round stores new entries, or replaces those of the first.
    ///   - keyLength: The least length of keys, in bytes.
    /// - Throws: An error of making folders.
    init(in place: Place = .disk, areNew: Bool = true, keyLength: Int = 0) throws {
        let temporary = FileManager.default.temporaryDirectory
        around = try TemporaryFolder(in: place == .memory ? URL(fileURLWithPath: "/dev/shm") : temporary)
        // For a new file in a folder, ext4 skips every inode near it that was freed in the last minutes, one after the
        // other. After earlier rows or another program have removed thousands of files near here, that takes ten times
        // as long as everything else, for both sides, and hides the difference. So the folders, side by side, lie in a
        // part of the disk where no file was removed.
        baseline_spread(around.url.path)
        folder = try TemporaryFolder(in: around.url)
        self.areNew = areNew
        self.keyLength = keyLength
        let config = DiskStorage.Config(name: "bench", sizeLimit: 0, directory: folder.url)
        store = try DiskStorage.Backend<Data>(config: config)
        for name in ["plain", "plain.tmp", "foundation"] {
            let url = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }
        fileManagerStore = FileManagerStore(folder: folder.url.appendingPathComponent("foundation"))
        // Bytes that other programs have written go to the disk now, and not during the measurement.
        if place == .disk { sync() }
    }

    func compared(by stopwatch: Stopwatch = .thread, with baseline: () throws -> Void) async throws -> Comparison {
        try await compare(rounds: 41, by: stopwatch, operations: Self.count, ours: storeOurs, baseline: baseline)
    }

    private func storeOurs() throws {
        for key in nextKeys() { try store.store(value: data, forKey: key) }
    }

    func storeByFileManager() throws {
        for key in nextKeys() { try fileManagerStore.store(data, forKey: key) }
    }

    func storeBare() throws {
        // A name as long as those of the file store.
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
            try BenchmarkError.unless(isStored, "the file cannot be written")
        }
    }

    private func nextKeys() -> [String] {
        let round = nextRound()
        return (0..<Self.count).map { index in
            let key = "https://images.example.com/albums/\(round)/picture-\(index).jpg"
            return key + String(repeating: "k", count: max(0, keyLength - key.utf8.count))
        }
    }

    private func nextRound() -> Int {
        rounds += areNew ? 1 : 0
        return rounds
    }
}
