// The purges that a cache knows of, kept beside its entries and shared through its tier. For CacheCore.

import Foundation
import KFStorage
import KFSupport

/// Which entries of a cache were purged.
///
/// A purge is a number, the generation of the last one of each source, tag and prefix. An entry keeps at which
/// generation its load began, and is not valid once a purge that concerns it is later. Nothing is looked for or
/// deleted, so a purge takes the same time however many entries it is about. Memory keeps no numbers: it forgets what
/// may be concerned.
///
/// Machines that share a tier share the purges, as two values in it: the table of all purges, and the last 64. A purge
/// changes both under a lease; each machine polls the second value twice a second.
final class PurgeLog: Sendable {
    private struct State: Sendable {
        var table = PurgeTable()
        var isLoaded = false
        var following: Task<Void, Never>?
    }
    private let state = Locked(State())
    /// Where the purges are kept; a name that no entry has.
    private let file: URL
    private let memory: MemoryStorage.Backend<KFCrossPlatformImage>
    /// Held while the file is written, so that what is newer is written last.
    private let writing = Locked(())

    /// The names of the values in a tier: all purges, and the last ones.
    private static let (table, recent) = ("kf1-purge-table", "kf1-purges")
    private static let interval = Duration.milliseconds(500)

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
        let lease = try await lease(tier)
        defer { lease?.release() }
        guard var recent = await newest(tier, holdsLease: true) else { throw SharedTierError(tier: tier.tier.name) }
        recent.add(scope, mode)
        var table = state.withLock { $0.table }
        for record in recent.records { table.add(record) }
        guard await put(table.encoded(), Self.table, tier), await put(recent.encoded(), Self.recent, tier) else {
            throw SharedTierError(tier: tier.tier.name)
        }
        await apply(recent.records)
    }

    /// The right to change the values in the tier, which others have for moments.
    private func lease(_ tier: TierAccess) async throws(SharedTierError) -> TierLease? {
        let key = TierKey(name: Self.recent)
        for _ in 0..<200 {
            switch await tier.lease(key, anyway: true) {
            case .taken(let lease): return lease
            case .held: guard await tier.pause() else { throw SharedTierError(tier: tier.tier.name) }
            case .unknown:
                guard tier.tier.leases == nil else { throw SharedTierError(tier: tier.tier.name) }
                return nil
            }
        }
        throw SharedTierError(tier: tier.tier.name)
    }

    /// Uses purges that are known now, and forgets what memory has of what was purged.
    private func apply(_ records: [PurgeRecord]) async {
        let new = state.withLock { state in
            let new = records.filter { $0.generation > state.table.generation }
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
                    _ = await log.newest(tier)
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
    ///
    /// The lease for changing them may be held already.
    private func newest(_ tier: TierAccess, holdsLease: Bool = false) async -> PurgeRecords? {
        let known = generation  // before asking: this machine may purge meanwhile
        guard let found = await get(Self.recent, tier) else { return nil }
        guard let recent = found.flatMap({ PurgeRecords(encoded: $0) }), recent.generation >= known else {
            guard known > 0 else { return PurgeRecords() }
            return await restored(tier, holdsLease: holdsLease)
        }
        if recent.base > known {
            // More than the last ones are new.
            guard let found = await get(Self.table, tier) else { return nil }
            await merge(found.flatMap { PurgeTable(encoded: $0) }, upTo: recent.base)
        }
        await apply(recent.records)
        return recent
    }

    /// Puts the purges that this machine knows into a store that has lost them; nil if it cannot be asked, or another
    /// machine changes them.
    private func restored(_ tier: TierAccess, holdsLease: Bool) async -> PurgeRecords? {
        var lease: TierLease?
        if !holdsLease, tier.tier.leases != nil {
            guard case .taken(let taken) = await tier.lease(TierKey(name: Self.recent), anyway: true) else {
                return nil
            }
            lease = taken
        }
        defer { lease?.release() }
        guard let table = await get(Self.table, tier), let recent = await get(Self.recent, tier) else { return nil }
        let known = generation
        if let table = table.flatMap({ PurgeTable(encoded: $0) }) { state.withLock { $0.table.merge(table) } }
        if let records = recent.flatMap({ PurgeRecords(encoded: $0) })?.records {
            state.withLock { state in for record in records { state.table.add(record) } }
        }
        let all = state.withLock { $0.table }
        if all.generation > known {
            // The table does not say what is new in it.
            memory.store.removeAll()
            await save()
        }
        let last = PurgeRecords(after: all.generation)
        guard await put(all.encoded(), Self.table, tier), await put(last.encoded(), Self.recent, tier) else {
            return nil
        }
        return last
    }

    /// Adds all purges up to a generation; if they cannot be read, everything older counts as invalidated.
    private func merge(_ table: PurgeTable?, upTo generation: UInt64) async {
        let everything = PurgeRecord(scope: .all, mode: .invalidate, generation: generation)
        state.withLock { state in
            if let table, table.generation >= generation {
                state.table.merge(table)
            } else {
                state.table.add(everything)
            }
        }
        forget([everything])
        await save()
    }

    private func get(_ key: String, _ tier: TierAccess) async -> Data?? {
        await tier.callAnyway(within: tier.limits.call) { [tier = tier.tier] in try await tier.get(key) }
    }

    private func put(_ value: Data, _ key: String, _ tier: TierAccess) async -> Bool {
        let stored: Void? = await tier.callAnyway(within: tier.limits.write) { [tier = tier.tier] in
            try await tier.put(value, forKey: key, expiry: nil)
        }
        return stored != nil
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
