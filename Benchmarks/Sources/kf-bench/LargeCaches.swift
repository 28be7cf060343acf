// A disk cache of a hundred thousand entries: the time until its first hit, and the cost of its size. Uses public API
// only.

import CBaseline
import Foundation
import Kingfisher

let largeCacheBenchmarks = [
    // No caller waits for the scan of the directory.
    Benchmark(name: "disk cache of 100,000 entries, cold start: the first hit") {
        let cache = try LargeCache.shared()
        let times = try (0..<21).map { round in
            try secondsOfWall {
                let backend = try cache.backend()
                try BenchmarkError.unless(
                    try backend.value(forKey: cache.key(round * 4_567)) != nil,
                    "there is no first hit"
                )
            }
        }
        return Figure(.seconds(median(times)), .below(.seconds(0.005)))
    },
    Benchmark(name: "disk cache of 100,000 entries, their size, against FileManager's enumerator") {
        let cache = try LargeCache.shared()
        let comparison = try await compare(
            rounds: 1,
            by: .wall,
            ours: {
                // Each has to scan the directory itself.
                let size = try cache.backend().totalSize()
                try BenchmarkError.unless(size == LargeCache.size, "the size is wrong")
            },
            baseline: { try BenchmarkError.unless(cache.sizeByFileManager() == LargeCache.size, "the size is wrong") }
        )
        return Figure(comparison, .faster(10))
    },
    // Above 1, sub-folders have no advantage.
    Benchmark(name: "100,000 files in one folder, open and read at random, against 256 sub-folders") {
        let folders = try FlatAndNested()
        let comparison = try await compare(
            rounds: 11,
            operations: FlatAndNested.reads,
            ours: folders.readFlat,
            baseline: folders.readNested
        )
        return Figure(comparison, .atMostTimes(1.1))
    },
]

private func secondsOfWall(_ work: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try work()
    return start.duration(to: clock.now) / .seconds(1)
}

/// A cache with many small entries, made once.
final class LargeCache: Sendable {
    static let count = 100_000
    static let size = UInt(count * 7)
    private static let made = Result { try LargeCache() }

    let folder: TemporaryFolder

    static func shared() throws -> LargeCache { try made.get() }

    private init() throws {
        folder = try TemporaryFolder()
        let backend = try Self.backend(in: folder.url)
        let data = Data(repeating: 7, count: 7)
        for number in 0..<Self.count { try backend.store(value: data, forKey: Self.key(number)) }
        sync()
    }

    static func key(_ number: Int) -> String {
        "https://images.example.com/albums/\(number / 100)/picture-\(number).jpg"
    }
    func key(_ number: Int) -> String { Self.key(number % Self.count) }

    static func backend(in folder: URL) throws -> DiskStorage.Backend<Data> {
        try DiskStorage.Backend(config: .init(name: "large", sizeLimit: 0, directory: folder))
    }

    func backend() throws -> DiskStorage.Backend<Data> { try Self.backend(in: folder.url) }

    /// The size by Foundation alone.
    func sizeByFileManager() throws -> UInt {
        let keys: Set<URLResourceKey> = [.isDirectoryKey, .totalFileAllocatedSizeKey, .fileSizeKey]
        let files = FileManager.default.enumerator(
            at: try backend().directoryURL,
            includingPropertiesForKeys: Array(keys),
            options: .skipsHiddenFiles
        )
        var size: UInt = 0
        while let file = files?.nextObject() as? URL {
            let values = try file.resourceValues(forKeys: keys)
            if values.isDirectory != true { size += UInt(values.fileSize ?? 0) }
        }
        return size
    }
}

/// The same files twice: all in one folder, and in 256 named after the first two letters.
private struct FlatAndNested {
    static let count = 100_000
    static let reads = 5_000

    private let folder: TemporaryFolder
    private let flat: [String]
    private let nested: [String]

    init() throws {
        let folder = try TemporaryFolder()
        let root = folder.url.path
        mkdir(root + "/flat", 0o755)
        mkdir(root + "/nested", 0o755)
        var (flat, nested): ([String], [String]) = ([], [])
        for number in 0..<Self.count {
            // Spread like hashes.
            let high = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
            let name = String(format: "%016lx%048lx", high, UInt64(number))
            let part = root + "/nested/" + name.prefix(2)
            if mkdir(part, 0o755) != 0 { try BenchmarkError.unless(errno == EEXIST, "no folder can be made") }
            flat.append(root + "/flat/" + name)
            nested.append(part + "/" + name)
        }
        for path in flat + nested {
            let file = open(path, O_WRONLY | O_CREAT, 0o644)
            try BenchmarkError.unless(file >= 0 && write(file, path, 7) == 7, "no file can be made")
            close(file)
        }
        sync()
        self.folder = folder
        self.flat = flat
        self.nested = nested
    }

    func readFlat() throws { try read(flat) }
    func readNested() throws { try read(nested) }

    private func read(_ paths: [String]) throws {
        for step in 0..<Self.reads {
            var size = 0
            let bytes = baseline_read(paths[step &* 7_919 % paths.count], &size)
            try BenchmarkError.unless(bytes != nil && size == 7, "a file cannot be read")
            free(bytes)
        }
    }
}
