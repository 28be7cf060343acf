// What one store and its ledger have told one another. Knows nothing of files.

/// A store's side of the ledger: what was said of its own changes, and which of the others' its account knows of.
struct LedgerLink: Sendable {
    /// What others have said up to an instant.
    struct News: Sendable {
        var changes: UInt64 = 0
        /// How many bytes their changes have added to the entries and taken from them.
        var bytes = ByteCounts()
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
    private var ownBytes = ByteCounts()
    private var ownUnderWay = 0
    private var ownAsked: UInt64 = 0
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
        noteChange(ByteCounts())
        note(underWay: 0)
        self = LedgerLink(ledger: other, canHaveNone: canHaveNone, soughtAt: soughtAt, triedAt: triedAt)
        note(underWay: underWay)
    }

    // MARK: Telling

    /// Tells others that an entry was changed here, which added and took so many bytes.
    ///
    /// Under the lock of the state, so that changes made here and those of others can be told apart at any time.
    mutating func noteChange(_ bytes: ByteCounts) {
        guard let ledger else { return }
        ledger.noteBytes(bytes)
        ownBytes = ownBytes &+ bytes
        ledger.noteChange()
        ownChanges &+= 1
    }

    /// Tells others how many changes are being made here.
    mutating func note(underWay: Int) {
        guard let ledger, underWay != ownUnderWay else { return }
        ledger.noteUnderWay(underWay - ownUnderWay)
        ownUnderWay = underWay
    }

    /// Tells others that room has to be made.
    mutating func noteAsking() {
        guard let ledger else { return }
        ledger.noteAsking()
        ownAsked &+= 1
    }

    // MARK: Hearing

    /// How often others have told that room has to be made.
    var othersAsked: UInt64 { ledger.map { $0.asked &- ownAsked } ?? 0 }

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

    /// Takes note that the account knows of all that others had said when a scan began, which has just ended.
    ///
    /// Of what they were at, nobody knows: then it is not up to date, and will not be until the next scan. Nor does
    /// anybody know whether it has seen what they have said meanwhile: it is taken not to have seen what they added, and to
    /// have missed already what they took, so that there may be less than one thinks, and not more.
    mutating func account(for news: News) {
        accounted = news
        accounted.bytes.taken = self.news.bytes.taken
    }

    /// Tells others how many bytes all entries have together, if what a scan has found that began when others had said
    /// `news`, and when nothing was changed here, is still so.
    func noteTotal(_ total: Int, since news: News) {
        guard let ledger else { return }
        let (deaths, bytes, now) = (ledger.deaths, ledger.bytes, self.news)
        guard !news.isUnfinished, !now.isUnfinished, now.changes == news.changes else { return }
        ledger.noteTotal(total, when: bytes, deaths: deaths)
    }

    /// How many more bytes there are, at most, than the account knows of.
    var unaccountedBytes: Int { (news.bytes &- accounted.bytes).balance }

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

/// Bytes that came and bytes that went, both as they were told: any numbers, so they wrap around.
struct ByteCounts: Sendable, Equatable {
    var added = 0
    var taken = 0

    /// By how much there is more; negative if there is less.
    var balance: Int { added &- taken }

    static func &+ (one: Self, other: Self) -> Self {
        Self(added: one.added &+ other.added, taken: one.taken &+ other.taken)
    }

    static func &- (one: Self, other: Self) -> Self {
        Self(added: one.added &- other.added, taken: one.taken &- other.taken)
    }
}
