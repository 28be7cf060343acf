// The last purges, which machines that share a tier look for twice a second. For PurgeLog.

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
    static func next(after generation: UInt64) -> UInt64 {
        max(generation + 1, UInt64(max(0, Date().timeIntervalSince1970 * 1_000)))
    }
}

/// The last purges, in order.
struct PurgeRecords: Sendable, Equatable {
    /// The generation of the last purge that is not among them.
    ///
    /// A machine that knows the purges up to it knows all with these.
    private(set) var base: UInt64 = 0
    /// The same for all that were added to one another; a store that has lost its purges gets others.
    private var series = UInt64.random(in: 0 ... .max)
    private(set) var records: [PurgeRecord] = []

    /// The last generation.
    var generation: UInt64 { records.last?.generation ?? base }

    private static let most = 64

    init() {}

    /// No purges, after others that are not known.
    init(after base: UInt64) { self.base = base }

    /// Adds a purge as the last one, later than another generation, too.
    mutating func add(_ scope: PurgeScope, _ mode: PurgeMode, after known: UInt64 = 0) {
        let generation = PurgeRecord.next(after: max(generation, known))
        add(PurgeRecord(scope: scope, mode: mode, generation: generation))
    }

    private mutating func add(_ record: PurgeRecord) {
        records.append(record)
        if records.count > Self.most { base = records.removeFirst().generation }
    }

    /// Whether these are others with purges added, and no fewer than that: the purges before them are among the others, or
    /// before those.
    func follow(_ others: PurgeRecords) -> Bool {
        series == others.series && (base == others.base || others.records.contains { $0.generation == base })
    }

    /// Whether each purge of a table that is not among those before these is among these.
    func covers(_ table: PurgeTable) -> Bool {
        var own = PurgeTable()
        for record in records { own.add(record) }
        return own.covers(table, since: base)
    }

    // MARK: Bytes

    private static let version: UInt8 = 2

    /// In the envelope: base (8 bytes), series (8), then for each record mode (1), kind (1), generation (8) and text behind its
    /// length (8).
    func encoded() -> Data {
        var content = Data()
        content.append(number: base)
        content.append(number: series)
        for record in records {
            let (kind, text): (UInt8, String) =
                switch record.scope {
                case .source(let key): (1, key)
                case .tag(let tag): (2, tag)
                case .prefix(let prefix): (3, prefix)
                case .all: (4, "")
                }
            content += [record.mode == .invalidate ? 1 : 2, kind]
            content.append(number: record.generation)
            content.append(field: Data(text.utf8))
        }
        return content.sealed(version: Self.version)
    }

    /// Reads what ``encoded()`` returned; nil for anything else.
    init?(encoded: Data) {
        guard var rest = encoded.unsealed(version: Self.version),
            let base = rest.popNumber(), base <= PurgeRecord.last, let series = rest.popNumber()
        else { return nil }
        (self.base, self.series) = (base, series)
        while let mode = rest.popFirst() {
            guard let kind = rest.popFirst(), let number = rest.popNumber(), number <= PurgeRecord.last,
                number > generation, let field = rest.popField()
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
            add(PurgeRecord(scope: scope, mode: mode == 1 ? .invalidate : .delete, generation: number))
        }
    }
}
