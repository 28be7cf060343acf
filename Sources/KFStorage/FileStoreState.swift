// All that changes in a file store, and the decisions about it. Knows nothing of system calls.

/// The state of a file store.
struct FileStoreState: Sendable {
    var directory: Directory?
    var temporaries: Temporaries?
    var account = Account()
    var counts = FileCounts()

    /// Whether an account is kept: a scan was asked for.
    var keepsAccount = false
    /// The bytes all entries together may take; 0 means no limit.
    var sizeLimit = 0
    var isTrimming = false
    /// For tests: runs between the look at a file that is to be removed and its removal, under the lock of its name.
    var afterLook: (@Sendable () -> Void)?
    /// When it was last made sure that directory and ledger are where they belong, in milliseconds.
    var checkedAt = Int64.min / 2
    /// When the last scan ended, and how long it took, in milliseconds.
    var scanEndedAt = Int64.min / 2
    var scanTook: Int64 = 0

    private(set) var ledger: Ledger?
    /// Whether there can never be a ledger for the directory.
    private var canHaveNoLedger = false
    /// When a ledger was last looked for, and when it was last tried to make one.
    private var ledgerSoughtAt = Int64.min / 2
    private var ledgerTriedAt = Int64.min / 2
    /// Those of the ledger's changes that were made here.
    private var ownChanges: UInt64 = 0
    /// How many changes others had made when the last scan began.
    private var accountedChanges: UInt64 = 0
    /// What the ledger knows of the counts.
    private var reported = FileCounts()
    private var reportedAt = Int64.min / 2

    /// Whether names that are not in the account may be taken for missing.
    var usesShortcut = true
    /// Names that alone are taken for known, whatever the account says.
    var assumedNames: Set<String>?

    // MARK: The directory

    /// Lets go of the directory, and of what is known of its entries; the answer is to be let go of outside the lock.
    mutating func forgetDirectory() -> EntryTable {
        directory = nil
        temporaries = nil
        use(nil)
        (canHaveNoLedger, ledgerSoughtAt, ledgerTriedAt) = (false, .min / 2, .min / 2)
        return account.forget()
    }

    /// Whether to look for a ledger, or to make one: there is none yet, but there may be one by now.
    ///
    /// At most once a second, unless it is `urgent`.
    mutating func beginLedgerSearch(at now: Int64, making: Bool, urgent: Bool) -> Bool {
        let last = making ? ledgerTriedAt : ledgerSoughtAt
        guard ledger == nil, !canHaveNoLedger, urgent || now - last >= 1_000 else { return false }
        if making { ledgerTriedAt = now } else { ledgerSoughtAt = now }
        return true
    }

    /// Takes over what came of looking for a ledger.
    mutating func endLedgerSearch(_ finding: Ledger.Finding) {
        if case .impossible = finding { canHaveNoLedger = true }
        if ledger == nil, let found = finding.ledger { use(found) }
    }

    /// Uses another ledger from now on.
    mutating func use(_ other: Ledger?) {
        guard other !== ledger else { return }
        report()
        ledger = other
        account.isToldOfChanges = other != nil
        ownChanges = 0
        // Nobody knows what others have told one another there.
        account.isStale = account.isComplete
    }

    // MARK: Changes

    /// Tells others of a change made here.
    ///
    /// Under the lock, so that changes made here and those of others can be told apart at any time.
    mutating func note(_ outcome: Account.Outcome, of name: String) {
        switch outcome {
        case .stored: assumedNames?.insert(name)
        case .removed, .unknown: break
        case .seen, .unchanged: return
        }
        guard let ledger else { return }
        ledger.noteChange()
        ownChanges &+= 1
    }

    /// How many changes others have made.
    var foreignChanges: UInt64 { ledger.map { $0.generation &- ownChanges } ?? 0 }

    /// Whether the account knows all entries, as far as can be told without asking the system.
    var isAccountTrue: Bool { account.isComplete && !account.isStale && foreignChanges == accountedChanges }

    /// Whether the account should be, and may be, made anew: not so often that it takes more than a tenth of the time.
    func needsScan(at now: Int64) -> Bool { keepsAccount && !isAccountTrue && now - scanEndedAt >= 10 * scanTook }

    /// Whether there are more bytes than allowed, and nobody is making room yet: then it begins.
    mutating func beginTrimming() -> Bool {
        guard sizeLimit > 0, account.isComplete, account.table.totalSize > sizeLimit, !isTrimming else { return false }
        isTrimming = true
        return true
    }

    /// Takes over what a scan found that began when others had made `foreignChanges`; answers what is to be let go of.
    mutating func endScan(_ number: Int, _ found: consuming EntryTable, foreignChanges: UInt64, stamp: Directory.Stamp?)
        -> EntryTable?
    {
        let old = account.endScan(number, found)
        guard old != nil else { return nil }
        accountedChanges = foreignChanges
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

    /// What is known of the entry called `name`.
    func knowledge(of name: String, at now: Int64) -> Knowledge {
        if let assumedNames { return assumedNames.contains(name) ? .nothing : .missing }
        guard usesShortcut, ledger != nil, isAccountTrue, !account.isBusy(name), !account.table.contains(name) else {
            return .nothing
        }
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
