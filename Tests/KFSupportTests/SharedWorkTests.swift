// The rules of coalescing, as values.

import KFSupport
import Testing

@Suite struct SharedWorkTests {
    typealias Work = SharedWork<String, String>

    @Test("The first caller starts the work, and the others join it") func firstStarts() {
        var work = Work()
        let first = work.join("a", "one"), second = work.join("a", "two")
        #expect(first.isFirst)
        #expect(!second.isFirst)
        #expect(first.ticket.round == second.ticket.round)
        #expect(work.count == 1)
    }

    @Test("Different keys are different work") func differentKeys() {
        var work = Work()
        #expect(work.join("a", "one").isFirst)
        #expect(work.join("b", "two").isFirst)
        #expect(work.count == 2)
    }

    @Test("Finishing returns all waiters in the order of joining") func finishReturnsAll() {
        var work = Work()
        let ticket = work.join("a", "one").ticket
        for name in ["two", "three", "four", "five"] { _ = work.join("a", name) }
        #expect(work.finish("a", round: ticket.round) == ["one", "two", "three", "four", "five"])
        #expect(work.count == 0)
    }

    @Test("Only the last waiter to leave stops the work") func lastStops() {
        var work = Work()
        let first = work.join("a", "one").ticket, second = work.join("a", "two").ticket
        guard case .others("one") = work.leave(first) else { return #expect(Bool(false), "others still wait") }
        guard case .stop("two") = work.leave(second) else { return #expect(Bool(false), "no waiter is left") }
        #expect(work.count == 0)
    }

    @Test("Leaving a second time changes nothing") func leavingTwice() {
        var work = Work()
        let ticket = work.join("a", "one").ticket
        _ = work.join("a", "two")
        _ = work.leave(ticket)
        guard case .tooLate = work.leave(ticket) else { return #expect(Bool(false), "it had left") }
        #expect(work.finish("a", round: ticket.round) == ["two"])
    }

    @Test("Finishing an old round does not end the next one") func staleFinish() {
        var work = Work()
        let old = work.join("a", "one").ticket
        _ = work.leave(old)
        let new = work.join("a", "two").ticket
        #expect(work.finish("a", round: old.round).isEmpty)
        #expect(work.finish("a", round: new.round) == ["two"])
    }

    @Test("A ticket of an old round does not leave the next one") func staleTicket() {
        var work = Work()
        let old = work.join("a", "one").ticket
        _ = work.finish("a", round: old.round)
        let new = work.join("a", "two").ticket
        guard case .tooLate = work.leave(old) else { return #expect(Bool(false), "its round is over") }
        #expect(work.waiters("a", round: new.round) == ["two"])
    }
}
