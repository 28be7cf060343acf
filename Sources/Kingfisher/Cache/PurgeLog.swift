// The purges that a cache knows of, kept beside its entries and shared through its tier. For CacheCore.

import Foundation
import KFStorage
import KFSupport

/// Which entries of a cache were purged.
///
/// A purge is a number, the generation of the last one of each source, tag and prefix. An entry keeps at which
/// generation its load began, and is not valid once a purge that concerns it is later. Nothing is looked for or
/// deleted, so a purge takes the same time however many entries it is about. Memory forgets what may be concerned; an
/// image that comes back from the disk keeps its number there, for loads with other tags.
///
/// Machines that share a tier share the purges, as values in it: the last ones, the parts before these, and the table
/// of all. A purge replaces the first value if no other machine has replaced it since it was read; each machine polls
/// that value twice a second. Parts are for machines that have missed some purges, and the table, which is written
/// seldom, for those that have missed thousands, or are new. Where neither reaches back to what a machine knows,
/// everything that it has counts as purged.
final class PurgeLog: Sendable {
    /// The last purges, and the value in the tier that says so.
    private struct Last: Sendable {
        let records: PurgeRecords
        let bytes: Data?
    }

    private struct State: Sendable {
        var table = PurgeTable()
        var isLoaded = false
        var watching: Task<Void, Never>?
        /// Whether this machine has yet to put the table into the tier.
        var owesTable = false
        /// The last purges in the tier, when this machine knew them, and the tier all that it knew.
        var seen: Last?
    }
    private let state = Locked(State())
    private let file: PurgeFile
    private let memory: MemoryStorage.Backend<KFCrossPlatformImage>
    /// The order in which this machine purges and polls, one after the other: a poll comes after the purge that it
    /// finds in the tier is known here.
    private let queue = KeyedSerialQueue()
    /// Held while the file is written, so that the newest purges are written last.
    private let writing = Locked(())

    /// The names of the values in a tier: all purges, and the last ones.
    private static let (table, recent) = ("kf1-purge-table", "kf1-purges")
    private static let interval = Duration.milliseconds(500)
    /// How often a purge begins anew because another machine has purged meanwhile.
    private static let attempts = 200
    /// A machine that has missed more parts than this number reads the table first.
    private static let partsBeforeTable: UInt64 = 200

    init(directory: URL, memory: MemoryStorage.Backend<KFCrossPlatformImage>) {
        file = PurgeFile(directory: directory)
        self.memory = memory
    }

    /// The generation of images that are loaded from now on; 0 before anything was purged.
    var generation: UInt64 { state.withLock { $0.table.generation } }

    /// What became of an entry.
    ///
    /// - Parameters:
    ///   - source: The cache key of its source.
    ///   - tags: Those of the load that looks for it.
    ///   - generation: The generation of the load that stored the entry.
    /// - Returns: Whether it is still valid.
    func state(of source: String, tags: Set<String>, loadedAt generation: UInt64) -> PurgeState {
        state.withLock { $0.table.state(of: source, tags: tags, loadedAt: generation) }
    }

    // MARK: File

    /// Reads the purges of earlier processes, the first time; on a thread that may be blocked.
    func loadIfNeeded() {
        guard !state.withLock({ $0.isLoaded }) else { return }
        let table = file.read()
        state.withLock { state in
            if let table, !state.isLoaded { state.table.merge(table) }
            state.isLoaded = true
        }
    }

    /// Keeps the purges for later processes, beside those that another process has added.
    private func save() async {
        await WorkExecutor.io.run { [self] in
            writing.withLock { _ in file.merge(state.withLock { $0.table }) }
        }
    }

    /// Keeps purges that were added.
    private func save(_ records: [PurgeRecord]) async {
        await WorkExecutor.io.run { [self] in
            writing.withLock { _ in file.append(records) { state.withLock { $0.table } } }
        }
    }

    // MARK: Purging

    /// Purges here and on all machines that share the tier.
    ///
    /// - Throws: ``SharedTierError`` if the tier cannot be asked.
    func purge(_ scope: PurgeScope, _ mode: PurgeMode, _ tier: TierAccess?) async throws(SharedTierError) {
        await WorkExecutor.io.run { [self] in loadIfNeeded() }
        guard let tier else {
            let record = state.withLock { $0.table.add(scope, mode) }
            forget([record])
            return await save([record])
        }
        let end = await queue.ticket(forKey: "").run { [self] in
            await Result { () async throws(SharedTierError) in try await share(scope, mode, tier) }
        }
        try end.get()
    }

    private func share(_ scope: PurgeScope, _ mode: PurgeMode, _ tier: TierAccess) async throws(SharedTierError) {
        // The file that was there last is most probably still there.
        var guess = state.withLock { state in
            state.seen.flatMap { $0.records.generation < state.table.generation ? nil : $0 }
        }
        for _ in 0..<Self.attempts {
            var last = guess
            guess = nil
            if last == nil { last = await newest(tier) }
            guard let last else { break }
            var records = last.records
            if let part = records.add(scope, mode, after: generation) {
                guard await put(part.encoded(), part.partName, tier) else { break }
            }
            let bytes = records.encoded()
            switch await replace(last.bytes, by: bytes, Self.recent, tier) {
            case nil: throw SharedTierError(tier: tier.tier.name)
            case false?: guard await tier.pause() else { throw SharedTierError(tier: tier.tier.name) }
            case true?:
                await apply(records.records)
                state.withLock { $0.seen = Last(records: records, bytes: bytes) }
                return await keepTable(isTime: records.isTimeForTable, tier)
            }
        }
        throw SharedTierError(tier: tier.tier.name)
    }

    /// Writes the table of all purges to the tier, if it is time for that or was when it failed.
    ///
    /// A part that was written earlier may come later: then the parts reach further back.
    private func keepTable(isTime: Bool, _ tier: TierAccess) async {
        let table = state.withLock { state -> PurgeTable? in
            state.owesTable = state.owesTable || isTime
            return state.owesTable ? state.table : nil
        }
        guard let table, await put(table.forOthers.encoded(), Self.table, tier) else { return }
        state.withLock { $0.owesTable = false }
    }

    /// Uses purges that are known now, and forgets what memory has of what was purged.
    private func apply(_ records: [PurgeRecord]) async {
        let new = state.withLock { state in
            // Not by generation: another purge of this machine may have been faster.
            let new = records.filter { !state.table.contains($0) }
            for record in new { state.table.add(record) }
            return new
        }
        guard !new.isEmpty else { return }
        forget(new)
        await save(new)
    }

    private func forget(_ records: [PurgeRecord]) {
        for record in records {
            switch record.scope {
            case .source(let text), .prefix(let text): memory.store.removeAll(withPrefix: text)
            case .tag, .all: memory.store.removeAll()
            }
        }
    }

    // MARK: Watching the tier

    /// Looks for the purges of other machines from now on; nil ends that.
    func watch(_ tier: TierAccess?) {
        let task = tier.map { tier in
            Task { [weak self, weak tier] in
                while let tier, let log = self {
                    _ = await log.queue.ticket(forKey: "").run { await log.newest(tier) }
                    guard await tier.clock.sleep(Self.interval * Double.random(in: 0.8...1.2)) else { return }
                }
            }
        }
        let former = state.withLock { state in
            defer { state.watching = task }
            return state.watching
        }
        former?.cancel()
    }

    /// Takes over the purges of other machines, and returns the last ones; nil if the tier cannot be asked.
    private func newest(_ tier: TierAccess) async -> Last? {
        let known = generation  // before asking: this machine may purge meanwhile
        guard let found = await tier.purges(Self.recent) else { return nil }
        let seen = state.withLock { $0.seen }
        guard let recent = found.flatMap({ PurgeRecords(encoded: $0) }), recent.generation >= known else {
            guard known > 0 else { return Last(records: PurgeRecords(), bytes: found) }
            return await restored(tier)
        }
        if seen?.bytes != found {
            let isComplete: Bool
            if let seen, let new = await recent.extended(backTo: known, in: tier, atMost: Self.partsBeforeTable),
                new.continues(seen.records)
            {
                isComplete = state.withLock { new.covers($0.table) }
                await apply(new.records)
            } else {
                // Very many are new, or another machine has restored what it knew.
                guard let found = await tier.purges(Self.table) else { return nil }
                let table = found.flatMap { PurgeTable(encoded: $0) } ?? PurgeTable()
                let new = await recent.extended(backTo: max(known, table.generation), in: tier) ?? recent
                isComplete = await merge(table, with: new, known: known)
                await apply(new.records)
            }
            if !isComplete { return await restored(tier) }
        }
        let last = Last(records: recent, bytes: found)
        state.withLock { $0.seen = last }
        return last
    }

    /// Puts the purges that this machine knows into a store that has lost some; nil if it cannot be asked, or another
    /// machine changes them.
    private func restored(_ tier: TierAccess) async -> Last? {
        guard let table = await tier.purges(Self.table), let recent = await tier.purges(Self.recent) else { return nil }
        let known = generation
        if let table = table.flatMap({ PurgeTable(encoded: $0) }) { state.withLock { $0.table.merge(table) } }
        if let records = recent.flatMap({ PurgeRecords(encoded: $0) })?.records {
            state.withLock { state in for record in records { state.table.add(record) } }
        }
        let isMore = generation > known
        let all = state.withLock { state in
            // Others may have put as much as they know, under the same number.
            state.table.advance()
            return state.table
        }
        // The table does not say what is new in it.
        if isMore { memory.store.removeAll() }
        await save()
        let last = PurgeRecords(after: all.generation)
        // Not over what another machine has put there meanwhile.
        guard await replace(table, by: all.forOthers.encoded(), Self.table, tier) == true,
            await replace(recent, by: last.encoded(), Self.recent, tier) == true
        else { return nil }
        return Last(records: last, bytes: last.encoded())
    }

    /// Adds all purges before the last ones, and returns whether the tier has all that this machine knew.
    ///
    /// Where neither table nor parts have them, everything that was loaded earlier counts as deleted here.
    private func merge(_ table: PurgeTable, with recent: PurgeRecords, known: UInt64) async -> Bool {
        let isComplete = state.withLock { state in
            guard table.generation >= recent.base else {
                // A machine that knew the purges up to there, as after a restart, has missed none.
                if known < recent.base { state.table.missed = recent.base }
                return known < recent.base || recent.covers(state.table)
            }
            var table = table
            for record in recent.records { table.add(record) }
            let isComplete = table.covers(state.table)
            state.table.merge(table)
            return isComplete
        }
        memory.store.removeAll()
        await save()
        return isComplete
    }

    /// Puts a value into the tier, if the one there is still the expected one; nil if that is not known.
    private func replace(_ expected: Data?, by value: Data, _ key: String, _ tier: TierAccess) async -> Bool? {
        await tier.callAnyway(within: tier.limits.write) { [tier = tier.tier] in
            try await tier.put(value, forKey: key, replacing: expected)
        }
    }

    /// Puts a value into the tier; returns whether it is known to be there.
    private func put(_ value: Data, _ key: String, _ tier: TierAccess) async -> Bool {
        let end: Void? = await tier.callAnyway(within: tier.limits.write) { [tier = tier.tier] in
            try await tier.put(value, forKey: key, expiry: nil)
        }
        return end != nil
    }
}

/// Why a purge failed: the tier could not be asked. (Not in Kingfisher.)
public struct SharedTierError: Error, Sendable, CustomStringConvertible {
    /// The name of the tier.
    public let tier: String

    /// A sentence.
    public var description: String {
        "The purge is not known to all machines: \(tier) does not answer, or another machine purges. Try again."
    }
}
