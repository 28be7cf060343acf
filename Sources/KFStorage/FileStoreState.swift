// All that changes in a file store, and the decisions about it. Knows nothing of system calls.

/// The state of a file store.
struct FileStoreState: Sendable {
    var directory: Directory?
    var temporaries: Temporaries?
    var account = Account()
    var counts = FileCounts()

    /// Whether an account is kept: a scan was asked for.
    var keepsAccount = false
    /// Whether somebody is about to ask for one.
    var isScanAnnounced = false
    /// The bytes all entries together may take; 0 means no limit.
    var sizeLimit = 0
    var isTrimming = false
    /// How many of the last scans that were made because others said to have added too much found that the limit holds.
    var vainScans = 0
    /// For tests: how often room was made beside another process that was at it, because that took too long.
    var trimsBesideAnother = 0
    /// For tests: runs between the look at a file that is to be removed and its removal, under the lock of its name.
    var afterLook: (@Sendable () -> Void)?
    /// For tests: runs when the file was put aside.
    var whileAside: (@Sendable () -> Void)?
    /// When it was last made sure that directory and ledger are where they belong, in milliseconds.
    var checkedAt = Int64.min / 2
    /// When the last scan ended, and how long it took, in milliseconds.
    var scanEndedAt = Int64.min / 2
    var scanTook: Int64 = 0

    private(set) var link = LedgerLink()
    /// By how much what was done here since the last scan has changed the sum of all entries more than that of the account:
    /// which may have had another length for what was replaced or removed here, and may have seen what others did.
    private var uncounted = 0
    /// What the ledger knows of the counts.
    private var reported = FileCounts()
    private var reportedAt = Int64.min / 2

    /// Whether names that are not in the account may be taken for missing.
    var usesShortcut = true
    /// Names that alone are taken for known, whatever the account says.
    var assumedNames: Set<String>?

    // MARK: The directory

    /// What belongs to a directory that was let go of: freeing it takes time, and system calls.
    struct Remains: Sendable {
        let table: EntryTable
        let files: (Directory?, Temporaries?, Ledger?)
    }

    /// Lets go of the directory, and of what is known of its entries; the answer is to be let go of outside the lock.
    mutating func forgetDirectory() -> Remains {
        let files = (directory, temporaries, ledger)
        directory = nil
        temporaries = nil
        use(nil)
        link = LedgerLink()
        uncounted = 0
        return Remains(table: account.forget(), files: files)
    }

    var ledger: Ledger? { link.ledger }

    /// Whether to look for a ledger, or to make one: there is none yet, but there may be one by now.
    ///
    /// At most once a second, unless it is `urgent`.
    mutating func beginLedgerSearch(at now: Int64, making: Bool, urgent: Bool) -> Bool {
        link.beginSearch(at: now, making: making, urgent: urgent)
    }

    /// Takes over what came of looking for a ledger.
    mutating func endLedgerSearch(_ finding: Ledger.Finding) {
        if case .impossible = finding { link.giveUp() }
        if ledger == nil, let found = finding.ledger { use(found) }
    }

    /// Uses another ledger from now on.
    mutating func use(_ other: Ledger?) {
        guard other !== ledger else { return }
        report()
        link.use(other, underWay: account.underWay)
        account.isToldOfChanges = other != nil
        // Nobody knows what others have told one another there.
        account.isStale = account.isComplete
    }

    // MARK: Changes

    /// Announces that an entry is about to be changed, here and to others.
    mutating func begin(_ name: String) -> Account.Change {
        let change = account.begin(name)
        link.note(underWay: account.underWay)
        return change
    }

    /// Reports what came of a change, here and to others; the result is that of ``Account/end(_:_:ticket:)``.
    mutating func end(_ change: Account.Change, _ outcome: Account.Outcome, ticket: Int = 0) -> Int? {
        let sizeBefore = account.table.totalSize
        let ticket = account.end(change, outcome, ticket: ticket)
        // What is merely seen was told of by whoever did it.
        let isTrue = isAccountTrue
        uncounted = isTrue ? 0 : uncounted &- (account.table.totalSize &- sizeBefore)
        link.note(underWay: account.underWay)
        // What nobody has told of is corrected for all.
        if isTrue, account.isQuiet, case .seen = outcome {
            link.noteTotal(account.table.totalSize, since: link.accounted)
        }
        return ticket
    }

    /// Tells others of a change made here.
    mutating func note(_ outcome: Account.Outcome, of name: String) {
        func before(_ seen: Int?) -> Int { seen ?? account.table.record(of: name)?.size ?? 0 }
        var bytes = ByteCounts()
        let isExact: Bool
        switch outcome {
        case .stored(let record, let replacedSize):
            assumedNames?.insert(name)
            bytes = ByteCounts(added: record.size, taken: before(replacedSize))
            isExact = replacedSize != nil
        case .removed(_, let size):
            bytes.taken = before(size)
            isExact = size != nil
        case .unknown(let taken):
            bytes.taken = taken ?? 0
            isExact = taken != nil
        case .seen, .unchanged: return
        }
        // What was there may be what others have just put there. In this order: nobody may take the sum for known then.
        if !isExact, mustTellExactly { ledger?.noteDeath() }
        link.noteChange(bytes)
        uncounted &+= bytes.balance
    }

    /// Whether the account knows all entries, as far as can be told without asking the system.
    var isAccountTrue: Bool { account.isComplete && !account.isStale && link.isUpToDate }

    /// Whether the account should be, and may be, made anew: not so often that it takes more than a tenth of the time.
    func needsScan(at now: Int64) -> Bool { keepsAccount && !isAccountTrue && now - scanEndedAt >= 10 * scanTook }

    /// The bytes of all entries together, those that others say to have added since the last scan included.
    private var estimatedSize: Int {
        if isAccountTrue { return account.table.totalSize }
        return link.ledger?.total ?? (account.table.totalSize &+ uncounted &+ link.unaccountedBytes)
    }

    /// Whether there are more bytes than allowed, as far as is known.
    var isOverLimit: Bool { sizeLimit > 0 && account.isComplete && estimatedSize > sizeLimit }

    /// Whether there may be more bytes than allowed, and nobody is making room yet: then it begins.
    ///
    /// Others may have filled the directory: one has to look again, but not all the time.
    mutating func beginTrimming(at now: Int64) -> Bool {
        guard !isTrimming, isOverLimit || (sizeLimit > 0 && account.isComplete && needsScan(at: now)) else {
            return false
        }
        isTrimming = true
        return true
    }

    /// Whether others may count on being told how many bytes a change has added or taken, which the account may not know.
    var mustTellExactly: Bool { link.ledger.map { !$0.isOurs } ?? false }

    /// Tells others that room has to be made, before it is tried to be the one who makes it; `nil` if the limit holds.
    mutating func askForRoom() -> (ledger: Ledger?, isUrgent: Bool)? {
        guard isOverLimit else { return nil }
        link.noteAsking()
        return (ledger, isFarOverLimit)
    }

    /// Tells writes here, and others' asking for room, apart from those before.
    struct Writes: Sendable, Equatable {
        let own: Int
        let others: UInt64
    }

    /// What was written and asked for by now.
    var writes: Writes { Writes(own: counts.stores, others: link.othersAsked) }

    /// Whether so much has been written that whoever writes more has to wait until there is room.
    ///
    /// Before all entries are known, what was written here counts.
    var isFarOverLimit: Bool {
        guard sizeLimit > 0, keepsAccount || isScanAnnounced else { return false }
        let slack = sizeLimit / 8
        guard account.isComplete else { return counts.bytesWritten > slack }
        // In this order: what others say may be any number.
        return estimatedSize > sizeLimit && estimatedSize - slack > sizeLimit
    }

    /// Takes over what a scan found that began when others had said `news`; answers what is to be let go of.
    ///
    /// The directory's stamp is that of before the scan; `nil` if something was changed here meanwhile.
    mutating func endScan(_ number: Int, _ found: consuming EntryTable, news: LedgerLink.News, stamp: Directory.Stamp?)
        -> EntryTable?
    {
        let old = account.endScan(number, found)
        guard old != nil else { return nil }
        uncounted = 0
        if stamp != nil { link.noteTotal(account.table.totalSize, since: news) }
        link.account(for: news)
        account.stamp = stamp
        return old
    }

    // MARK: Looking up

    /// What is known of a name without asking the system.
    enum Knowledge: Sendable {
        case nothing
        case missing
        /// It is missing if directory and ledger still are where they were.
        case missingIfChecked
    }

    /// What a look-up begins with.
    struct Outlook: Sendable {
        let knowledge: Knowledge
        /// The length the account has of the entry; `nil` if it has none.
        let size: Int?
        /// The directory; `nil` if it has to be opened, or it is time to look for its ledger.
        let directory: Directory?
    }

    /// All that looking for the entry called `name` needs of the state, so that it is locked once for it.
    func outlook(on name: String, at now: Int64) -> Outlook {
        let size = account.isComplete ? account.table.record(of: name)?.size : nil
        return Outlook(
            knowledge: knowledge(of: name, isInAccount: size != nil, at: now),
            size: size,
            directory: link.isSearchDue(at: now) ? nil : directory
        )
    }

    /// What is known of the entry called `name`, which may be in the account.
    private func knowledge(of name: String, isInAccount: Bool, at now: Int64) -> Knowledge {
        if let assumedNames { return assumedNames.contains(name) ? .nothing : .missing }
        // What others have said is asked for last: that is read from memory they write to.
        guard !isInAccount, usesShortcut, ledger != nil, !account.isBusy(name), isAccountTrue else { return .nothing }
        return now - checkedAt < 1_000 ? .missing : .missingIfChecked
    }

    // MARK: Counts

    /// Enters in the ledger what has happened since the last time.
    mutating func report() {
        guard let ledger, counts != reported else { return }
        for (place, (count, before)) in zip(counts.numbers, reported.numbers).enumerated() {
            ledger.add(count - before, to: place)
        }
        reported = counts
    }

    /// The same, at most once a second.
    mutating func report(at now: Int64) {
        guard now - reportedAt >= 1_000 else { return }
        reportedAt = now
        report()
    }
}
