// Looking up what is not there without asking the system, and never missing what is.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct ShortcutTests {
    let ticks = TestTicks()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), ticks: ticks.read)
    }

    private func anotherStore() -> FileStore { FileStore(path: scratch("cache"), ticks: ticks.read) }

    private func write(_ name: String, to store: FileStore) throws {
        try store.write(Data(count: 10), to: name, expiration: .days(1))
    }

    /// Puts an entry where the store would look for it, without telling anybody.
    private func plant(_ name: String) throws {
        try Data(count: 10).write(to: URL(fileURLWithPath: scratch("cache/" + name)))
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 4_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, scratch("cache/" + name), times, 0) == 0)
    }

    @Test func afterTheScanNobodyLooksForWhatIsNotThere() throws {
        try store.prepare()
        store.startScan()
        #expect(!store.contains("a"))
        try letTimePass(at: scratch.path)
        // Any look at the disk would now find it. The clock stands still, so no second passes.
        try plant("a")
        #expect(!store.contains("a"))
        #expect(try store.read("a") == nil)
        #expect(store.counts.missesWithoutDisk == 1)
        #expect(store.counts.misses == 1)
        // After a second the directory's time betrays it.
        ticks.advance(1_000)
        #expect(store.contains("a"))
        #expect(try store.read("a") != nil)
    }

    #if DEBUG
    @Test func aMissThatIsKnownMakesNoSystemCall() throws {
        try store.prepare()
        let (store, name) = (store, FileNaming.hash("missing"))
        #expect(BlockingGuard.violations { _ = store.contains(name) } != [])
        store.startScan()
        let calls = try BlockingGuard.violations {
            for _ in 0..<100 {
                let isThere = try store.contains(name) || store.read(name) != nil
                #expect(!isThere)
            }
        }
        #expect(calls == [])
        #expect(store.counts.missesWithoutDisk == 100)
        // Once a second it is made sure that everything is where it was.
        ticks.advance(1_000)
        #expect(BlockingGuard.violations { _ = store.contains(name) } != [])
        #expect(BlockingGuard.violations { _ = store.contains(name) } == [])
    }
    #endif

    @Test func beforeTheScanTheDiskIsAsked() throws {
        try store.prepare()
        try plant("a")
        #expect(store.contains("a"))
        #expect(try store.read("a") != nil)
        #expect(try store.read("b") == nil)
        #expect(store.counts.missesWithoutDisk == 0)
        #expect(store.knownNames == nil)
    }

    @Test func whatAnotherStoreWritesIsFoundAtOnce() throws {
        let other = anotherStore()
        store.startScan()
        other.startScan()
        for step in 0..<50 {
            let (writer, reader) = step.isMultiple(of: 2) ? (store, other) : (other, store)
            #expect(!reader.contains("\(step)"))
            try write("\(step)", to: writer)
            #expect(reader.contains("\(step)"))
            #expect(try reader.read("\(step)") != nil)
        }
    }

    @Test(arguments: [["cache", ".cache.tmp"], [".cache.tmp"], ["cache"]])
    func whatAnotherStoreWritesAfterAllWasRemovedIsFoundAtOnce(_ gone: [String]) throws {
        let other = anotherStore()
        try write("a", to: other)
        store.startScan()
        #expect(!store.contains("b"))
        for name in gone { try FileManager.default.removeItem(atPath: scratch(name)) }
        // The other finds that out, and tells of it where the store still listens.
        try write("b", to: other)
        #expect(store.contains("b"))
        #expect(try store.read("b") != nil)
    }

    @Test func whatAStoreThatNeverScannedWritesIsFoundAtOnce() throws {
        store.startScan()
        #expect(try store.read("a") == nil)
        try write("a", to: anotherStore())
        #expect(try store.read("a") != nil)
    }

    @Test func theShortcutWorksAgainAfterAnotherScan() throws {
        store.startScan()
        try write("a", to: anotherStore())
        #expect(try store.read("b") == nil)
        #expect(store.counts.missesWithoutDisk == 0)
        #expect(store.needsScan)
        store.startScan()
        #expect(!store.needsScan)
        #expect(try store.read("b") == nil)
        #expect(store.counts.missesWithoutDisk == 1)
    }

    @Test func manyStoresAndThreadsNeverMissWhatWasStored() async throws {
        let stores = [store, anotherStore(), anotherStore()]
        let done = Names()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (thread, store) in stores.enumerated() {
                group.addTask {
                    for step in 0..<150 {
                        if step.isMultiple(of: 10) { store.startScan() }
                        let name = FileNaming.hash("\(thread) \(step)")
                        try store.write(Data(count: 1), to: name, expiration: .days(1))
                        done.insert(name)
                        guard let any = done.any else { continue }
                        #expect(store.contains(any))
                        #expect(try store.read(any) != nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores {
            store.startScan()
            for name in done.all { #expect(store.contains(name)) }
            #expect(try store.totalSize() == 450)
        }
    }

    // MARK: Assumptions

    @Test("DSK-26: without known names every look-up goes to the disk")
    func withoutKnownNamesTheDiskIsAsked() throws {
        try store.prepare()
        store.startScan()
        store.assumeKnownNames(nil)
        try plant("a")
        #expect(store.knownNames == nil)
        #expect(store.contains("a"))
        #expect(try store.read("b") == nil)
        #expect(store.counts.missesWithoutDisk == 0)
    }

    @Test("DSK-26: what is not among the known names is a miss, and what is stored becomes known")
    func assumedNamesAreTheOnlyOnes() throws {
        for name in ["a", "b"] { try write(name, to: store) }
        store.assumeKnownNames(["a"])
        #expect(try store.read("a") != nil)
        #expect(try store.read("b") == nil)
        #expect(!store.contains("b"))
        #expect(store.counts.missesWithoutDisk == 1)
        try write("b", to: store)
        #expect(try store.read("b") != nil)
        #expect(store.knownNames == ["a", "b"])
    }
}

/// Names that several threads collect.
private final class Names: Sendable {
    private let names = Locked<Set<String>>([])

    var all: Set<String> { names.withLock { $0 } }
    var any: String? { all.randomElement() }
    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }
}
