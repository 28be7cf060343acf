// Which sources, tags and prefixes were purged, by generation. For PurgeLog.

import Foundation
import KFSupport

/// All purges, each with its generation: a number that grows with each.
///
/// It is the time of the purge in microseconds since 1970, or one more than the last one if that is later: so the
/// numbers grow on, also after a table was lost, and those of several caches can be compared.
///
/// An image has the generation at which it was loaded. A later purge of its source, or of one of its tags, purges it.
/// So a purge is one record, however many images it is about. Sources and tags are kept as checksums.
struct PurgeTable: Sendable, Equatable {
    /// The generations of the last purges of one scope; 0 is no purge.
    struct Marks: Sendable, Equatable {
        var invalidated: UInt64 = 0
        var deleted: UInt64 = 0

        var last: UInt64 { max(invalidated, deleted) }

        mutating func merge(_ other: Marks) {
            (invalidated, deleted) = (max(invalidated, other.invalidated), max(deleted, other.deleted))
        }
    }

    /// The generation of the last purge.
    private(set) var generation: UInt64 = 0
    private(set) var scopes: [UInt64: Marks] = [:]
    private(set) var prefixes: [String: Marks] = [:]
    /// Before this generation this machine has missed purges: images that were loaded earlier may have been purged.
    ///
    /// The tier's table has no such thing.
    var missed: UInt64 = 0

    /// Beyond these the oldest purges become one of everything.
    static let mostScopes = 20_000
    static let mostPrefixes = 200

    init() {}

    /// The generation of what was made just now is not enough: what is being made began earlier.
    func state(of source: String, tags: Set<String>, loadedAt generation: UInt64) -> PurgeState {
        guard generation < self.generation else { return .valid }
        if generation < missed { return .deleted }
        var marks = scopes[Self.digest(.all)] ?? Marks()
        if let found = scopes[Self.digest(.source(key: source))] { marks.merge(found) }
        for tag in tags { if let found = scopes[Self.digest(.tag(tag))] { marks.merge(found) } }
        for (prefix, found) in prefixes where source.utf8.starts(with: prefix.utf8) { marks.merge(found) }
        if marks.deleted > generation { return .deleted }
        return marks.invalidated > generation ? .stale : .valid
    }

    /// Adds a purge as the last one.
    @discardableResult
    mutating func add(_ scope: PurgeScope, _ mode: PurgeMode) -> PurgeRecord {
        let record = PurgeRecord(scope: scope, mode: mode, generation: PurgeRecord.next(after: generation))
        add(record)
        return record
    }

    /// Adds a purge that may be known already.
    mutating func add(_ record: PurgeRecord) {
        var marks = Marks()
        switch record.mode {
        case .invalidate: marks.invalidated = record.generation
        case .delete: marks.deleted = record.generation
        }
        if case .prefix(let prefix) = record.scope {
            prefixes[prefix, default: Marks()].merge(marks)
        } else {
            scopes[Self.digest(record.scope), default: Marks()].merge(marks)
        }
        generation = max(generation, record.generation)
        trim()
    }

    /// Adds all purges of another table.
    mutating func merge(_ other: PurgeTable) {
        scopes.merge(other.scopes) { $0.merged($1) }
        prefixes.merge(other.prefixes) { $0.merged($1) }
        (generation, missed) = (max(generation, other.generation), max(missed, other.missed))
        trim()
    }

    /// Whether a purge is among these, or a later one of its scope.
    func contains(_ record: PurgeRecord) -> Bool {
        var marks = scopes[Self.digest(.all)] ?? Marks()
        if case .prefix(let prefix) = record.scope {
            marks.merge(prefixes[prefix] ?? Marks())
        } else {
            marks.merge(scopes[Self.digest(record.scope)] ?? Marks())
        }
        return record.mode == .delete ? marks.deleted >= record.generation : marks.last >= record.generation
    }

    /// Whether each purge of another table after a generation is among these, or a later one of the same scope, or of
    /// everything.
    func covers(_ other: PurgeTable, since generation: UInt64 = 0) -> Bool {
        let all = scopes[Self.digest(.all)] ?? Marks()
        func covers(_ marks: Marks, by found: Marks?) -> Bool {
            let most = all.merged(found ?? Marks())
            let isInvalidated = marks.invalidated <= max(most.invalidated, most.deleted, generation)
            return isInvalidated && marks.deleted <= max(most.deleted, generation)
        }
        return other.scopes.allSatisfy { covers($0.value, by: scopes[$0.key]) }
            && other.prefixes.allSatisfy { covers($0.value, by: prefixes[$0.key]) }
    }

    /// Gives the table a later generation: there is more in it than others with its generation may know.
    mutating func advance() { generation = PurgeRecord.next(after: generation) }

    private mutating func trim() {
        var folded = Marks()
        if scopes.count > Self.mostScopes {
            let all = Self.digest(.all)
            for (digest, marks) in scopes.sorted(by: { $0.value.last < $1.value.last }).prefix(Self.mostScopes / 10)
            where digest != all {
                folded.merge(marks)
                scopes[digest] = nil
            }
        }
        if prefixes.count > Self.mostPrefixes {
            for (prefix, marks) in prefixes.sorted(by: { $0.value.last < $1.value.last }).prefix(Self.mostPrefixes / 10)
            {
                folded.merge(marks)
                prefixes[prefix] = nil
            }
        }
        if folded != Marks() { scopes[Self.digest(.all), default: Marks()].merge(folded) }
    }

    private static func digest(_ scope: PurgeScope) -> UInt64 {
        let text =
            switch scope {
            case .source(let key): "s" + key
            case .tag(let tag): "t" + PurgeRecord.bounded(tag)
            case .prefix(let prefix): "p" + prefix
            case .all: "a"
            }
        return Checksum.of(Data(text.utf8))
    }

    // MARK: Bytes

    private static let version: UInt8 = 2

    /// In the envelope: generation (8 bytes), what was missed (8), then for each of the two kinds their number (8) and
    /// the records: the checksum of a scope (8), or a prefix behind its length (8), and two generations (8 each).
    func encoded() -> Data {
        var content = Data()
        content.append(number: generation)
        content.append(number: missed)
        content.append(number: UInt64(scopes.count))
        for (digest, marks) in scopes {
            for number in [digest, marks.invalidated, marks.deleted] { content.append(number: number) }
        }
        content.append(number: UInt64(prefixes.count))
        for (prefix, marks) in prefixes {
            content.append(field: Data(prefix.utf8))
            for number in [marks.invalidated, marks.deleted] { content.append(number: number) }
        }
        return content.sealed(version: Self.version)
    }

    /// Reads what ``encoded()`` returned; nil for anything else.
    init?(encoded: Data) {
        guard var rest = encoded.unsealed(version: Self.version),
            let generation = rest.popNumber(), generation <= PurgeRecord.last,
            let missed = rest.popNumber(), missed <= PurgeRecord.last, let count = rest.popNumber()
        else { return nil }
        for _ in 0..<min(count, UInt64(rest.count)) {
            guard let digest = rest.popNumber(), let marks = rest.popMarks() else { return nil }
            scopes[digest] = marks
        }
        guard let count = rest.popNumber() else { return nil }
        for _ in 0..<min(count, UInt64(rest.count)) {
            guard let prefix = rest.popField(), let marks = rest.popMarks() else { return nil }
            prefixes[String(decoding: prefix, as: UTF8.self)] = marks
        }
        guard rest.isEmpty else { return nil }
        (self.generation, self.missed) = (generation, missed)
    }

    /// The table as other machines get it.
    var forOthers: PurgeTable {
        var table = self
        table.missed = 0
        return table
    }
}

extension PurgeTable.Marks {
    fileprivate func merged(_ other: Self) -> Self {
        var marks = self
        marks.merge(other)
        return marks
    }
}

extension Data {
    fileprivate mutating func popMarks() -> PurgeTable.Marks? {
        guard let invalidated = popNumber(), let deleted = popNumber() else { return nil }
        return PurgeTable.Marks(invalidated: invalidated, deleted: deleted)
    }
}
