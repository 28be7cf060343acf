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
/// Machines that share a tier share the purges, as two values in it: the last 64, and the table of all. A purge replaces
/// the first value if no other machine has replaced it since it was read; each machine polls that value twice a second.
/// The table is for machines that have missed more than 64 purges. It has the number of the last purge in it; where that
/// is too old for a machine, everything that the machine has counts as purged.
final class PurgeLog: Sendable {
    /// The last purges, and the value in the tier that says so.
    private struct Last: Sendable {
        let records: PurgeRecords
        let bytes: Data?
    }

    private struct State: Sendable {
        var table = PurgeTable()
        var isLoaded = false
        var following: Task<Void, Never>?
        /// How many purges of this machine are left until it puts the table into the tier.
        var sincePuttingTable = 0
        /// The last purges in the tier, when this machine knew them, and the tier all that it knew.
        var seen: Last?
    }
    private let state = Locked(State())
    /// Where the purges are kept; a name that no entry has.
    private let file: URL
    private let memory: MemoryStorage.Backend<KFCrossPlatformImage>
    /// The order in which this machine purges and polls, one after the other: a poll comes after the purge that it finds
    /// in the tier is known here.
    private let turns = KeyedSerialQueue()
    /// Held while the file is written, so that what is newer is written last.
    private let writing = Locked(())

    /// The names of the values in a tier: all purges, and the last ones.
    private static let (table, recent) = ("kf1-purge-table", "kf1-purges")
    private static let interval = Duration.milliseconds(500)
    /// How often a purge begins anew because another machine has purged meanwhile.
    private static let attempts = 200
    /// Far fewer than there are among the last ones: other machines purge, too.
    private static let purgesForTable = 7

    init(directory: URL, memory: MemoryStorage.Backend<KFCrossPlatformImage>) {
        file = directory.appendingPathComponent(".purges", isDirectory: false)
        self.memory = memory
    }

    /// The generation of what is loaded from now on; 0 before anything was purged.
    var generation: UInt64 { state.withLock { $0.table.generation } }

    /// What became of an entry.
    ///
    /// - Parameters:
    ///   - source: The cache key of its source.
    ///   - tags: Those of the load that looks for it.
    ///   - generation: That of the load that stored it.
    /// - Returns: Whether it is still valid.
    func state(of source: String, tags: Set<String>, loadedAt generation: UInt64) -> PurgeState {
        state.withLock { $0.table.state(of: source, tags: tags, loadedAt: generation) }
    }

    // MARK: File

    /// Reads the purges of earlier processes, the first time; on a thread that may be blocked.
    func loadIfNeeded() {
        guard !state.withLock({ $0.isLoaded }) else { return }
        let table = (try? Data(contentsOf: file)).flatMap { PurgeTable(encoded: $0) }
        state.withLock { state in
            if let table, !state.isLoaded { state.table.merge(table) }
            state.isLoaded = true
        }
    }

    /// Keeps the purges for later processes, beside those that another process has added.
    ///
    /// Without a directory there are no entries that were purged.
    private func save() async {
        await WorkExecutor.io.run { [self] in
            writing.withLock { _ in
                var table = state.withLock { $0.table }
                if let kept = (try? Data(contentsOf: file)).flatMap({ PurgeTable(encoded: $0) }) { table.merge(kept) }
                try? table.encoded().write(to: file, options: .atomic)
            }
        }
    }

    // MARK: Purging

    /// Purges here and on all machines that share the tier.
    ///
    /// - Throws: ``SharedTierError`` if the tier cannot be asked.
    func purge(_ scope: PurgeScope, _ mode: PurgeMode, _ tier: TierAccess?) async throws(SharedTierError) {
        await WorkExecutor.io.run { [self] in loadIfNeeded() }
        guard let tier else {
            forget([state.withLock { $0.table.add(scope, mode) }])
            return await save()
        }
        let end = await turns.ticket(forKey: "").run { [self] in
            await Result { () async throws(SharedTierError) in try await share(scope, mode, tier) }
        }
        try end.get()
    }

    private func share(_ scope: PurgeScope, _ mode: PurgeMode, _ tier: TierAccess) async throws(SharedTierError) {
        for _ in 0..<Self.attempts {
            guard let last = await newest(tier) else { break }
            var records = last.records
            records.add(scope, mode, after: generation)
            switch await replace(last.bytes, by: records.encoded(), Self.recent, tier) {
            case nil: throw SharedTierError(tier: tier.tier.name)
            case false?: guard await tier.pause() else { throw SharedTierError(tier: tier.tier.name) }
            case true?:
                await apply(records.records)
                return await keepTable(tier)
            }
        }
        throw SharedTierError(tier: tier.tier.name)
    }

    /// Writes the table of all purges to the tier after every eighth purge of this machine, for machines that have missed
    /// more than the last 64 purges.
    private func keepTable(_ tier: TierAccess) async {
        let table = state.withLock { state -> PurgeTable? in
            state.sincePuttingTable -= 1
            guard state.sincePuttingTable < 0 else { return nil }
            state.sincePuttingTable = Self.purgesForTable
            return state.table
        }
        guard let table, let found = await get(Self.table, tier) else { return }
        let isNewer = found.flatMap { PurgeTable(encoded: $0) }.map { $0.generation < table.generation } ?? true
        if isNewer { _ = await replace(found, by: table.forOthers.encoded(), Self.table, tier) }
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
        await save()
    }

    private func forget(_ records: [PurgeRecord]) {
        for record in records {
            switch record.scope {
            case .source(let text), .prefix(let text): memory.store.removeAll(withPrefix: text)
            case .tag, .all: memory.store.removeAll()
            }
        }
    }

    // MARK: Following

    /// Looks for the purges of other machines from now on; nil ends that.
    func follow(_ tier: TierAccess?) {
        let task = tier.map { tier in
            Task { [weak self, weak tier] in
                while let tier, let log = self {
                    _ = await log.turns.ticket(forKey: "").run { await log.newest(tier) }
                    guard await tier.clock.sleep(Self.interval * Double.random(in: 0.8...1.2)) else { return }
                }
            }
        }
        let former = state.withLock { state in
            defer { state.following = task }
            return state.following
        }
        former?.cancel()
    }

    /// Takes over the purges of other machines, and returns the last ones; nil if the tier cannot be asked.
    private func newest(_ tier: TierAccess) async -> Last? {
        let known = generation  // before asking: this machine may purge meanwhile
        guard let found = await get(Self.recent, tier) else { return nil }
        let seen = state.withLock { $0.seen }
        guard let recent = found.flatMap({ PurgeRecords(encoded: $0) }), recent.generation >= known else {
            guard known > 0 else { return Last(records: PurgeRecords(), bytes: found) }
            return await restored(tier)
        }
        if seen?.bytes != found {
            let isComplete: Bool
            if recent.base <= known, let seen, recent.follow(seen.records) {
                isComplete = state.withLock { recent.covers($0.table) }
            } else {
                // More than the last ones are new, or another machine has restored what it knew.
                guard let found = await get(Self.table, tier) else { return nil }
                isComplete = await merge(found.flatMap { PurgeTable(encoded: $0) }, with: recent, known: known)
            }
            if !isComplete { return await restored(tier) }
        }
        await apply(recent.records)
        let last = Last(records: recent, bytes: found)
        state.withLock { $0.seen = last }
        return last
    }

    /// Puts the purges that this machine knows into a store that has lost some; nil if it cannot be asked, or another
    /// machine changes them.
    private func restored(_ tier: TierAccess) async -> Last? {
        guard let table = await get(Self.table, tier), let recent = await get(Self.recent, tier) else { return nil }
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
    /// Where the table does not have them, everything that was loaded earlier counts as deleted here.
    private func merge(_ table: PurgeTable?, with recent: PurgeRecords, known: UInt64) async -> Bool {
        let isComplete = state.withLock { state in
            guard var table = table ?? (recent.base == 0 ? PurgeTable() : nil), table.generation >= recent.base else {
                // A machine that knew the purges up to there, as after a restart, has missed none.
                if known < recent.base { state.table.missed = recent.base }
                return known < recent.base || recent.covers(state.table)
            }
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

    private func get(_ key: String, _ tier: TierAccess) async -> Data?? {
        await tier.callAnyway(within: tier.limits.call) { [tier = tier.tier] in try await tier.get(key) }
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
