// The part of a key that stands for a piece of the user's code. For the keys by which loads share their work.

import KFSupport

/// Stands for a piece of code among the options: equal to another one if both are `Hashable` and say so, else only to its
/// copies.
///
/// The code's own `==` and `hash` run when this is made, and never when keys are compared.
struct CodeKey: Hashable, Sendable {
    /// Nil where there is no code.
    private let entry: CodeTable.Entry?

    init(_ code: (any Sendable)?) { entry = code.map { CodeTable.shared.entry(of: $0) } }

    /// Whether a key that is made later can be equal.
    var mayRecur: Bool { entry?.isComparable ?? true }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.entry === rhs.entry }
    func hash(into hasher: inout Hasher) { hasher.combine(entry.map { ObjectIdentifier($0) }) }
}

/// The pieces of code that keys stand for: of those that are equal one, for as long as there is a key.
private final class CodeTable: Sendable {
    final class Entry: Sendable {
        let code: any Sendable
        /// The hash of code that can be compared.
        let hash: Int?

        init(_ code: any Sendable, hash: Int?) { (self.code, self.hash) = (code, hash) }
        deinit { if let hash { CodeTable.shared.remove(ObjectIdentifier(self), hash) } }

        var isComparable: Bool { hash != nil }
    }

    private struct WeakEntry: Sendable {
        weak let entry: Entry?
        let id: ObjectIdentifier
    }

    static let shared = CodeTable()
    private let entries = Locked<[Int: [WeakEntry]]>([:])

    /// The entry of code that equals the given one; a new one if there is none.
    func entry(of code: any Sendable) -> Entry {
        guard let comparable = code as? any Hashable else { return Entry(code, hash: nil) }
        let (wanted, hash) = (AnyHashable(comparable), comparable.hashValue)
        var known = entries(of: hash)
        while true {
            let equal = known.first { ($0.code as? any Hashable).map { AnyHashable($0) } == wanted }
            if let equal { return equal }
            let new = Entry(code, hash: hash)
            let others = known
            // Code that has come since is to be compared, too.
            // (What is there is returned, so that nothing is released with the lock held.)
            let (current, isNew) = entries.withLock { entries in
                let current = (entries[hash] ?? []).compactMap(\.entry)
                let isNew = current.allSatisfy { entry in others.contains { $0 === entry } }
                if isNew { entries[hash, default: []].append(WeakEntry(entry: new, id: ObjectIdentifier(new))) }
                return (current, isNew)
            }
            if isNew { return new }
            known = current
        }
    }

    private func entries(of hash: Int) -> [Entry] { entries.withLock { ($0[hash] ?? []).compactMap(\.entry) } }

    private func remove(_ id: ObjectIdentifier, _ hash: Int) {
        entries.withLock { entries in
            entries[hash]?.removeAll { $0.id == id }
            if entries[hash]?.isEmpty == true { entries[hash] = nil }
        }
    }
}
