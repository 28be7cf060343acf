// The rules of coalescing, as values.

import KFSupport
import Testing

@Suite struct SharedWorkTests {
    typealias Work = SharedWork<String, String>

    @Test func theFirstToJoinStartsTheWorkAndTheOthersWait() {
        var work = Work()
        let first = work.join("a", "one"), second = work.join("a", "two")
        #expect(first.isFirst)
        #expect(!second.isFirst)
        #expect(first.ticket.round == second.ticket.round)
        #expect(work.count == 1)
    }

    @Test func differentKeysAreDifferentWork() {
        var work = Work()
        #expect(work.join("a", "one").isFirst)
        #expect(work.join("b", "two").isFirst)
        #expect(work.count == 2)
    }

    @Test func finishingAnswersEveryoneInTheOrderOfJoining() {
        var work = Work()
        let ticket = work.join("a", "one").ticket
        for name in ["two", "three", "four", "five"] { _ = work.join("a", name) }
        #expect(work.finish("a", round: ticket.round) == ["one", "two", "three", "four", "five"])
        #expect(work.count == 0)
    }

    @Test func onlyTheLastToLeaveStopsTheWork() {
        var work = Work()
        let first = work.join("a", "one").ticket, second = work.join("a", "two").ticket
        guard case .others("one") = work.leave(first) else { return #expect(Bool(false), "others still wait") }
        guard case .stop("two") = work.leave(second) else { return #expect(Bool(false), "nobody waits") }
        #expect(work.count == 0)
    }

    @Test func leavingTwiceIsTooLate() {
        var work = Work()
        let ticket = work.join("a", "one").ticket
        _ = work.join("a", "two")
        _ = work.leave(ticket)
        guard case .tooLate = work.leave(ticket) else { return #expect(Bool(false), "it had left") }
        #expect(work.finish("a", round: ticket.round) == ["two"])
    }

    @Test func aStaleFinishDoesNotEndTheNextRound() {
        var work = Work()
        let old = work.join("a", "one").ticket
        _ = work.leave(old)
        let new = work.join("a", "two").ticket
        #expect(work.finish("a", round: old.round).isEmpty)
        #expect(work.finish("a", round: new.round) == ["two"])
    }

    @Test func aStaleTicketDoesNotLeaveTheNextRound() {
        var work = Work()
        let old = work.join("a", "one").ticket
        _ = work.finish("a", round: old.round)
        let new = work.join("a", "two").ticket
        guard case .tooLate = work.leave(old) else { return #expect(Bool(false), "its round is over") }
        #expect(work.waiters("a", round: new.round) == ["two"])
    }
}
