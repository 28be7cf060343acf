// The last purges, which machines that share a tier look for twice a second, and those before them. For PurgeLog.

import Foundation
import KFSupport

/// One purge.
struct PurgeRecord: Sendable, Equatable {
    let scope: PurgeScope
    let mode: PurgeMode
    let generation: UInt64

    /// No generation is later: what says so is damaged.
    static let last: UInt64 = 1 << 62
    private static let longestText = 2_000

    init(scope: PurgeScope, mode: PurgeMode, generation: UInt64) {
        switch scope {
        // Of long ones only the beginning counts: more is purged then.
        case .source(let text) where text.utf8.count > Self.longestText: self.scope = .prefix(Self.bounded(text))
        case .prefix(let text): self.scope = .prefix(Self.bounded(text))
        case .tag(let text): self.scope = .tag(Self.bounded(text))
        case .source, .all: self.scope = scope
        }
        (self.mode, self.generation) = (mode, generation)
    }

    /// The beginning of a text that is too long.
    static func bounded(_ text: String) -> String {
        text.utf8.count <= longestText ? text : String(decoding: text.utf8.prefix(longestText - 4), as: UTF8.self)
    }

    /// The generation of a purge now.
    ///
    /// In microseconds several purges in a row stay behind the clock: of a table that is begun anew, after the file of
    /// this one was lost, the first purge is later than all of these.
    static func next(after generation: UInt64) -> UInt64 {
        max(generation + 1, UInt64(max(0, Date().timeIntervalSince1970 * 1_000_000)))
    }
}

/// The last purges, in order, behind earlier ones that lie in parts of their own.
///
/// A part is what was cut off these when they were many: the four purges before. Parts have numbers, and lie in a ring,
/// so that a store has a bounded number of them.
struct PurgeRecords: Sendable, Equatable {
    /// The generation of the last purge that is not among them.
    ///
    /// A machine that knows the purges up to it knows all with these.
    private(set) var base: UInt64 = 0
    /// The same for all that were added to one another; a store that has lost its purges gets others.
    private var series = UInt64.random(in: 0 ... .max)
    /// How many parts have been cut off; of a part, how many were before it.
    private(set) var cuts: UInt64 = 0
    private(set) var records: [PurgeRecord] = []

    /// The last generation.
    var generation: UInt64 { records.last?.generation ?? base }

    private static let most = 4
    /// How many parts there are at one time.
    private static let ring: UInt64 = 4_096
    /// After how many parts the table of all purges is written: long before the ring has gone round.
    private static let cutsForTable: UInt64 = 1_024

    init() {}

    /// No purges, after others that are not known.
    init(after base: UInt64) { self.base = base }

    /// Adds a purge as the last one, later than another generation, too.
    ///
    /// - Returns: The part that was cut off for it, if there were many; it has to be kept before these are.
    mutating func add(_ scope: PurgeScope, _ mode: PurgeMode, after known: UInt64 = 0) -> PurgeRecords? {
        let generation = PurgeRecord.next(after: max(generation, known))
        var part: PurgeRecords?
        if records.count >= Self.most {
            part = self
            (base, records, cuts) = (self.generation, [], cuts + 1)
        }
        records.append(PurgeRecord(scope: scope, mode: mode, generation: generation))
        return part
    }

    /// The name of a part in a store.
    var partName: String { "kf1-purges-\(cuts % Self.ring)" }

    /// Whether the table is written now, which others need that have missed very many purges.
    var isTimeForTable: Bool { cuts > 0 && cuts.isMultiple(of: Self.cutsForTable) && records.count == 1 }

    /// The name of the last part before these; nil if there is none, or none is left.
    func nameBefore(within limit: UInt64) -> String? {
        guard cuts > 0, limit < Self.ring else { return nil }
        return "kf1-purges-\((cuts - 1) % Self.ring)"
    }

    /// Puts an older part in front; returns false if that part does not end where these records begin.
    mutating func prepend(_ part: PurgeRecords) -> Bool {
        guard part.series == series, part.cuts + 1 == cuts, part.generation == base else { return false }
        (base, cuts, records) = (part.base, part.cuts, part.records + records)
        return true
    }

    /// Whether these records continue `others`: they are the same records with more purges added, and no purge between
    /// is missing.
    func continues(_ others: PurgeRecords) -> Bool {
        series == others.series && (base == others.base || others.records.contains { $0.generation == base })
    }

    /// Whether each purge of a table that is not among those before these is among these.
    func covers(_ table: PurgeTable) -> Bool {
        var own = PurgeTable()
        for record in records { own.add(record) }
        return own.covers(table, since: base)
    }

    // MARK: Bytes

    private static let version: UInt8 = 3

    /// In the envelope: base, series, cuts (8 bytes each), then the records.
    func encoded() -> Data {
        var content = Data()
        for number in [base, series, cuts] { content.append(number: number) }
        for record in records { record.append(to: &content) }
        return content.sealed(version: Self.version)
    }

    /// Reads what ``encoded()`` returned; nil for anything else.
    init?(encoded: Data) {
        guard var rest = encoded.unsealed(version: Self.version),
            let base = rest.popNumber(), base <= PurgeRecord.last, let series = rest.popNumber(),
            let cuts = rest.popNumber()
        else { return nil }
        (self.base, self.series, self.cuts) = (base, series, cuts)
        while !rest.isEmpty {
            guard let record = PurgeRecord(from: &rest), record.generation > generation else { return nil }
            records.append(record)
        }
    }
}

extension PurgeRecord {
    /// Appends mode (1 byte), kind (1), generation (8), and the text behind its length (8).
    func append(to data: inout Data) {
        let (kind, text): (UInt8, String) =
            switch scope {
            case .source(let key): (1, key)
            case .tag(let tag): (2, tag)
            case .prefix(let prefix): (3, prefix)
            case .all: (4, "")
            }
        data += [mode == .invalidate ? 1 : 2, kind]
        data.append(number: generation)
        data.append(field: Data(text.utf8))
    }

    /// Takes what ``append(to:)`` wrote from the front; nil for anything else.
    init?(from data: inout Data) {
        guard let mode = data.popFirst(), let kind = data.popFirst(), let generation = data.popNumber(),
            generation <= Self.last, let field = data.popField()
        else { return nil }
        let text = String(decoding: field, as: UTF8.self)
        let scope: PurgeScope
        switch kind {
        case 1: scope = .source(key: text)
        case 2: scope = .tag(text)
        case 3: scope = .prefix(text)
        case 4: scope = .all
        default: return nil
        }
        self.init(scope: scope, mode: mode == 1 ? .invalidate : .delete, generation: generation)
    }
}

extension PurgeRecords {
    /// The same with earlier purges, back to a generation; nil if not all of them are there, or the tier cannot be
    /// asked.
    func extended(backTo known: UInt64, in tier: TierAccess, atMost limit: UInt64 = .max) async -> PurgeRecords? {
        var all = self
        var count: UInt64 = 0
        while all.base > known {
            guard count < limit, let name = all.nameBefore(within: count),
                let found = await tier.purges(name), let part = found.flatMap({ PurgeRecords(encoded: $0) }),
                all.prepend(part)
            else { return nil }
            count += 1
        }
        return all
    }
}

extension TierAccess {
    /// A value that lists purges; nil if the tier cannot be asked.
    func purges(_ name: String) async -> Data?? {
        await callAnyway(within: limit(of: name)) { [tier] in try await tier.get(name) }
    }
}
