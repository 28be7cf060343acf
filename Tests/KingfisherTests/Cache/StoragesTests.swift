// Memory and disk storages as users see them: what they add to the engines.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct MemoryStorageTests {
    private struct Value: CacheCostCalculable, Sendable {
        var cacheCost = 1
    }

    @Test("MEM-9, MEM-12: limits can be changed while the storage is in use")
    func limitsAreLive() {
        let storage = MemoryStorage.Backend<Value>(config: .init(totalCostLimit: 3))
        for key in ["a", "b", "c"] { storage.store(value: Value(), forKey: key) }
        #expect(storage.totalCacheCost() == 3)
        storage.config.totalCostLimit = 1
        #expect(storage.totalCacheCost() == 1)
        #expect(storage.isCached(forKey: "c"))
        storage.config.expiration = .expired
        storage.store(value: Value(), forKey: "d")
        #expect(storage.value(forKey: "d") == nil)
    }

    @Test("MEM-8: expired entries go without anybody asking", .timeLimit(.minutes(1)))
    func expiredEntriesGoByThemselves() async {
        let storage = MemoryStorage.Backend<Value>(config: .init(totalCostLimit: 0, cleanInterval: 0.01))
        storage.store(value: Value(), forKey: "a", expiration: .seconds(0.01))
        while storage.totalCacheCost() > 0 { await Task.yield() }
        #expect(storage.store.count == 0)
    }

    @Test("MEM-8: cleaning does not keep the storage alive")
    func cleaningDoesNotKeepTheStorage() {
        weak var storage: MemoryStorage.Backend<Value>?
        do {
            let kept = MemoryStorage.Backend<Value>(config: .init(totalCostLimit: 0, cleanInterval: 1_000))
            storage = kept
            #expect(storage != nil)
        }
        #expect(storage == nil)
    }
}

@Suite struct DiskStorageTests {
    private func withStorage(
        _ change: (inout DiskStorage.Config) -> Void = { _ in },
        _ body: (DiskStorage.Backend<Data>, URL) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: directory)
            change(&config)
            try await body(try DiskStorage.Backend<Data>(config: config), directory)
        }
    }

    @Test("DSK-1, DSK-2: the directory has the cache's full name and is there at once")
    func theDirectory() async throws {
        try await withStorage { storage, directory in
            let expected = directory.appendingPathComponent("com.onevcat.Kingfisher.ImageCache.test")
            #expect(storage.directoryURL.path == expected.path)
            #expect(FileManager.default.fileExists(atPath: expected.path))
        }
    }

    @Test("DSK-5: the path closure is asked once and forgotten")
    func thePathClosure() async throws {
        try await withStorage {
            $0.cachePathBlock = { $0.appendingPathComponent("x").appendingPathComponent($1) }
        } _: { storage, directory in
            #expect(
                storage.directoryURL.path == directory.path + "/x/com.onevcat.Kingfisher.ImageCache.test"
            )
            #expect(storage.config.cachePathBlock == nil)
        }
    }

    @Test("DSK-3: a directory that cannot be created is an error with its path")
    func theDirectoryCannotBeCreated() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: file)
            let error = #expect(throws: KingfisherError.self) { try DiskStorage.Backend<Data>(config: config) }
            guard case .cacheError(.cannotCreateDirectory(let path, _)) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(path == file.path + "/com.onevcat.Kingfisher.ImageCache.test")
        }
    }

    @Test("DSK-4, F-24: a storage that is not ready says so, and is ready once it can be")
    func notReady() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: file)
            let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: true)
            for attempt in [{ try storage.store(value: Data(), forKey: "a") }, { _ = try storage.value(forKey: "a") }] {
                let error = #expect(throws: KingfisherError.self) { try attempt() }
                guard case .cacheError(.diskStorageIsNotReady(let url)) = error else {
                    return #expect(Bool(false), "\(String(describing: error))")
                }
                #expect(url == storage.directoryURL)
            }
            #expect(!storage.isCached(forKey: "a"))

            try FileManager.default.removeItem(at: file)
            try storage.store(value: Data("a".utf8), forKey: "a")
            #expect(try storage.value(forKey: "a") == Data("a".utf8))
        }
    }

    @Test("DSK-7, DSK-8: files are called as configured")
    func fileNames() async throws {
        try await withStorage {
            $0.usesHashedFileName = false
        } _: { storage, _ in
            try storage.store(value: Data("x".utf8), forKey: "key", forcedExtension: "ext")
            #expect(storage.cacheFileURL(forKey: "key", forcedExtension: "ext").lastPathComponent == "key.ext")
            #expect(storage.isCached(forKey: "key", forcedExtension: "ext"))
            #expect(!storage.isCached(forKey: "key"))
            storage.config.pathExtension = "ext"
            #expect(storage.isCached(forKey: "key"))
            storage.config.usesHashedFileName = true
            #expect(!storage.isCached(forKey: "key"))
        }
    }

    private struct Picky: DataTransformable, Sendable {
        struct Refusal: Error {}
        var isGood = true
        static let empty = Picky()
        func toData() throws -> Data {
            guard isGood else { throw Refusal() }
            return Data("good".utf8)
        }
        static func fromData(_ data: Data) throws -> Picky {
            guard data == Data("good".utf8) else { throw Refusal() }
            return Picky()
        }
    }

    @Test("DSK-13, DSK-19: values that cannot be data, and data that cannot be values")
    func conversionErrors() async throws {
        try await withTemporaryDirectory { directory in
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: directory)
            let storage = try DiskStorage.Backend<Picky>(config: config)
            let storing = #expect(throws: KingfisherError.self) {
                try storage.store(value: Picky(isGood: false), forKey: "a")
            }
            #expect(storing?.errorCode == 3007)

            let bytes = try DiskStorage.Backend<Data>(config: config)
            try bytes.store(value: Data("bad".utf8), forKey: "a")
            let loading = #expect(throws: KingfisherError.self) { try storage.value(forKey: "a") }
            #expect(loading?.errorCode == 3004)
            #expect(storage.isCached(forKey: "a"))
        }
    }

    @Test("DSK-12, DSK-16, DSK-25: expired, missing, removed")
    func missesAreNoErrors() async throws {
        try await withStorage { storage, _ in
            #expect(try storage.value(forKey: "a") == nil)
            try storage.remove(forKey: "a")
            try storage.store(value: Data("a".utf8), forKey: "a", expiration: .expired)
            #expect(try storage.totalSize() == 0)
            try storage.store(value: Data("a".utf8), forKey: "a")
            #expect(storage.isCached(forKey: "a"))
            #expect(!storage.isCached(forKey: "a", referenceDate: Date() + 8 * 86_400))
            try storage.removeAll()
            #expect(!storage.isCached(forKey: "a"))
        }
    }

    @Test("DSK-33: over the limit, half of it stays")
    func sizeLimit() async throws {
        try await withStorage {
            $0.sizeLimit = 5
        } _: { storage, _ in
            for number in 0..<10 { try storage.store(value: Data(count: 1), forKey: "\(number)") }
            #expect(try storage.removeSizeExceededValues().count == 8)
            #expect(try storage.totalSize() == 2)
            #expect(try storage.removeSizeExceededValues().isEmpty)
        }
    }

    @Test func aDirectoryInThePlaceOfAnEntryIsAReadErrorWithItsPath() async throws {
        try await withStorage { storage, _ in
            let url = storage.cacheFileURL(forKey: "a")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let reading = #expect(throws: KingfisherError.self) { try storage.value(forKey: "a") }
            #expect(reading?.errorCode == 3004)
            #expect(reading?.localizedDescription.contains(url.path) == true)
            let writing = #expect(throws: KingfisherError.self) { try storage.store(value: Data(), forKey: "a") }
            #expect(writing?.errorCode == 3009)
            let removing = #expect(throws: KingfisherError.self) { try storage.remove(forKey: "a") }
            #expect(removing?.errorCode == 3101)
        }
    }
}

@Suite struct UsableMemoryTests {
    private func limit(_ files: [String: String]) async throws -> UInt64? {
        try await withFiles(files) { UsableMemory.controlGroupLimit(root: $0) }
    }

    private func withFiles<Value>(_ files: [String: String], _ body: (String) throws -> Value) async throws -> Value {
        try await withTemporaryDirectory { root in
            for (path, text) in files {
                let url = root.appendingPathComponent(path)
                let folder = url.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
            return try body(root.path)
        }
    }

    @Test func theLowestLimitOfTheGroupsAboveCounts() async throws {
        let files = [
            "proc/self/cgroup": "1:name=x:/other\n0::/a/b\n",
            "sys/fs/cgroup/a/b/memory.max": "max\n",
            "sys/fs/cgroup/a/memory.max": "1000\n",
            "sys/fs/cgroup/memory.max": "2000\n",
        ]
        #expect(try await limit(files) == 1000)
    }

    @Test func versionOneCountsToo() async throws {
        #expect(try await limit(["sys/fs/cgroup/memory/memory.limit_in_bytes": "3000\n"]) == 3000)
    }

    /// What a downloader accepts on a machine of four gibibytes.
    private func responseLimit(_ files: [String: String]) async throws -> Int {
        try await withFiles(files) { ImageDownloader.responseLimit(memory: UsableMemory.bytes(of: 4 << 30, root: $0)) }
    }

    @Test("NK-8: a downloader accepts a tenth of what its control group leaves it, and 200 MiB at most")
    func answersAreLimitedByTheGroup() async throws {
        let group = ["proc/self/cgroup": "0::/pod\n"]
        func two(_ limit: String) -> [String: String] { group.merging(["sys/fs/cgroup/pod/memory.max": limit]) { $1 } }
        func one(_ limit: String) -> [String: String] { ["sys/fs/cgroup/memory/memory.limit_in_bytes": limit] }
        for files in [two("536870912\n"), one("536870912\n")] { #expect(try await responseLimit(files) == 53_687_091) }
        // No limit, as either version says it, and files that say nothing.
        for files in [two("max\n"), one("9223372036854771712\n"), one("-1"), two("12 apples"), two(""), group, [:]] {
            #expect(try await responseLimit(files) == 200 << 20)
        }
        #expect(ImageDownloader.responseLimit(memory: .max) == 200 << 20)
        let expected = ImageDownloader.responseLimit(memory: UsableMemory.bytes)
        #expect(ImageDownloader(name: "limit").maximumResponseSize == expected)
    }

    @Test func noGroupIsNoLimit() async throws {
        #expect(try await limit(["proc/self/cgroup": "nonsense"]) == nil)
        #expect(UsableMemory.bytes > 0)
        #expect(UsableMemory.bytes <= ProcessInfo.processInfo.physicalMemory)
    }
}
