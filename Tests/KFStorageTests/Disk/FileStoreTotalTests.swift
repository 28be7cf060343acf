// The totals that a file store keeps of its directory: after its own operations, and after changes by others.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct FileStoreTotalTests: StoreSuite {
    let rig: StoreRig

    init() throws { rig = try StoreRig() }

    private func write(_ count: Int, _ name: String, to store: FileStore? = nil) throws {
        try (store ?? self.store).write(Data(count: count), to: name, expiration: .days(1))
    }

    /// The sum of the sizes of the entries in the directory.
    private func found() throws -> Int { try store.entries().reduce(0) { $0 + $1.size } }

    // MARK: Scans

    @Test("A scan finds the entries and nothing else") func scan() throws {
        let names = [FileNaming.hash("a"), FileNaming.hash("b") + ".png", "plain", "ünïcode", "trailing "]
        for (size, name) in names.enumerated() { try write(size, name) }
        try Data("hidden".utf8).write(to: URL(fileURLWithPath: scratch("cache/.hidden")))
        try FileManager.default.createDirectory(atPath: scratch("cache/folder"), withIntermediateDirectories: true)
        try #require(symlink(scratch("cache/plain"), scratch("cache/link")) == 0)
        try #require(mkfifo(scratch("cache/pipe"), 0o600) == 0)
        #expect(store.knownSize == nil)
        store.startScan()
        #expect(store.knownSize == 10)
        let sizes = Dictionary(uniqueKeysWithValues: try store.entries().map { ($0.name, $0.size) })
        #expect(sizes == Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) }))
    }

    @Test("A scan makes no directory") func noDirectory() throws {
        store.startScan()
        #expect(store.knownSize == 0 && names(in: scratch.path) == [])
    }

    @Test("Every operation keeps the total up to date") func operations() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        try write(5, "a")
        #expect(store.knownSize == 25)
        try store.remove("b")
        try store.remove("missing")
        try store.write(Data(count: 1), to: "c", expiration: .seconds(5))
        #expect(store.knownSize == 6)
        #expect(throws: StorageError.self) {
            try store.write(Data(count: 9), to: "a", expiration: .days(1), replacing: false)
        }
        try store.touch(try #require(try store.read("a")), extending: .cacheTime)
        #expect(store.knownSize == 6)
        clock.advance(5)
        #expect(try store.removeExpired() == ["c"])
        #expect(store.knownSize == 5)
        try write(7, "d")
        #expect(try store.trim(above: 11, to: 7) == ["a"])
        #expect(store.knownSize == 7)
        try store.write(Data(count: 1), to: "d", expiration: .expired)
        #expect(store.knownSize == 7)
        try store.remove("d")
        #expect(store.knownSize == 0)
        try write(7, "e")
        try store.discard(try #require(try store.read("e")))
        #expect(store.knownSize == 0)
        try write(7, "f")
        try store.removeAll()
        #expect(store.knownSize == 0)
        #expect(try store.totalSize() == 0)
    }

    @Test("What is written before the first scan is in the total after it") func writtenBefore() throws {
        for number in 0..<50 { try write(number, "\(number)") }
        try store.remove("7")
        #expect(store.knownSize == nil)
        store.startScan()
        #expect(store.knownSize == 1_218)
    }

    @Test("Changes during scans are accounted for") func changesDuringScans() async throws {
        for number in 0..<300 { try write(number, "old \(number)") }
        let store = store
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<40 { _ = try store.totalSize() } }
            for thread in 0..<3 {
                group.addTask {
                    for step in 0..<300 {
                        // Each name belongs to one thread.
                        let name = "old \((step &* 7 % 100) * 3 + thread)"
                        if step.isMultiple(of: 3) {
                            try store.remove(name)
                        } else {
                            try store.write(Data(count: step + thread), to: name, expiration: .days(1))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.knownSize == found())
    }

    // MARK: Others

    @Test("Look-ups find at once what another store has written, replaced and removed") func others() throws {
        let other = FileStore(path: scratch("cache"), clock: clock.read)
        store.startScan()
        #expect(try store.read("a") == nil)
        try write(3, "a", to: other)
        #expect(try store.contains("a") && store.read("a")?.data.count == 3)
        try write(4, "a", to: other)
        #expect(try store.read("a")?.data.count == 4)
        try other.remove("a")
        #expect(try !store.contains("a") && store.read("a") == nil)
    }

    @Test("A requested total includes changes by others, the known one those of the last scan") func total() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        #expect(store.knownSize == 30)
        #expect(try store.totalSize() == 20)
        try FileManager.default.removeItem(atPath: scratch("cache/b"))
        try write(1, "d")
        #expect(try store.totalSize() == 1)
        #expect(store.knownSize == 1)
    }

    @Test("An entry that was used or replaced since the scan is not removed because of its age") func usedSinceTheScan()
        async throws
    {
        let (store, clock) = (store, clock)
        for number in 0..<2_000 { try write(1, "\(number)") }
        clock.advance(90_000)
        let other = FileStore(path: scratch("cache"), clock: clock.read)
        // The last ones are written again while the others, which have expired, are removed.
        async let removed = try store.removeExpired()
        for number in 1_900..<2_000 { try write(2, "\(number)", to: other) }
        let names = try await removed
        for number in 1_900..<2_000 { #expect(names.contains("\(number)") || other.contains("\(number)")) }
        #expect(names.count >= 1_900 && Set(names).count == names.count)
        #expect(try store.totalSize() == found())
    }

    @Test("After the folder was deleted behind the store, look-ups miss, the total is 0 and the next write succeeds")
    func deletedFolder() throws {
        store.startScan()
        try write(10, "a")
        try FileManager.default.removeItem(atPath: scratch("cache"))
        #expect(!store.contains("a"))
        #expect(try store.read("a") == nil)
        #expect(try store.totalSize() == 0)
        try write(3, "b")
        #expect(try store.read("b")?.data.count == 3)
        #expect(try store.totalSize() == 3)
    }

    @Test("Links and folders in the place of an entry are not removed") func linksAndFolders() throws {
        try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch("secret")))
        for name in ["a", "b", "c"] { try write(10, name) }
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        try #require(symlink(scratch("secret"), scratch("cache/a")) == 0)
        try FileManager.default.removeItem(atPath: scratch("cache/b"))
        try FileManager.default.createDirectory(atPath: scratch("cache/b"), withIntermediateDirectories: true)
        clock.advance(90_000)
        #expect(try store.removeExpired() == ["c"])
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(try String(contentsOfFile: scratch("secret"), encoding: .utf8) == "secret")
        #expect(try store.totalSize() == 0)
    }

    // MARK: The clock

    @Test("A jump of the clock removes no valid entry") func jumpingClock() throws {
        store.startScan()
        try write(10, "a")
        clock.advance(-86_400 * 365)
        try write(10, "b")
        #expect(try store.removeExpired() == [])
        clock.advance(86_400 * 365 + 3_600)
        #expect(try store.removeExpired() == ["b"])
        #expect(try store.read("a") != nil)
    }

    // MARK: Counts

    @Test("Every operation is counted once") func counts() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        _ = try store.read("a")
        _ = try store.read("missing")
        try store.remove("a")
        try store.remove("a")
        try store.discard(try #require(try store.read("b")))
        try store.write(Data(count: 1), to: "c", expiration: .seconds(1))
        clock.advance(1)
        #expect(try store.read("c") == nil)
        try store.removeExpired()
        try write(1, "d")
        try store.trim(above: 0, to: 0)
        var expected = FileCounts()
        (expected.hits, expected.misses, expected.stores) = (2, 2, 4)
        (expected.expired, expected.trimmed, expected.discarded, expected.removed) = (1, 1, 1, 1)
        (expected.bytesRead, expected.bytesWritten) = (30, 32)
        #expect(store.counts == expected)
    }

    @Test("A failure is counted") func failure() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        #expect(throws: StorageError.self) { try write(1, "a") }
        #expect(store.counts.failures == 1)
    }
}
