// How what a file store does gets into its account, its counts and its ledger. Knows nothing of what is done.

import Foundation
import Glibc
import KFSupport

extension FileStore {
    // MARK: Changes

    /// Runs `body`, which changes the entry called `name` and answers what has become of it.
    ///
    /// Every change of an entry goes through here. When it returns, the account knows of it and other processes have
    /// been told.
    @discardableResult
    func changing(
        _ name: String,
        _ body: () throws(StorageError) -> Account.Outcome
    ) throws(StorageError) -> Account.Outcome {
        joinLedger()
        let (change, directory) = state.withLock { ($0.begin(name), $0.account.isActive ? $0.directory : nil) }
        let stamp = directory?.stamp
        do throws(StorageError) {
            let outcome = try body()
            end(change, outcome, stampBefore: stamp, stampAfter: directory?.stamp)
            return outcome
        } catch {
            state.withLock { $0.counts.failures += 1 }
            end(change, .unknown(), stampBefore: stamp, stampAfter: nil)
            throw error
        }
    }

    private func end(
        _ change: Account.Change,
        _ outcome: Account.Outcome,
        stampBefore: Directory.Stamp?,
        stampAfter: Directory.Stamp?
    ) {
        // If the directory was let go of meanwhile, with the ledger, and without need: then the change has to be told of.
        if state.withLock({ !$0.account.isCurrent(change) }) { joinLedger() } else { joinLedgerMadeMeanwhile() }
        let now = ticks()
        let ticket = state.withLock { state -> Int? in
            state.note(outcome, of: change.name)
            state.counts.note(outcome)
            state.report(at: now)
            state.account.compare(stampBefore, stampAfter, around: change)
            return state.end(change, outcome)
        }
        settle(change, ticket)
        if case .stored = outcome { keepLimit() }
    }

    /// Looks at the file of an entry; `nil` if it cannot be told whether there is one.
    private func look(_ name: String) -> Account.Outcome? {
        guard let directory = try? directory(making: false) else { return .seen(nil) }
        do throws(StorageError) {
            let status = try directory.status(of: name)
            return .seen(status.flatMap { $0.isRegularFile ? EntryRecord($0) : nil })
        } catch {
            return nil
        }
    }

    /// Looks at an entry of which the account may be wrong.
    private func reconcile(_ name: String) {
        let change = state.withLock { $0.begin(name) }
        settle(change, state.withLock { $0.end(change, .unknown()) })
    }

    /// Looks at the file of an entry until what is seen is certain.
    private func settle(_ change: Account.Change, _ ticket: Int?) {
        var ticket = ticket
        while let lastTicket = ticket {
            let seen = look(change.name)
            ticket = state.withLock { state in
                if seen == nil { state.account.noteUnseen() }
                return state.end(change, seen ?? .unchanged, ticket: lastTicket)
            }
        }
    }

    /// Removes an entry that is no good, if its file still is the one called `identity`.
    func removeCorrupted(_ name: String, _ identity: FileIdentity) throws(StorageError) {
        try changing(name) { () throws(StorageError) in
            try removeFile(name, because: .corrupted) { FileIdentity($0) == identity ? nil : .unknown(taken: 0) }
        }
    }

    // MARK: Readings

    /// Runs `body`, and counts it if it fails.
    func countingFailure<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            state.withLock { $0.counts.failures += 1 }
            throw error
        }
    }

    /// Notes a reading that found nothing valid, and answers that: nothing.
    ///
    /// What `isThere` says: that there is a file all the same.
    func missed(_ name: String, isThere: Bool = false) -> Entry? {
        let now = ticks()
        let isKnown = state.withLock { state in
            state.counts.misses += 1
            state.report(at: now)
            return state.account.isComplete && state.account.table.contains(name)
        }
        // It has vanished behind our back.
        if isKnown, !isThere { reconcile(name) }
        return nil
    }

    /// Notes a reading that found an entry of so many bytes, at `now`; before it, the account had `knownSize` of it.
    func noteHit(_ name: String, size: Int, knownSize: Int?, at now: Int64) {
        let isWrong = state.withLock { state in
            state.counts.hits += 1
            state.counts.bytesRead += size
            state.report(at: now)
            guard knownSize != size, state.account.isComplete else { return false }
            // It may have been stored here meanwhile, and entered.
            return state.account.table.record(of: name)?.size != size
        }
        // It has appeared, or was replaced, behind our back.
        if isWrong { reconcile(name) }
    }

    /// Notes that an entry was used.
    func noteUse(_ name: String, access: timespec, expiry: timespec) {
        state.withLock { $0.account.markUsed(name, access: access.nanoseconds, expiry: expiry.nanoseconds) }
    }

    // MARK: Looking up

    /// Whether it is known, without any system call, that there is no entry called `name`.
    ///
    /// True only if a scan has seen all entries, and no process has changed anything since that the account does not
    /// know of. About once a second it is made sure that directory and ledger still are at their paths.
    package func isKnownMissing(_ name: String) -> Bool { outlook(on: name, at: ticks()) == nil }

    /// What looking for an entry begins with; `nil` if it ends with that, because it is known that there is none.
    ///
    /// With `counting`, that is counted as a miss.
    func outlook(on name: String, at now: Int64, counting: Bool = false) -> FileStoreState.Outlook? {
        func look(_ state: inout FileStoreState) -> FileStoreState.Outlook {
            let outlook = state.outlook(on: name, at: now)
            if counting, outlook.knowledge == .missing {
                state.counts.misses += 1
                state.counts.missesWithoutDisk += 1
            }
            return outlook
        }
        var outlook = state.withLock { look(&$0) }
        if outlook.knowledge == .missingIfChecked {
            checkPlaces()
            outlook = state.withLock { look(&$0) }
        }
        return outlook.knowledge == .missing ? nil : outlook
    }

    /// The names of all entries, for who wants to know what may be there; `nil` if that is not known, or not used.
    package var knownNames: Set<String>? {
        state.withLock { state in
            guard state.assumedNames == nil else { return state.assumedNames }
            return state.usesShortcut && state.isAccountTrue ? Set(state.account.table.names) : nil
        }
    }

    /// From now on takes exactly these names for known, and those that are written; the rest is missing without a look.
    ///
    /// - Parameter names: The names; `nil` means that every look-up goes to the disk.
    package func assumeKnownNames(_ names: Set<String>?) {
        state.withLock { state in
            state.assumedNames = names
            state.usesShortcut = false
        }
    }

    /// Makes sure that directory and ledger are at their paths, and that nobody changed the directory behind our back.
    func checkPlaces() {
        let now = ticks()
        let (directory, ledger, quietSince) = state.withLock { state in
            state.checkedAt = now
            state.report(at: now)
            return (state.directory, state.ledger, state.account.isQuiet ? state.account.announced : nil)
        }
        guard let directory else { return }
        guard let stamp = directory.stampAtItsPath else { return forgetDirectory(directory) }
        let isLedgerAway = ledger.map { !$0.isAtItsPath } ?? false
        buryTheDead()
        let remains = state.withLock { state -> Temporaries? in
            if let quietSince { state.account.compare(stamp, quietSince: quietSince) }
            guard isLedgerAway, state.ledger === ledger else { return nil }
            state.use(nil)
            return exchange(&state.temporaries, with: nil)
        }
        // Not under the lock: they take system calls to go.
        _ = (remains, ledger)
    }

    /// Lets nobody wait for those who died while they changed something.
    func buryTheDead() {
        let ledger = state.withLock { $0.link.news.isUnfinished ? $0.ledger : nil }
        ledger?.buryTheDead()
    }

    // MARK: Counts

    /// What has happened in this store, at one instant.
    package var counts: FileCounts { state.withLock { $0.counts } }

    /// What has happened in the directory in all processes, since its ledger was made.
    ///
    /// - Returns: The counts; `nil` if there is no ledger.
    package func lifetimeCounts() -> LifetimeCounts? {
        let known = state.withLock { state in
            state.report()
            return state.ledger
        }
        if let known { return LifetimeCounts(known) }
        let directory = try? directory(making: false)
        return directory.flatMap { existingLedger(of: $0).ledger }.map(LifetimeCounts.init)
    }

    /// Adds to the lifetime's counts what has happened here, and in the layers above this store, since the last time.
    ///
    /// Makes no system call. `latest` is asked for what happened above only if there is a ledger to enter it in; the store
    /// does not know what its numbers mean, at most ``LifetimeCounts/longestAbove`` of them.
    package func recordAbove(_ latest: () -> [Int]) {
        let ledger = state.withLock { state in
            state.report()
            return state.ledger
        }
        guard let ledger else { return }
        for (index, number) in latest().prefix(LifetimeCounts.longestAbove).enumerated() where number != 0 {
            ledger.add(number, to: LifetimeCounts.firstPlaceAbove + index)
        }
    }
}
