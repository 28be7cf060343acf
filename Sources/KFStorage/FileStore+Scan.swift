// Finding out what entries there are. Knows nothing of what is done with them.

import Glibc
import KFSupport

extension FileStore {
    /// Whether all entries are known.
    package var isScanned: Bool { state.withLock { $0.account.isComplete } }

    /// Whether ``startScan()`` would find something new, and may be called again by now.
    package var needsScan: Bool {
        let now = ticks()
        // Without a directory there is nothing to look at; whoever makes it again will be asked again.
        return state.withLock { $0.directory != nil && $0.needsScan(at: now) }
    }

    /// Looks at all entries once, and from then on keeps an account of them.
    ///
    /// From then on ``totalSize()`` takes no walk, the limit of ``configure(sizeLimit:)`` holds, and a name that is not
    /// there costs no system call. Nothing else waits meanwhile; what is written, read and removed while it runs is
    /// accounted for. Nothing happens if another scan is running, or the account is known to be true. A failure leaves
    /// everything as it was.
    ///
    /// - Parameter making: Whether to make the directory if there is none; otherwise there is nothing to look at then.
    package func startScan(making: Bool = true) {
        state.withLock { $0.keepsAccount = true }
        guard !isAccountTrue() else { return }
        do throws(StorageError) {
            _ = try turn.withLock { _ throws(StorageError) in try scan(making: making) }
        } catch {
            state.withLock { $0.counts.failures += 1 }
        }
        keepLimit()
    }

    /// Says that somebody is about to call ``startScan(making:)``: a write that cannot wait for that makes a scan itself.
    package func announceScan() { state.withLock { $0.isScanAnnounced = true } }

    /// The bytes of all entries together, if that is known without asking the system: other processes' changes may be
    /// missing from it.
    package var knownSize: Int? {
        state.withLock { $0.account.isComplete ? $0.account.table.totalSize : nil }
    }

    /// The bytes of all entries together.
    package func totalSize() throws(StorageError) -> Int {
        if try makeAccountTrue() { return state.withLock { $0.account.table.totalSize } }
        return try walk().totalSize
    }

    /// Whether the account is true; asks the system for what it can tell with two calls.
    private func isAccountTrue() -> Bool {
        checkPlaces()
        return state.withLock { $0.isAccountTrue }
    }

    /// Makes the account true if one is kept; answers whether it is.
    func makeAccountTrue() throws(StorageError) -> Bool {
        guard state.withLock({ $0.keepsAccount }) else { return false }
        if isAccountTrue() { return true }
        return try turn.withLock { _ throws(StorageError) in try makeAccountTrueInTurn() }
    }

    /// The same for who has the turn: what was true before he waited for it may be no more.
    func makeAccountTrueInTurn() throws(StorageError) -> Bool {
        guard state.withLock({ $0.keepsAccount }) else { return false }
        // Who had the turn may have made it true.
        if !isAccountTrue() { try scan(making: false) }
        return state.withLock { $0.isAccountTrue }
    }

    /// Makes the account anew, and answers whether it did: not if another is at it, or there is no directory.
    @discardableResult
    func scan(making: Bool) throws(StorageError) -> Bool {
        guard let directory = try currentDirectory(making: making) else { return false }
        // Without a place to write there is no ledger, and no shortcut then; the rest works.
        _ = try? placesToWrite(making: making)
        let start = ticks()
        buryTheDead()
        let begun = state.withLock { state -> (number: Int, isQuiet: Bool, news: LedgerLink.News, ledger: Ledger?)? in
            guard state.directory === directory, let number = state.account.beginScan() else { return nil }
            return (number, state.account.isQuiet, state.link.news, state.ledger)
        }
        guard let begun else { return false }
        let (stamp, found): (Directory.Stamp?, EntryTable)
        var hidden: [String] = []
        do throws(StorageError) {
            (stamp, found) = try (
                directory.stamp, walk(directory) { hidden.append(String(decoding: $0, as: UTF8.self)) }
            )
        } catch {
            let end = ticks()
            state.withLock { state in
                (state.scanEndedAt, state.scanTook) = (end, end - start)
                state.account.cancelScan(begun.number)
            }
            throw error
        }
        // Whoever had no folder beside the directory wrote here, and left it if he died.
        Temporaries.removeLeftovers(hidden, in: directory)
        let end = ticks()
        let old = state.withLock { state -> EntryTable? in
            let wasAlone = begun.isQuiet && state.account.announced == begun.number
            (state.scanEndedAt, state.scanTook) = (end, end - start)
            let old = state.endScan(
                begun.number,
                found,
                news: begun.news,
                stamp: wasAlone ? stamp : nil
            )
            if state.ledger !== begun.ledger { state.account.isStale = true }
            return old
        }
        return old != nil
    }

    /// All entries, as they are on the disk.
    func walk() throws(StorageError) -> EntryTable {
        guard let directory = try currentDirectory(making: false) else { return EntryTable() }
        return try walk(directory)
    }

    private func walk(
        _ directory: Directory,
        hidden: (UnsafeBufferPointer<UInt8>) -> Void = { _ in }
    ) throws(StorageError) -> EntryTable {
        var table = EntryTable(capacity: state.withLock { $0.account.table.count })
        try directory.forEachFile(hidden: hidden) { name, status in table.set(EntryRecord(status), for: name) }
        table.orderByLastAccess()
        return table
    }
}
