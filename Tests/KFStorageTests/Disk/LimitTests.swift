// The size limit of a file store: which entries are removed, which stay, also with several processes at work.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LimitTests: StoreSuite {
    let rig: StoreRig

    init() throws { rig = try StoreRig() }

    private func anotherStore(limit: Int) -> FileStore {
        let store = FileStore(path: scratch("cache"), clock: clock.read)
        store.configure(sizeLimit: limit)
        return store
    }

    private func write(_ count: Int, _ name: String, to store: FileStore? = nil, for seconds: Double = 10_000) throws {
        try (store ?? self.store).write(Data(count: count), to: name, expiration: .seconds(seconds))
        clock.advance(1)
    }

    private var entries: [String] { names(in: scratch("cache")) }

    @Test("A write over the limit makes room down to nine tenths of it") func ninetyPercent() throws {
        store.configure(sizeLimit: 100)
        store.startScan()
        for number in 0..<10 { try write(10, "\(number)") }
        #expect(entries == (0..<10).map { "\($0)" })
        try write(1, "new")
        #expect(entries == (2..<10).map { "\($0)" } + ["new"])
        #expect(try store.totalSize() == 81)
        #expect(store.counts.trimmed == 2)
        // There is room again: nothing is removed.
        try write(19, "more")
        #expect(entries.count == 10)
    }

    @Test("Entries that were read are kept") func usedStays() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try store.touch(try #require(try store.read("a")), extending: .cacheTime)
        clock.advance(1)
        try write(7, "d")
        #expect(entries == ["a", "c", "d"])
    }

    @Test("Expired entries are removed first") func expiredGoesFirst() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        try write(9, "old")
        try write(12, "short", for: 2)
        try write(9, "c")
        try write(9, "d")
        #expect(entries == ["c", "d", "old"])
        #expect(store.counts.expired == 1 && store.counts.trimmed == 0)
    }

    @Test("An entry that alone exceeds the limit is not stored, and no other entry is removed for it") func tooLarge()
        throws
    {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b"] { try write(10, name) }
        try write(31, "huge")
        try write(31, "a")
        #expect(entries == ["b"])
        try write(30, "just")
        #expect(entries == ["just"])
        store.configure(sizeLimit: 0)
        try write(31, "huge")
        #expect(entries == ["huge", "just"])
    }

    @Test("A stored entry larger than the limit is removed first, and no other entry for it") func hugeGoesFirst()
        throws
    {
        for name in ["a", "b"] { try write(10, name) }
        try write(40, "huge")
        let restarted = anotherStore(limit: 30)
        restarted.startScan()
        try write(7, "c", to: restarted)
        #expect(entries == ["a", "b", "c"])
    }

    @Test("A write before the first scan starts one if more than a tenth of the limit was written") func beforeTheScan()
        throws
    {
        for number in 0..<5 { try write(10, "\(number)") }
        let restarted = anotherStore(limit: 30)
        try write(3, "5", to: restarted)
        #expect(entries.count == 6 && restarted.knownSize == nil)
        try write(4, "6", to: restarted)
        #expect(entries == ["3", "4", "5", "6"])
    }

    @Test("The end of the scan makes room") func afterTheScan() throws {
        for number in 0..<5 { try write(10, "\(number)") }
        anotherStore(limit: 30).startScan()
        #expect(entries == ["3", "4"])
    }

    @Test("Lowering the limit removes nothing by itself") func lowering() throws {
        store.startScan()
        for number in 0..<10 { try write(1, "\(number)") }
        store.configure(sizeLimit: 5)
        #expect(entries.count == 10)
        #expect(try store.trim(above: 4, to: 2).sorted() == (0..<8).map { "\($0)" })
    }

    // MARK: Several processes

    @Test("The limit holds for the writes of several stores, after a tenth of it at the latest") func several() throws {
        let stores = [anotherStore(limit: 1_000), anotherStore(limit: 1_000)]
        for store in stores { store.startScan() }
        for number in 0..<200 {
            try letTimePass(at: scratch.path)
            try write(10, "\(number)", to: stores[number % 2])
            #expect(entries.count * 10 <= 1_000 + 2 * 110)
        }
        let total = try stores[0].totalSize()
        #expect(total == entries.count * 10 && total > 700)
    }

    @Test("Entries that another store has used are kept if others can be removed") func usedByOthers() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        let other = FileStore(path: scratch("cache"), clock: clock.read)
        try other.touch(try #require(try other.read("a")), extending: .cacheTime)
        clock.advance(1)
        try write(7, "d")
        #expect(entries == ["a", "c", "d"])
    }

    @Test("The limit holds even if another store has used all entries") func allUsedByOthers() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        let other = FileStore(path: scratch("cache"), clock: clock.read)
        for name in ["b", "a", "c"] {
            try other.touch(try #require(try other.read(name)), extending: .cacheTime)
            clock.advance(1)
        }
        try write(7, "d")
        #expect(entries == ["a", "c", "d"])
    }

    @Test("A store that does not get the lock leaves making room to the process that holds it") func lock() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        let other = open(scratch("cache"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
        try write(10, "d")
        #expect(entries.count == 4)
        flock(other, LOCK_UN)
        close(other)
        try write(1, "e")
        #expect(entries == ["c", "d", "e"])
    }

    @Test("When many threads have written, the limit holds after the next trim") func manyThreads() async throws {
        let store = FileStore(path: scratch("cache"))
        store.configure(sizeLimit: 50_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for step in 0..<200 {
                        try store.write(Data(count: 1_000), to: "\(thread) \(step)", expiration: .days(1))
                    }
                }
            }
            try await group.waitForAll()
        }
        store.waitForRoom()
        #expect(!store.isMakingRoom)
        try store.trim(above: 50_000, to: 45_000)
        #expect((1...50).contains(entries.count))
        #expect(try store.totalSize() == entries.count * 1_000)
    }

    // MARK: Failures

    @Test("A directory that cannot be listed takes writes, and stays unscanned") func unreadable() throws {
        store.configure(sizeLimit: 1_000)
        try write(1, "0")
        for path in [scratch("cache"), scratch(".cache.tmp")] where geteuid() == 0 {
            try #require(chown(path, 65_534, 65_534) == 0)
        }
        // Files may be made there, and not be listed.
        try #require(chmod(scratch("cache"), 0o300) == 0)
        defer { chmod(scratch("cache"), 0o755) }
        try withoutPrivileges { for number in 1...100 { try write(3, "\(number)") } }
        #expect(store.knownSize == nil && store.counts.stores == 101)
    }

    @Test(
        "Entries that may not be removed, in a directory with the sticky bit, do not stop the removal of others",
        .enabled(if: geteuid() == 0, "only root can become another user"),
        arguments: [1, 300]
    )
    func foreignEntries(count: Int) throws {
        for name in 0..<count { try write(60, "a\(name)") }
        for name in ["cache", ".cache.tmp"] { try #require(chmod(scratch(name), 0o1777) == 0) }
        let limit = count * 60 + 60
        try withoutPrivileges {
            let store = anotherStore(limit: limit)
            store.startScan()
            for name in 0..<20 { try write(10, "b\(name)", to: store) }
        }
        #expect(entries.count { $0.hasPrefix("a") } == count)
        #expect(try store.totalSize() <= limit + limit / 10 + 10)
    }
}
