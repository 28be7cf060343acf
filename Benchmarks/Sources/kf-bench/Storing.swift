// Storing an entry in the file store, against bare system calls and against FileManager. Uses public API only.

import CBaseline
import Foundation
import Glibc
import Kingfisher

// All of these leave the old entry or the new one, whenever the process is killed. FileManager also waits until the
// bytes are on the disk, which cannot be turned off. So processor time is measured, for both sides.
let storingBenchmarks = [
    Benchmark(name: "file store, storing 20 KB, against open, write, close, rename") {
        let entries = try NewEntries()
        return Figure(try await entries.compared(with: entries.storeBare), .atMostTimes(1.5))
    },
    Benchmark(name: "file store, storing 20 KB over an entry, against the same") {
        let entries = try NewEntries(areNew: false)
        return Figure(try await entries.compared(with: entries.storeBare), .atMostTimes(1.5))
    },
    Benchmark(name: "file store, storing 20 KB, against FileManager") {
        let entries = try NewEntries()
        return Figure(try await entries.compared(with: entries.storeByFileManager), .faster(3))
    },
]

/// Entries that are stored, and the ways to do it.
///
/// Both sides store alternately, into folders that lie side by side and hold the same number of entries.
private final class NewEntries {
    private static let count = 50
    private static let size = 20 << 10

    private let around: TemporaryFolder
    private let folder: TemporaryFolder
    private let store: DiskStorage.Backend<Data>
    private let fileManagerStore: FileManagerStore
    private let areNew: Bool
    private let data = Data(repeating: 7, count: size)
    private var rounds = 0

    /// - Parameter areNew: Whether every round stores new entries, or replaces those of the first.
    /// - Throws: An error of making folders.
    init(areNew: Bool = true) throws {
        around = try TemporaryFolder(in: FileManager.default.temporaryDirectory)
        // For a new file in a folder, ext4 skips every inode near it that was freed in the last minutes, one after the
        // other. After earlier rows or another program have removed thousands of files near here, that takes ten times
        // as long as everything else, for both sides, and hides the difference. So the folders, side by side, lie in a
        // part of the disk where no file was removed.
        baseline_spread(around.url.path)
        folder = try TemporaryFolder(in: around.url)
        self.areNew = areNew
        let config = DiskStorage.Config(name: "bench", sizeLimit: 0, directory: folder.url)
        store = try DiskStorage.Backend<Data>(config: config)
        for name in ["plain", "plain.tmp", "foundation"] {
            let url = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }
        fileManagerStore = FileManagerStore(folder: folder.url.appendingPathComponent("foundation"))
        // Bytes that other programs have written go to the disk now, and not during the measurement.
        sync()
    }

    func compared(with baseline: () throws -> Void) async throws -> Comparison {
        try await compare(rounds: 41, by: .thread, operations: Self.count, ours: storeOurs, baseline: baseline)
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
        return (0..<Self.count).map { "https://images.example.com/albums/\(round)/image-\($0).jpg" }
    }

    private func nextRound() -> Int {
        rounds += areNew ? 1 : 0
        return rounds
    }
}
