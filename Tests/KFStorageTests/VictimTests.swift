// What is stored while a file of its name is being removed stays.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct VictimTests {
    let clock = TestClock()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read)
    }

    enum Way: CaseIterable {
        case expiring, trimming, keepingTheLimit, damaged

        /// Removes the entry called `a`.
        func remove(from store: FileStore) throws {
            switch self {
            case .expiring: try store.removeExpired(at: store.clock() + 10)
            case .trimming: try store.trim(above: 1, to: 1)
            case .keepingTheLimit:
                store.configure(sizeLimit: 15)
                store.keepLimit()
            case .damaged:
                let entry = try #require(try store.read("a", at: .distantPast))
                try store.discard("a", entry)
            }
        }
    }

    /// Lets another thread write between the look and the removal: it has to wait until that is over.
    @Test(arguments: Way.allCases) func whatAnotherThreadStoresMeanwhileStays(way: Way) throws {
        try store.write(Data(count: 20), to: "a", expiration: .seconds(2))
        clock.advance(1)
        if way != .damaged { store.startScan() }
        let writer = FileStore(path: scratch("cache"), clock: clock.read)
        try writer.write(Data(count: 1), to: "b", expiration: .days(1))
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let runs = Counter()
        store.state.withLock { state in
            state.afterLook = {
                guard runs.next() == 1 else { return }
                Thread.detachNewThread {
                    begun.signal()
                    try? writer.write(Data(count: 5), to: "a", expiration: .days(36_500))
                    ended.signal()
                }
                begun.wait()
                // Without the lock it is written by then; with it, waiting is in vain.
                if ended.wait(timeout: .now() + 0.2) == .success { ended.signal() }
            }
        }
        try way.remove(from: store)
        #expect(ended.wait(timeout: .now() + 30) == .success)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("cache/a"))).count == 5)
        let total = try names(in: scratch("cache")).reduce(0) {
            try $0 + Data(contentsOf: URL(fileURLWithPath: scratch("cache/" + $1))).count
        }
        #expect(try store.totalSize() == total)
    }

    /// Another process knows nothing of our locks.
    @Test(arguments: Way.allCases) func whatAnotherProcessStoresMeanwhileStays(way: Way) throws {
        try store.write(Data(count: 20), to: "a", expiration: .seconds(2))
        store.startScan()
        clock.advance(1)
        let other = FileStore(path: scratch("other"), clock: clock.read)
        try other.write(Data(count: 5), to: "a", expiration: .days(36_500))
        let (from, to, runs) = (scratch("other/a"), scratch("cache/a"), Counter())
        store.state.withLock { state in
            state.afterLook = { if runs.next() == 1 { rename(from, to) } }
        }
        try way.remove(from: store)
        #expect(runs.next() > 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: to)).count == 5)
        #expect(try store.totalSize() == 5)
        #expect(temporaries(of: scratch("cache")) == [])
        #expect(store.counts.failures == 0)
    }

    /// Whoever starts removes what dead processes have left, and could take for that what is put aside just then.
    @Test(arguments: Way.allCases, [false, true]) func whatIsPutAsideIsNoLeftover(way: Way, isReplaced: Bool) throws {
        try store.write(Data(count: 20), to: "a", expiration: .seconds(2))
        store.startScan()
        clock.advance(1)
        let other = FileStore(path: scratch("other"), clock: clock.read)
        try other.write(Data(count: 5), to: "a", expiration: .days(36_500))
        let (from, to, path, runs) = (scratch("other/a"), scratch("cache/a"), scratch("cache"), Counter())
        store.state.withLock { state in
            if isReplaced { state.afterLook = { rename(from, to) } }
            state.whileAside = { if runs.next() == 1 { try? FileStore(path: path).prepare() } }
        }
        try way.remove(from: store)
        #expect(runs.next() == 2)
        #expect(names(in: path) == (isReplaced ? ["a"] : []))
        #expect(temporaries(of: path) == [])
        let counts = store.counts
        #expect(counts.expired + counts.trimmed + counts.corrupted + counts.discarded == (isReplaced ? 0 : 1))
    }

    @Test func whoHasWrittenNothingRemovesNothingNewerEither() throws {
        try store.write(Data(count: 20), to: "a", expiration: .seconds(2))
        let cleaner = FileStore(path: scratch("cache"), clock: clock.read)
        clock.advance(3)
        let other = FileStore(path: scratch("other"), clock: clock.read)
        try other.write(Data(count: 5), to: "a", expiration: .days(36_500))
        let (from, to, runs) = (scratch("other/a"), scratch("cache/a"), Counter())
        cleaner.state.withLock { $0.afterLook = { if runs.next() == 1 { rename(from, to) } } }
        #expect(try cleaner.removeExpired() == [])
        #expect(runs.next() == 2)
        #expect(try Data(contentsOf: URL(fileURLWithPath: to)).count == 5)
    }

    /// Whoever tidies up around a cache may take the folder for temporary files with him.
    @Test(arguments: Way.allCases) func whatHasToGoGoesThoughTheFolderBesideWasRemoved(way: Way) throws {
        try store.write(Data(count: 20), to: "a", expiration: .seconds(2))
        store.startScan()
        clock.advance(1)
        try FileManager.default.removeItem(atPath: folder(of: scratch("cache")))
        try way.remove(from: store)
        #expect(names(in: scratch("cache")) == [])
        #expect(try store.totalSize() == 0)
    }

    @Test func anEntryIsRemovedThoughTheFolderBesideWasRemoved() throws {
        let other = FileStore(path: scratch("cache"), clock: clock.read)
        for store in [store, other] {
            try store.write(Data(count: 20), to: "a", expiration: .days(1))
            store.startScan()
        }
        try FileManager.default.removeItem(atPath: folder(of: scratch("cache")))
        #expect(try store.remove("a"))
        #expect(names(in: scratch("cache")) == [])
        #expect(try store.totalSize() == 0)
        #expect(try other.totalSize() == 0)
    }

    @Test func aFileIsMovedToAFreeNameOnly() throws {
        for name in ["a", "b"] { try Data(name.utf8).write(to: URL(fileURLWithPath: scratch(name))) }
        let directory = try Directory.create(scratch.path)
        #expect(kf_rename_if_free(directory.number, "a", directory.number, "b") == -1 && errno == EEXIST)
        #expect(names(in: scratch.path) == ["a", "b"])
        #expect(kf_rename_if_free(directory.number, "a", directory.number, "c") == 0)
        #expect(names(in: scratch.path) == ["b", "c"])
    }
}

/// Counts calls.
private final class Counter: Sendable {
    private let count = Locked(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
