// What one store and its ledger have told one another. Knows nothing of files.

/// A store's side of the ledger: what was said of its own changes, and which of the others' its account knows of.
struct LedgerLink: Sendable {
    /// What others have said up to an instant.
    struct News: Sendable {
        var changes: UInt64 = 0
        /// How many bytes their changes have added to the entries; negative if entries have become fewer.
        var bytes = 0
        /// Whether they were at it.
        var isUnfinished = false
    }

    private(set) var ledger: Ledger?
    /// Whether there can never be a ledger for the directory.
    private var canHaveNone = false
    /// When a ledger was last looked for, and when it was last tried to make one, in milliseconds.
    private var soughtAt = Int64.min / 2
    private var triedAt = Int64.min / 2
    /// Those of the ledger's numbers that come from here.
    private var ownChanges: UInt64 = 0
    private var ownBytes = 0
    private var ownUnderWay = 0
    /// What others had said when the last scan began.
    private(set) var accounted = News()

    // MARK: Finding it

    /// Whether to look for a ledger, or to make one: there is none yet, but there may be one by now.
    ///
    /// At most once a second, unless it is `urgent`.
    mutating func beginSearch(at now: Int64, making: Bool, urgent: Bool) -> Bool {
        let last = making ? triedAt : soughtAt
        guard ledger == nil, !canHaveNone, urgent || now - last >= 1_000 else { return false }
        if making { triedAt = now } else { soughtAt = now }
        return true
    }

    /// Whether ``beginSearch(at:making:urgent:)`` would have one look for a ledger that others have made.
    func isSearchDue(at now: Int64) -> Bool { ledger == nil && !canHaveNone && now - soughtAt >= 1_000 }

    /// Notes that there can never be one.
    mutating func giveUp() { canHaveNone = true }

    /// Uses another ledger from now on, or none; `underWay` changes are being made here.
    ///
    /// Who still listens to the old one hears that something is wrong there, and looks for himself.
    mutating func use(_ other: Ledger?, underWay: Int) {
        noteChange(bytes: 0)
        note(underWay: 0)
        self = LedgerLink(ledger: other, canHaveNone: canHaveNone, soughtAt: soughtAt, triedAt: triedAt)
        note(underWay: underWay)
    }

    // MARK: Telling

    /// Tells others that an entry was changed here, which added so many bytes.
    ///
    /// Under the lock of the state, so that changes made here and those of others can be told apart at any time.
    mutating func noteChange(bytes: Int) {
        guard let ledger else { return }
        ledger.noteBytes(bytes)
        ownBytes &+= bytes
        ledger.noteChange()
        ownChanges &+= 1
    }

    /// Tells others how many changes are being made here.
    mutating func note(underWay: Int) {
        guard let ledger, underWay != ownUnderWay else { return }
        ledger.noteUnderWay(underWay - ownUnderWay)
        ownUnderWay = underWay
    }

    // MARK: Hearing

    /// What others have said by now.
    var news: News {
        guard let ledger else { return News() }
        // First who is at it: whoever ends after that is heard of by what he has changed.
        let isUnfinished = ledger.underWay != ownUnderWay
        return News(
            changes: ledger.generation &- ownChanges,
            bytes: ledger.bytes &- ownBytes,
            isUnfinished: isUnfinished
        )
    }

    /// Takes note that the account knows of all that others had said then.
    ///
    /// Of what they were at, nobody knows: then it is not up to date, and will not be until the next scan.
    mutating func account(for news: News) { accounted = news }

    /// Whether nobody has changed anything that the account does not know of.
    var isUpToDate: Bool {
        guard !accounted.isUnfinished else { return false }
        let news = news
        return !news.isUnfinished && news.changes == accounted.changes
    }
}

extension LedgerLink {
    private init(ledger: Ledger?, canHaveNone: Bool, soughtAt: Int64, triedAt: Int64) {
        self.init()
        self.ledger = ledger
        self.canHaveNone = canHaveNone
        self.soughtAt = soughtAt
        self.triedAt = triedAt
    }
}
