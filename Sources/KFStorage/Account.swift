// Keeps what is known of a directory's entries true while many change them. Knows nothing of the file system.

/// The account a store keeps of the entries in its directory.
///
/// Nobody holds a lock while a file is changed; so that the account is true all the same, every change is announced
/// before (``begin(_:)``) and reported after (``end(_:_:ticket:)``). Of changes to one name that overlap nobody can say
/// which came last: the one that ends last looks at the file. A scan takes over nothing that was changed while it ran.
struct Account: Sendable {
    /// What has become of an entry.
    enum Outcome: Sendable {
        /// Also how many bytes it has replaced, if that was seen; otherwise those the account knows of.
        case stored(EntryRecord, over: Int? = nil)
        /// Also how many bytes it had, if that was seen.
        case removed(Removal, size: Int? = nil)
        /// It was not changed, but looked at: this is what there is, if anything.
        case seen(EntryRecord?)
        /// It was neither changed nor looked at.
        case unchanged
        /// It may have been changed: one has to look. Also how many bytes were taken all the same, if that is known.
        case unknown(taken: Int? = nil)
    }

    /// Why an entry was removed.
    enum Removal: Sendable {
        case asked
        case expired
        case trimmed
        case corrupted
        case discarded
    }

    /// A change that was announced.
    struct Change: Sendable {
        let name: String
        /// How many changes had been announced by then.
        let number: Int
        /// Whether no other was under way.
        let wasAlone: Bool
        fileprivate let epoch: Int
        /// 1 for the first of several that overlap.
        fileprivate let arrival: Int
    }

    /// A name as file systems tell names apart: by its bytes, also where two are equal as texts.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (one: Name, other: Name) -> Bool {
            one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
        }
    }

    /// Overlapping changes to one name.
    private struct Burst: Sendable {
        let name: Name
        var present = 1
        var arrivals = 1
    }

    /// A scan that is under way.
    private struct Scan: Sendable {
        let number: Int
        /// What was changed since it began.
        var touched: Set<Name>
        /// What was used since it began: it may have been seen before.
        var uses: [Name: Use] = [:]
    }

    /// When an entry was used, and when it expires since.
    private struct Use: Sendable {
        let access: Int64
        let expiry: Int64
    }

    /// The entries, as far as they are known.
    private(set) var table = EntryTable()
    /// Whether all entries are known: a scan has ended, and the directory is still the one that was scanned.
    private(set) var isComplete = false
    /// Whether something was met that the account did not know of.
    var isStale = false
    /// The directory's stamp when all was known; `nil` if that was never the case, or not since it was changed.
    var stamp: Directory.Stamp?
    /// Whether others tell of their changes, so that the stamp need not.
    var isToldOfChanges = false

    private var scan: Scan?
    /// How many uses a scan keeps in mind.
    private static let mostUses = 10_000
    private var bursts: [Burst] = []
    /// How many changes were announced.
    private(set) var announced = 0
    /// How many changes have been announced and not been reported.
    private(set) var underWay = 0
    /// Counts the directories this was the account of.
    private var epoch = 0

    // MARK: Changes

    /// Announces that an entry is about to be changed.
    mutating func begin(_ name: String) -> Change {
        announced += 1
        underWay += 1
        scan?.touched.insert(Name(text: name))
        var arrival = 1
        if let index = burst(of: name) {
            bursts[index].present += 1
            bursts[index].arrivals += 1
            arrival = bursts[index].arrivals
        } else {
            bursts.append(Burst(name: Name(text: name)))
        }
        return Change(name: name, number: announced, wasAlone: underWay == 1, epoch: epoch, arrival: arrival)
    }

    /// Reports what came of a change.
    ///
    /// A result other than `nil` says that nobody knows: look at the file and report what you see, with the result as
    /// the ticket.
    mutating func end(_ change: Change, _ outcome: Outcome, ticket: Int = 0) -> Int? {
        guard let index = burst(of: change.name) else { return nil }
        let burst = bursts[index]
        if burst.present == 1 {
            let isCertain = (burst.arrivals == 1 && change.epoch == epoch) || burst.arrivals == ticket
            if case .unknown = outcome { return burst.arrivals }
            guard isCertain else { return burst.arrivals }
            bursts.remove(at: index)
            record(outcome, of: change.name)
        } else {
            bursts[index].present -= 1
        }
        underWay -= 1
        return nil
    }

    /// Compares the directory's stamps from before and after a change with what is known.
    ///
    /// When several changes overlap, nobody knows whose doing the stamp is: if others do not tell of theirs, one has to
    /// look.
    mutating func compare(_ before: Directory.Stamp?, _ after: Directory.Stamp?, around change: Change) {
        let wasAlone = change.wasAlone && change.number == announced && change.epoch == epoch
        if wasAlone, isComplete { check(before) }
        stamp = wasAlone ? after : nil
    }

    /// Compares the directory's stamp with what is known, if nothing was announced since `number` changes were.
    mutating func compare(_ seen: Directory.Stamp, quietSince number: Int) {
        guard isComplete, announced == number, underWay == 0 else { return }
        check(seen)
        stamp = seen
    }

    private mutating func check(_ seen: Directory.Stamp?) {
        if stamp == nil ? !isToldOfChanges : stamp != seen { isStale = true }
    }

    /// Whether the directory is still the one in which a change began.
    func isCurrent(_ change: Change) -> Bool { change.epoch == epoch }

    /// Whether an entry is being changed.
    func isBusy(_ name: String) -> Bool { burst(of: name) != nil }

    private func burst(of name: String) -> Int? {
        let name = Name(text: name)
        return bursts.firstIndex { $0.name == name }
    }

    /// Whether nothing is being changed.
    var isQuiet: Bool { underWay == 0 }

    private mutating func record(_ outcome: Outcome, of name: String) {
        guard isComplete || scan != nil else { return }
        switch outcome {
        case .stored(let record, _), .seen(let record?): table.set(record, for: name)
        case .removed, .seen(nil): table.remove(name)
        case .unchanged, .unknown: break
        }
    }

    /// Notes that an entry was used.
    mutating func markUsed(_ name: String, access: Int64, expiry: Int64) {
        table.markUsed(name, access: access, expiry: expiry)
        // More would only make the order finer, and look-ups wait while they are taken over.
        if let known = scan?.uses.count, known < Self.mostUses {
            scan?.uses[Name(text: name)] = Use(access: access, expiry: expiry)
        }
    }

    /// Some of the entries that have expired at an instant, as the table answers them.
    mutating func expired(at instant: Int64, limit: Int, place: inout Int) -> [(name: String, record: EntryRecord)] {
        table.expired(at: instant, limit: limit, place: &place)
    }

    // MARK: Scans

    /// Begins a scan and answers its number; `nil` if one is under way.
    mutating func beginScan() -> Int? {
        guard scan == nil else { return nil }
        announced += 1
        scan = Scan(number: announced, touched: Set(bursts.map(\.name)))
        return announced
    }

    /// Gives the scan called `number` up: it failed.
    mutating func cancelScan(_ number: Int) {
        guard scan?.number == number else { return }
        scan = nil
        if !isComplete { table = EntryTable() }
    }

    /// Notes that an entry could not be looked at: the account may be wrong about it, and so would be what comes of a scan
    /// that is under way.
    mutating func noteUnseen() {
        isStale = true
        if let scan { cancelScan(scan.number) }
    }

    /// Ends the scan called `number` with what it found.
    ///
    /// Answers what is no longer needed, for the caller to let go of outside the lock; `nil` if the scan was of another
    /// directory.
    mutating func endScan(_ number: Int, _ found: consuming EntryTable) -> EntryTable? {
        guard let scan, scan.number == number else { return nil }
        self.scan = nil
        takeOver(scan, into: &found)
        swap(&table, &found)
        isComplete = true
        isStale = false
        return found
    }

    /// Enters what was changed and used while a scan ran in what it found, in the order of use, which is that of going.
    private func takeOver(_ scan: Scan, into found: inout EntryTable) {
        var news: [(access: Int64, name: Name)] = scan.touched.map { name in
            (table.record(of: name.text)?.lastAccess ?? 0, name)
        }
        news += scan.uses.lazy.filter { !scan.touched.contains($0.key) }.map { ($0.value.access, $0.key) }
        for (_, name) in news.sorted(by: { $0.access < $1.access }) {
            if !scan.touched.contains(name), let use = scan.uses[name] {
                // What the scan has seen may be newer, of another process. Its place is behind what came before all the
                // same.
                guard let known = found.record(of: name.text) else { continue }
                let last = known.lastAccess > use.access ? Use(access: known.lastAccess, expiry: known.expiry) : use
                found.markUsed(name.text, access: last.access, expiry: last.expiry)
            } else if let record = table.record(of: name.text) {
                found.set(record, for: name.text)
            } else {
                found.remove(name.text)
            }
        }
    }

    /// Whether anything is entered: a scan has ended or is under way.
    var isActive: Bool { isComplete || scan != nil }

    /// Forgets all entries: the directory is another one.
    mutating func forget() -> EntryTable {
        let old = table
        table = EntryTable()
        (isComplete, isStale, stamp, scan) = (false, false, nil, nil)
        epoch += 1
        return old
    }
}
