// What is known of the entries of a directory, in little memory. Knows nothing of the directory.

import Foundation
import Glibc

/// What is known of one entry without opening it.
struct EntryRecord: Equatable, Sendable {
    /// Its length in bytes, at most ``largestSize``.
    private(set) var size: Int
    /// When it was stored or last read, in nanoseconds since 1970.
    var lastAccess: Int64
    /// When it expires, in nanoseconds since 1970; the largest number means never.
    var expiry: Int64

    /// The length recorded for a file that claims to be even longer: no disk holds that much.
    static let largestSize = 1 << 46

    init(size: Int, access: timespec, expiry: timespec) {
        self.size = min(max(0, size), Self.largestSize)
        lastAccess = access.nanoseconds
        self.expiry = expiry.nanoseconds
    }

    init(_ status: stat) { self.init(size: Int(status.st_size), access: status.st_atim, expiry: status.st_mtim) }

    /// Whether it has expired at an instant.
    func isExpired(at instant: timespec) -> Bool { expiry <= instant.nanoseconds }
}

/// The entries of a directory by name, and the sum of their sizes.
///
/// A hundred thousand entries with hashed names take about 10 MB; a dictionary by `String` would take 25.
struct EntryIndex: Sendable {
    /// Entries whose names are the digits of a digest and a suffix, by that suffix: an extension or nothing.
    private var tables: [String: Table] = [:]
    /// Entries with other names, which are compared by their bytes, not as texts.
    private var others: [[UInt8]: EntryRecord] = [:]
    /// The sum of the sizes of all entries.
    private(set) var totalSize = 0

    /// What is known of the entry called `name`; `nil` if there is none.
    subscript(name: String) -> EntryRecord? {
        get {
            guard let (digits, suffix) = Self.split(name) else { return others[Array(name.utf8)] }
            return tables[suffix]?[digits]
        }
        set {
            let old: EntryRecord?
            if let (digits, suffix) = Self.split(name) {
                old = tables[suffix, default: Table()].exchange(digits, newValue)
            } else {
                let bytes = Array(name.utf8)
                old = others[bytes]
                others[bytes] = newValue
            }
            totalSize = totalSize &+ (newValue?.size ?? 0) &- (old?.size ?? 0)
        }
    }

    /// An entry, whose name is made when it is read.
    struct Entry: Sendable {
        fileprivate let digits: HexDigestName?
        fileprivate let suffix: String
        /// What is known of it.
        let record: EntryRecord

        var name: String { (digits?.text ?? "") + suffix }
    }

    /// All entries, in no particular order.
    var entries: [Entry] {
        var all: [Entry] = []
        for (suffix, table) in tables {
            for node in table.nodes { all.append(Entry(digits: node.name, suffix: suffix, record: node.record)) }
        }
        for (name, record) in others {
            all.append(Entry(digits: nil, suffix: String(decoding: name, as: UTF8.self), record: record))
        }
        return all
    }

    private static func split(_ name: String) -> (HexDigestName, String)? {
        var name = name
        return name.withUTF8 { bytes in
            HexDigestName(bytes).map { ($0, String(decoding: bytes[HexDigestName.length...], as: UTF8.self)) }
        }
    }

    /// Digest names and what is known of their entries.
    ///
    /// The nodes lie in one array, and the dictionary holds only hashes and positions, since half of its buckets stay
    /// empty.
    private struct Table: Sendable {
        struct Node: Sendable {
            let name: HexDigestName
            var record: EntryRecord
        }

        private(set) var nodes: ContiguousArray<Node> = []
        /// The index of each node by the hash of its name; that two names have the same hash of 64 bits does not
        /// happen.
        private var positions: [Int: Int32] = [:]

        subscript(name: HexDigestName) -> EntryRecord? { positions[name.hashValue].map { nodes[Int($0)].record } }

        /// Replaces what is known of `name` by `record`, and returns the old record.
        mutating func exchange(_ name: HexDigestName, _ record: EntryRecord?) -> EntryRecord? {
            let hash = name.hashValue
            guard let position = positions[hash].map(Int.init) else {
                if let record {
                    positions[hash] = Int32(nodes.count)
                    nodes.append(Node(name: name, record: record))
                }
                return nil
            }
            let old = nodes[position].record
            if let record {
                nodes[position].record = record
            } else {
                // The last node fills the gap.
                positions[nodes[nodes.count - 1].name.hashValue] = Int32(position)
                positions[hash] = nil
                nodes[position] = nodes[nodes.count - 1]
                nodes.removeLast()
            }
            return old
        }
    }
}

extension timespec {
    /// Nanoseconds since 1970, as far as they go: beyond the year 2262 it is always the largest number, before 1970
    /// zero.
    var nanoseconds: Int64 {
        tv_sec < 0 ? 0 : tv_sec >= Int64.max / 1_000_000_000 ? .max : Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec)
    }
}
