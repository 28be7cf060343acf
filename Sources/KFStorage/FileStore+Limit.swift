// Removing entries to make room, or because their time is over. Knows nothing of when that is asked for.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    typealias Victim = (name: String, record: EntryRecord)

    // MARK: Asked for

    /// Removes the entries that have expired by `date` (now, if not given), and answers their names.
    ///
    /// One that cannot be removed does not keep the others.
    @discardableResult
    package func removeExpired(at date: Date? = nil) throws(StorageError) -> [String] {
        let date = date ?? clock()
        let victims = try turn.withLock { _ throws(StorageError) in
            if try makeAccountTrueInTurn() { return expiredOfAccount(at: date) }
            var table = try walk()
            return expired(in: &table, at: date)
        }
        // A few at a time: who makes room after a write waits for the turn.
        return stride(from: 0, to: victims.count, by: Self.batch).flatMap { start in
            turn.withLock { _ in remove(victims[start...].prefix(Self.batch), at: date).names }
        }
    }

    /// When the entries take more than `limit` bytes, removes those that have expired and then the least recently used
    /// until they take `target` or less, and answers the names of those removed.
    ///
    /// Nobody else here makes room meanwhile: what another has removed and not yet entered would still be counted, and
    /// entries that may stay would go for it.
    @discardableResult
    package func trim(above limit: Int, to target: Int) throws(StorageError) -> [String] {
        try turn.withLock { _ throws(StorageError) in
            if try makeAccountTrueInTurn() { return trimAccount(above: limit, to: target) }
            var table = try walk()
            guard table.totalSize > limit else { return [] }
            let now = clock()
            let expired = remove(expired(in: &table, at: now), at: now)
            // What another process has removed meanwhile takes no room either.
            for name in expired.names + expired.missing { table.remove(name) }
            return expired.names + remove(table.leastRecent(downTo: target, limit: .max)).names
        }
    }

    // MARK: While running

    /// Sets the bytes that all entries together may take; 0 means no limit.
    ///
    /// From the end of the first scan on, a write that takes the total over it removes what has expired and then the
    /// least recently used until the limit holds again: a large limit with a little to spare, so that not every write has
    /// to. It waits for a scan or cleaning that is under way. Other writes go on meanwhile; not when there is an eighth more than allowed: then they wait, so that each thread,
    /// in whatever process, adds one entry to that at most; unless whoever makes room has been stopped over it. When all
    /// writes have ended the limit holds; unless a process was killed over it: the next write sees to that. If an eighth of
    /// the limit is written before a scan that was announced has begun, the writer makes it.
    /// An entry that alone is larger is not written at all. What is there already is only removed by the next write.
    package func configure(sizeLimit: Int) {
        state.withLock { $0.sizeLimit = max(0, sizeLimit) }
    }

    /// The bytes that all entries together may take; 0 means no limit.
    package var sizeLimit: Int { state.withLock { $0.sizeLimit } }

    /// Whether an entry of so many bytes may be written: one that would have to be removed at once may not.
    func hasRoom(for size: Int) -> Bool {
        state.withLock { state in
            guard state.sizeLimit > 0, size > state.sizeLimit else { return true }
            state.counts.trimmed += 1
            return false
        }
    }

    /// Makes room if there are more bytes than allowed, unless another thread or process is at it.
    ///
    /// Whoever leaves it to another has told of his bytes before, and the other asks for them after he has let others at
    /// it again: so when the last write has ended, the limit holds.
    func keepLimit() {
        let now = ticks()
        if state.withLock({ $0.beginTrimming(at: now) }) { return makeRoom() }
        guard state.withLock({ $0.isFarOverLimit }) else { return }
        let isKnown = turn.withLock { _ in
            // Who had the turn has made room, or has seen for the first time what there is; or it is left to us.
            let now = ticks()
            let isToLook = state.withLock { state in
                state.keepsAccount = true
                // A scan that has failed is not made again with every write.
                return !state.account.isComplete && state.needsScan(at: now)
            }
            if isToLook { _ = try? scan(making: false) }
            return isScanned
        }
        if isKnown, state.withLock({ $0.beginTrimming(at: now) }) { makeRoom() }
    }

    /// Whether somebody here is making room, perhaps for others who have left it to him.
    package var isMakingRoom: Bool { state.withLock { $0.isTrimming } }

    /// Waits until that is done: a process that ends before leaves the limit exceeded until the next write.
    package func waitForRoom() {
        while isMakingRoom { turn.withLock { _ in } }
    }

    private func makeRoom() {
        turn.withLock { _ in
            var mayGoOn = true
            while mayGoOn {
                let before = state.withLock { $0.writes }
                let isLeft = trimAlone()
                let now = ticks()
                // Whoever asked meanwhile has left the rest to us; who has no limit never ends and never asks.
                mayGoOn = state.withLock { state in
                    state.isTrimming = false
                    let writes = state.writes
                    let isNews = isLeft ? writes.own != before.own : writes != before
                    return isNews && state.isOverLimit && state.beginTrimming(at: now)
                }
            }
        }
    }

    /// Makes room unless another process is at it; answers whether it is left to that one.
    private func trimAlone() -> Bool {
        let now = ticks()
        if state.withLock({ $0.needsScan(at: now) }) { _ = try? scan(making: false) }
        guard let (ledger, isUrgent) = state.withLock({ $0.askForRoom() }) else { return false }
        let isAlone = ledger?.exclusively(patiently: isUrgent) { trimToLimit(isUrgent: isUrgent) }
        guard let isAlone else {
            trimToLimit(isUrgent: isUrgent)
            return false
        }
        // Whoever is at it may have been stopped: the limit holds all the same, and both remove the same.
        if !isAlone, isUrgent {
            state.withLock { $0.trimsBesideAnother += 1 }
            trimToLimit(isUrgent: true)
        }
        return !isAlone && !isUrgent
    }

    /// How many scans in a row may find that the limit holds before others are taken not to tell the truth.
    private static let mostVainScans = 4

    /// Trims to the limit, after a new scan if need be and if that may be.
    private func trimToLimit(isUrgent: Bool) {
        let now = ticks()
        let (isOver, isTrue, mayLook) = state.withLock { state in
            // Others say that there is too much; if that was not so the last times, it can wait.
            let isHeard = state.ledger != nil && state.vainScans < Self.mostVainScans
            return (state.isOverLimit, state.isAccountTrue, isUrgent || isHeard || state.needsScan(at: now))
        }
        // Who was at it before may have made room already.
        guard isOver else { return }
        if isTrue { return _ = trimToLimit() }
        // By an account that is known to be untrue, more would go than has to. What others change while one looks matters
        // little; if it did, the limit would not hold as long as they are busy.
        guard mayLook, (try? scan(making: false)) == true else { return }
        let removed = trimToLimit()
        state.withLock { $0.vainScans = removed.isEmpty ? $0.vainScans + 1 : 0 }
    }

    private func trimToLimit() -> [String] {
        let limit = state.withLock { $0.sizeLimit }
        guard limit > 0 else { return [] }
        // What alone is larger cannot stay, so nothing else has to go for it.
        var removed: [String] = []
        while let victim = state.withLock({ $0.account.table.newestEntry(largerThan: limit) }) {
            let gone = remove([victim]).names
            guard !gone.isEmpty else { break }
            removed += gone
        }
        // What has just been written stays, however large it is.
        let newest = state.withLock { $0.account.table.newestSize }
        let target = newest <= limit ? max(Self.target(limit), newest) : Self.target(limit)
        return removed + trimAccount(above: limit, to: target)
    }

    /// How far to trim to a limit: to the limit, or a twentieth below if it is a large one, but never by more than 16 MiB.
    static func target(_ limit: Int) -> Int { limit < 1 << 20 ? limit : limit - min(limit / 20, 16 << 20) }

    // MARK: Removing

    /// How many entries are chosen at a time: few, because nothing can be looked up meanwhile.
    private static let batch = 256

    private func trimAccount(above limit: Int, to target: Int) -> [String] {
        guard state.withLock({ $0.account.table.totalSize > limit }) else { return [] }
        let now = clock()
        var removed = remove(expiredOfAccount(at: now), at: now).names
        let count = state.withLock { $0.account.table.count }
        var looks = 0
        while looks < count {
            let victims = state.withLock { $0.account.table.leastRecent(downTo: target, limit: Self.batch) }
            let gone = remove(victims)
            removed += gone.names
            looks += victims.count
            // What turns out to be in use, or somebody else's to remove, lets others come up.
            if victims.isEmpty || (gone.failures > 0 && !mayRemove) { break }
        }
        return removed
    }

    /// Whether anything can be removed at all.
    private var mayRemove: Bool { state.withLock { $0.directory }?.isWritable ?? false }

    /// What has expired by the account; nobody else may make a new one meanwhile.
    private func expiredOfAccount(at date: Date) -> [Victim] {
        let instant = date.entryTime.nanoseconds
        var (all, place): ([Victim], Int) = ([], .max)
        while true {
            let some = state.withLock { $0.account.expired(at: instant, limit: Self.batch, place: &place) }
            guard !some.isEmpty else { return all }
            all += some
        }
    }

    private func expired(in table: inout EntryTable, at date: Date) -> [Victim] {
        var place = Int.max
        return table.expired(at: date.entryTime.nanoseconds, limit: .max, place: &place)
    }

    /// What became of entries that were to be removed.
    private struct Removed {
        /// Of those that were.
        var names: [String] = []
        /// Of those that others had removed.
        var missing: [String] = []
        /// How many could not be.
        var failures = 0
    }

    /// Removes entries, each only if it still is what is known of it.
    ///
    /// With a `date` they must have expired at that instant; without, they are removed to make room.
    private func remove(_ victims: some Collection<Victim>, at date: Date? = nil) -> Removed {
        var removed = Removed()
        for victim in victims {
            let outcome = try? changing(victim.name) { () throws(StorageError) in
                try removeFile(victim.name, because: date == nil ? .trimmed : .expired) { status in
                    guard status.isRegularFile else { return .seen(nil) }
                    // Another thread or process may have stored or read the entry in the meantime: then it stays.
                    let stays =
                        date.map { !status.expiry.isPast(referenceDate: $0) } ?? victim.record.wasUsedSince(status)
                    return stays ? .seen(EntryRecord(status)) : nil
                }
            }
            switch outcome {
            case .removed: removed.names.append(victim.name)
            case .seen(nil): removed.missing.append(victim.name)
            case nil: removed.failures += 1
            default: break
            }
        }
        return removed
    }
}

extension EntryRecord {
    /// Whether the file was stored or read by somebody else since this was known of it.
    ///
    /// Some file systems keep times of whole seconds, or of two.
    fileprivate func wasUsedSince(_ status: stat) -> Bool {
        let access = status.st_atim.nanoseconds
        return access > lastAccess || access < lastAccess - 2_000_000_000
    }
}
