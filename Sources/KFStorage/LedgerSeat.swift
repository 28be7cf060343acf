// A place in the ledger for each of those who change entries. Knows nothing of entries.

import CKFLinux
import Glibc

/// Where one store says in the ledger how many changes it is making right now.
///
/// A change is told to others when it has been made. A process that is killed in between would leave one that nobody
/// hears of; but its seat still says that it was at it, and the lock on the seat, which the kernel keeps, says that it is
/// gone. The last seat is shared by all who came when the others were taken.
struct LedgerSeat: Sendable {
    static let count = 32
    private static let crowd = count - 1
    /// Which of the seats it is.
    let number: Int

    /// Whether others may have it, too.
    var isShared: Bool { number == Self.crowd }

    private init(number: Int) { self.number = number }

    /// What is locked of a seat: a byte beyond the end of the ledger.
    private static func place(_ number: Int) -> off_t { off_t(Ledger.size + number) }

    /// A seat that is free, or the one that is shared; `nil` if the file system knows no such locks.
    static func taken(of file: Int32) -> LedgerSeat? {
        let own = (0..<crowd).first { kf_lock_byte(file, place($0), F_WRLCK) == 0 }
        if let own { return LedgerSeat(number: own) }
        return kf_lock_byte(file, place(crowd), F_RDLCK) == 0 ? LedgerSeat(number: crowd) : nil
    }

    /// Frees the seat; one that is shared stays taken by the others.
    func leave(_ file: Int32) { _ = kf_lock_byte(file, Self.place(number), F_UNLCK) }

    /// Whether nobody has any other seat at this moment.
    func isOnlyOneTaken(of file: Int32) -> Bool {
        !isShared
            && (0..<Self.count).allSatisfy { other in
                guard other != number else { return true }
                guard kf_lock_byte(file, Self.place(other), F_WRLCK) == 0 else { return false }
                return kf_lock_byte(file, Self.place(other), F_UNLCK) == 0
            }
    }

    /// Runs `body` with the numbers of the seats, but this one, whose owners are gone: nobody can take them meanwhile.
    func forEachAbandoned(of file: Int32, _ body: (Int) -> Void) {
        for other in 0..<Self.count where other != number {
            guard kf_lock_byte(file, Self.place(other), F_WRLCK) == 0 else { continue }
            body(other)
            _ = kf_lock_byte(file, Self.place(other), F_UNLCK)
        }
    }
}

extension Ledger {
    /// Says that so many more changes, or fewer, are being made from this seat.
    func noteUnderWay(_ difference: Int) {
        _ = kf_shared_add(seatsMemory + seat.number * 8, UInt64(bitPattern: Int64(difference)))
    }

    /// How many changes are being made from all seats, with those of processes that died over them.
    var underWay: Int { Int(truncatingIfNeeded: kf_shared_sum(seatsMemory, Int32(LedgerSeat.count))) }

    /// Frees the seats of those who died while they changed something, and tells everybody that something was changed.
    func buryTheDead() {
        BlockingGuard.check()
        seat.forEachAbandoned(of: file, clear)
    }

    /// The same for whoever had our own seat before, when nothing is announced from it yet.
    func buryPredecessor() {
        if !seat.isShared { clear(seat.number) }
    }

    private func clear(_ number: Int) {
        let count = kf_shared_load(seatsMemory + number * 8)
        guard count != 0 else { return }
        // In this order: nobody may find the seat free and have heard of nothing.
        noteDeath()
        noteChange()
        _ = kf_shared_add(seatsMemory + number * 8, 0 &- count)
    }
}
