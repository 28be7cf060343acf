// That the limit of a file store holds when all who write have ended, however they left making room to one another.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LimitAtRestTests {
    /// Runs something when a store that is making room has asked for the time so many times.
    final class Interruption: Sendable {
        private struct State: Sendable {
            weak var store: FileStore?
            var countdown = 0
            var body: (@Sendable () -> Void)?
        }

        private let state = Locked(State())

        var ticks: @Sendable () -> Int64 {
            {
                let store = self.state.withLock { $0.store }
                guard store?.state.withLock({ $0.isTrimming }) == true else { return 1_000_000 }
                let body = self.state.withLock { state in
                    state.countdown -= 1
                    // Not kept: it may hold what holds this.
                    return state.countdown == 0 ? exchange(&state.body, with: nil) : nil
                }
                body?()
                return 1_000_000
            }
        }

        func set(in store: FileStore, after count: Int, _ body: @escaping @Sendable () -> Void) {
            state.withLock { $0 = State(store: store, countdown: count, body: body) }
        }
    }

    let clock = TestClock()
    let interruption = Interruption()
    let scratch: Scratch
    let store: FileStore
    let other: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read, ticks: interruption.ticks)
        other = FileStore(path: scratch("cache"), clock: clock.read, ticks: { 1_000_000 })
    }

    private func write(_ count: Int, _ name: String, to store: FileStore) throws {
        try store.write(Data(count: count), to: name, expiration: .seconds(10_000))
        clock.advance(1)
    }

    private var ledger: Ledger { get throws { try #require(store.state.withLock { $0.ledger }) } }
    private var entries: [String] { names(in: scratch("cache")) }

    /// What is told untruly makes the store look, and find that there is nothing to do.
    @Test func whoHasLookedInVainLooksAgainForWhoHasLeftItToHim() throws {
        for store in [store, other] {
            store.configure(sizeLimit: 100)
            store.startScan()
        }
        for number in 0..<9 { try write(10, "\(number)", to: store) }
        // It took long: it is not the time to look again without need.
        store.state.withLock { $0.scanTook = 1_000_000 }
        try ledger.noteBytes(ByteCounts(added: 5))
        try ledger.noteChange()
        let leftOver = Locked<Bool?>(nil)
        // When it is about to make room, to trim, to open its folders, to scan, and has scanned.
        interruption.set(in: store, after: 5) { [self] in
            for number in 10..<12 { _ = try? write(7, "\(number)", to: other) }
            let isUnseen = store.state.withLock { $0.account.table.totalSize } == 96
            leftOver.withLock { $0 = isUnseen && other.state.withLock { $0.isOverLimit } }
        }
        try write(6, "9", to: store)
        #expect(leftOver.withLock { $0 } == true)
        #expect(entries.contains("11") && entries.contains("9"))
        #expect(try store.walk().totalSize <= 100)
    }

    @Test func whoHasLookedInVainLooksAgainSoonWhenThereIsTooMuch() throws {
        store.configure(sizeLimit: 100)
        store.startScan()
        for number in 0..<9 { try write(10, "\(number)", to: store) }
        // It took long: it is not the time to look again without need.
        store.state.withLock { $0.scanTook = 1_000_000 }
        try ledger.noteBytes(ByteCounts(added: 5))
        try ledger.noteChange()
        try write(6, "9", to: store)
        #expect(store.state.withLock { $0.vainScans } == 1)
        store.state.withLock { $0.scanTook = 1_000_000 }
        try write(10, "10", to: other)
        try write(1, "11", to: store)
        #expect(try store.walk().totalSize <= 100)
    }

    @Test func whoHasLeftItToAnotherTriesAgainForWhatWasWrittenHereSince() throws {
        store.configure(sizeLimit: 100)
        store.startScan()
        for number in 0..<10 { try write(10, "\(number)", to: store) }
        let ledger = try #require(Ledger.of(try Directory.create(scratch(".cache.tmp"))))
        let isOver = Locked<Bool?>(nil)
        // When it is about to make room, and has left it to who is at it, who ends now.
        interruption.set(in: store, after: 2) { [self] in
            flock(ledger.file, LOCK_UN)
            _ = try? write(1, "11", to: store)
            isOver.withLock { $0 = store.state.withLock { $0.isOverLimit } }
        }
        #expect(flock(ledger.file, LOCK_EX | LOCK_NB) == 0)
        try write(5, "10", to: store)
        #expect(isOver.withLock { $0 } == true)
        #expect(try store.walk().totalSize <= 100)
    }

    /// It writes a little, or far too much, as often as the store asks for the time: about three times for each removal.
    @Test(arguments: [10, 40])
    func whoMakesRoomIsNotHeldUpByOneWithoutALimitThatNeverEnds(count: Int) throws {
        let asked = Locked(0)
        let busy = Locked<FileStore?>(nil)
        let other = other
        let store = FileStore(path: scratch("cache"), clock: clock.read) {
            guard busy.withLock({ $0 })?.state.withLock({ $0.isTrimming }) == true else { return 1_000_000 }
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            if number.isMultiple(of: 6), number < 2_000 {
                _ = try? other.write(Data(count: count), to: "other \(number)", expiration: .days(1))
            }
            return 1_000_000
        }
        store.configure(sizeLimit: 100)
        store.startScan()
        for number in 0..<10 { try write(10, "\(number)", to: store) }
        busy.withLock { $0 = store }
        try write(10, "10", to: store)
        busy.withLock { $0 = nil }
        #expect(asked.withLock { $0 } < 500)
        // Now nobody is at it.
        try write(10, "11", to: store)
        #expect(try store.walk().totalSize <= 100)
    }

    /// One makes room after a write and has removed what has expired, which the account does not know yet.
    @Test(.timeLimit(.minutes(5))) func whoIsAskedToTrimMeanwhileRemovesNoMoreThanIsTooMuch() throws {
        let (hasTrimmed, removed) = (DispatchSemaphore(value: 0), SharedValue<[String]?>(nil))
        let (isArmed, holder, path) = (SharedValue(true), SharedValue<FileStore?>(nil), scratch("cache"))
        let store = FileStore(path: path, clock: clock.read) {
            guard let store = holder.value, access(path + "/old", F_OK) != 0, isArmed.exchange(with: false) else {
                return 1_000_000
            }
            Thread.detachNewThread {
                removed.value = (try? store.trim(above: 34, to: 17)) ?? ["It failed."]
                hasTrimmed.signal()
            }
            // It has to wait for us, so this is in vain.
            if hasTrimmed.wait(timeout: .now() + 0.2) == .success { hasTrimmed.signal() }
            return 1_000_000
        }
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name, to: store) }
        try store.write(Data(count: 10), to: "old", expiration: .seconds(1))
        clock.advance(1)
        store.configure(sizeLimit: 35)
        holder.value = store
        try write(1, "d", to: store)
        holder.value = nil
        try #require(!isArmed.value)
        hasTrimmed.wait()
        #expect(removed.value == [])
        #expect(entries == ["a", "b", "c", "d"])
    }

    /// They go a few at a time: 300 are more than that.
    @Test func allThatHasExpiredGoesThoughTheAccountIsForgottenMeanwhile() throws {
        let store = FileStore(path: scratch("cache"), clock: clock.read)
        store.startScan()
        for number in 0..<300 { try store.write(Data(count: 1), to: "old \(number)", expiration: .seconds(1)) }
        for number in 0..<10 { try store.write(Data(count: 1), to: "\(number)", expiration: .days(1)) }
        clock.advance(1)
        let isArmed = SharedValue(true)
        store.state.withLock { state in
            state.whileAside = { if isArmed.exchange(with: false) { store.forgetDirectory() } }
        }
        #expect(try store.removeExpired().count == 300)
        store.state.withLock { $0.whileAside = nil }
        #expect(!isArmed.value && entries.count == 10)
    }

    /// Nobody here keeps an account yet, so what there is was found by a walk.
    @Test func whatAnotherProcessHasRemovedSinceTheWalkTakesNoRoom() throws {
        let (isArmed, path) = (SharedValue(false), scratch("cache"))
        let store = FileStore(path: path) { [clock] in
            if isArmed.exchange(with: false) { unlink(path + "/old") }
            return clock.now
        }
        for name in ["a", "b", "c"] { try write(10, name, to: store) }
        try store.write(Data(count: 10), to: "old", expiration: .seconds(1))
        clock.advance(1)
        isArmed.value = true
        #expect(try store.trim(above: 34, to: 34) == [])
        #expect(entries == ["a", "b", "c"])
    }

    /// What was known before the wait for the turn may be no more.
    @Test(.timeLimit(.minutes(5))) func whoHasWaitedToTrimTakesIntoAccountWhatCameMeanwhile() throws {
        let (store, other) = (store, other)
        store.configure(sizeLimit: 385)
        store.startScan()
        for name in ["a", "b", "c"] { try write(100, name, to: store) }
        // Who makes room after a write does not look again for so little.
        store.state.withLock { ($0.scanTook, $0.vainScans) = (1_000_000, 100) }
        let hasTrimmed = DispatchSemaphore(value: 0)
        let removed = SharedValue<[String]?>(nil)
        interruption.set(in: store, after: 1) {
            Thread.detachNewThread {
                removed.value = (try? store.trim(above: 405, to: 395)) ?? ["It failed."]
                hasTrimmed.signal()
            }
            // It waits for the turn by then.
            if hasTrimmed.wait(timeout: .now() + 0.2) == .success { hasTrimmed.signal() }
            try? other.write(Data(count: 10), to: "e", expiration: .days(1))
        }
        try write(100, "d", to: store)
        hasTrimmed.wait()
        #expect(removed.value == ["a"])
        #expect(entries == ["b", "c", "d", "e"])
    }

    @Test func whoCleansWithoutAnAccountIsAlone() throws {
        let (hasScanned, isArmed, path) = (DispatchSemaphore(value: 0), SharedValue(false), scratch("cache"))
        let (holder, isAlone) = (SharedValue<FileStore?>(nil), SharedValue(false))
        let store = FileStore(path: path) { [clock] in
            if isArmed.exchange(with: false), let store = holder.value {
                Thread.detachNewThread {
                    store.startScan()
                    hasScanned.signal()
                }
                isAlone.value = hasScanned.wait(timeout: .now() + 0.2) == .timedOut
                if !isAlone.value { hasScanned.signal() }
            }
            return clock.now
        }
        for name in ["a", "b"] { try write(10, name, to: store) }
        holder.value = store
        isArmed.value = true
        #expect(try store.trim(above: 15, to: 15) == ["a"])
        #expect(isAlone.value)
        hasScanned.wait()
        holder.value = nil
        #expect(entries == ["b"])
    }

    /// Whenever it is removed: the scan asks for the time again and again.
    @Test(arguments: 1...12) func aScanMakesNoDirectoryAgain(count: Int) throws {
        let (countdown, path) = (SharedValue(0), scratch("cache"))
        let store = FileStore(path: path, clock: clock.read) {
            if countdown.change({
                $0 -= 1; return $0
            }) == 0 {
                rmdir(path)
            }
            return 1_000_000
        }
        try store.prepare()
        countdown.value = count
        store.startScan(making: false)
        #expect(countdown.value > 0 || access(path, F_OK) != 0)
        countdown.value = 0
    }

    // MARK: The sum of all

    @Test func theSumIsKnownToAllOnceSomebodyHasLookedWhileNobodyWasAtIt() throws {
        try write(10, "a", to: store)
        try write(10, "b", to: other)
        #expect(try ledger.total == nil)
        store.startScan()
        #expect(try ledger.total == 20)
        try write(5, "a", to: other)
        try other.remove("b")
        try write(7, "c", to: store)
        #expect(try ledger.total == 12)
    }

    @Test func whoLooksWhileOthersAreAtItTellsNoSum() throws {
        try write(10, "a", to: store)
        other.joinLedger()
        let change = other.state.withLock { $0.begin("b") }
        store.startScan()
        #expect(try ledger.total == nil)
        _ = other.state.withLock { $0.end(change, .unchanged) }
        store.state.withLock { $0.account.isStale = true }
        store.startScan()
        #expect(try ledger.total == 10)
    }

    @Test func nobodyKnowsTheSumWhenSomebodyHasDiedOverAChange() throws {
        try write(10, "a", to: store)
        store.startScan()
        #expect(try ledger.total == 10)
        try ledger.noteDeath()
        #expect(try ledger.total == nil)
        store.state.withLock { $0.account.isStale = true }
        store.startScan()
        #expect(try ledger.total == 10)
    }

    @Test func whoKeepsNoAccountTellsExactlyAlsoIfHeWasTheFirst() throws {
        try write(10, "a", to: store)
        other.startScan()
        #expect(try ledger.total == 10)
        for _ in 0..<3 { try write(10, "a", to: store) }
        #expect(try ledger.total == 10)
        try store.remove("a")
        #expect(try ledger.total == 0)
    }

    @Test func whoIsAloneWithTheLedgerNeedNotTellExactly() throws {
        try write(10, "a", to: store)
        #expect(!store.state.withLock { $0.mustTellExactly })
        var restarted: FileStore? = FileStore(path: scratch("cache"))
        try restarted?.write(Data(count: 5), to: "b", expiration: .days(1))
        #expect(restarted?.state.withLock { $0.mustTellExactly } == true)
        // Who has once heard of others cannot tell whether there are still some.
        restarted = nil
        #expect(store.state.withLock { $0.mustTellExactly })
        let folder = try Directory.create(scratch(".cache.tmp"))
        #expect(try #require(Ledger.of(folder)).isOurs == false)
        store.forgetDirectory()
        #expect(try #require(Ledger.of(folder)).isOurs)
    }

    /// Who was alone when he began has not looked what he replaces.
    @Test func nobodyKnowsTheSumWhenSomebodyCouldNotTellWhatHeReplaced() throws {
        try write(10, "a", to: store)
        store.startScan()
        try write(10, "a", to: store)
        #expect(try ledger.total == 10)
        let change = store.state.withLock { $0.begin("a") }
        #expect(!store.state.withLock { $0.mustTellExactly })
        try write(20, "a", to: other)
        try Data(count: 30).write(to: URL(fileURLWithPath: scratch("cache/a")))
        let record = EntryRecord(size: 30, access: clock.now.entryTime, expiry: clock.now.entryTime)
        _ = store.state.withLock { state in
            state.note(.stored(record), of: "a")
            return state.end(change, .stored(record))
        }
        #expect(try [nil, 30].contains(ledger.total))
        store.startScan()
        #expect(try ledger.total == 30)
    }

    @Test func whatVanishedBehindAllBacksIsTakenFromTheSum() throws {
        try write(10, "a", to: store)
        try write(10, "b", to: store)
        store.startScan()
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        #expect(try store.read("a") == nil)
        #expect(try ledger.total == 10)
    }

    @Test func whoEndsMayWaitForThoseWhoMakeRoom() async throws {
        let executor = WorkExecutor("kf.limit", threads: 2)
        let (isAtIt, mayGoOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
        let store = store
        #expect(!store.isMakingRoom)
        store.waitForRoom()
        async let maker: Void = executor.run {
            store.turn.withLock { _ in
                store.state.withLock { $0.isTrimming = true }
                isAtIt.keep(())
                mayGoOn.wait()
                store.state.withLock { $0.isTrimming = false }
            }
        }
        await isAtIt.value
        async let waiter = executor.run {
            store.waitForRoom()
            return !store.isMakingRoom
        }
        #expect(store.isMakingRoom)
        mayGoOn.signal()
        #expect(await waiter)
        await maker
    }

    /// Whoever leaves it to another to make room relies on that.
    @Test func whenAllHaveWrittenTheLimitHolds() async throws {
        let executor = WorkExecutor("kf.limit", threads: 9)
        let stores = (0..<3).map { _ in FileStore(path: scratch("cache"), clock: clock.read) }
        for store in stores {
            store.configure(sizeLimit: 20_000)
            store.startScan()
        }
        func trimsBesideOthers() -> Int { stores.reduce(0) { $0 + $1.state.withLock { $0.trimsBesideAnother } } }
        for round in 0..<60 {
            let before = trimsBesideOthers()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for thread in 0..<9 {
                    group.addTask {
                        try await executor.run { () async throws in
                            for step in 0..<12 {
                                let size = 1 + (step &* 7_919 &+ thread &* 104_729 &+ round &* 1_299_709) % 1_500
                                let name = "\((step &* 13 &+ thread &* 29 &+ round) % 120)"
                                try stores[thread % 3].write(Data(count: size), to: name, expiration: .days(1))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let total = try stores[0].walk().totalSize
            #expect(total <= 20_000, "round \(round)")
            // Who has waited too long for another to make room makes some as well, and what both remove may be more.
            if trimsBesideOthers() == before { #expect(total > 15_000) }
        }
    }

    @Test func theSumOfADirectoryIsNotThatOfTheOneThatWasThereBefore() throws {
        try write(10, "a", to: store)
        store.startScan()
        #expect(try ledger.total == 10)
        let larger = FileStore(path: scratch("larger"), clock: clock.read)
        try write(1_000, "b", to: larger)
        try FileManager.default.moveItem(atPath: scratch("cache"), toPath: scratch("old"))
        try FileManager.default.moveItem(atPath: scratch("larger"), toPath: scratch("cache"))
        // One who is at it all the time, so that nobody who looks can tell the sum.
        try write(10, "c", to: other)
        _ = other.state.withLock { $0.begin("d") }
        let next = FileStore(path: scratch("cache"), clock: clock.read, ticks: { 1_000_000 })
        next.configure(sizeLimit: 100)
        next.startScan()
        try write(10, "e", to: next)
        #expect(entries == ["c", "e"])
    }
}
