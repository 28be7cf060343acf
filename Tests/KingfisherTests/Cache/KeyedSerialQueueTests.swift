// The keyed serial queue: operations on one key run in the order of their calls, those on other keys concurrently.

import KFSupport
import Testing

@testable import Kingfisher

@Suite struct KeyedSerialQueueTests {
    let operations = KeyedSerialQueue()
    let log = Box<[String]>([])

    /// Runs an operation that logs its name at its position in the queue, once `gate` is open.
    private func start(_ name: String, _ ticket: KeyedSerialQueue.Ticket, gate: Promise<Void>? = nil) -> Task<
        Void, Never
    > {
        Task.immediate { [log] in
            await ticket.run {
                if let gate { await gate.value }
                log.change { $0.append(name) }
            }
        }
    }

    @Test("Operations on one key run in the order of their calls") func operationsOnOneKey() async {
        let gate = Promise<Void>()
        let first = start("first", operations.ticket(forKey: "a"), gate: gate)
        let second = start("second", operations.ticket(forKey: "a"))
        let third = start("third", operations.ticket(forKey: "a"))
        #expect(log.value == [])
        gate.fulfil(())
        for task in [third, second, first] { await task.value }
        #expect(log.value == ["first", "second", "third"])
    }

    @Test("Operations on other keys do not wait") func otherKeys() async {
        let gate = Promise<Void>()
        let slow = start("slow", operations.ticket(forKey: "a"), gate: gate)
        await start("fast", operations.ticket(forKey: "b")).value
        #expect(log.value == ["fast"])
        gate.fulfil(())
        await slow.value
    }

    @Test("Operations run in the order in which their tickets were taken") func ticketOrder() async {
        let (early, late) = (operations.ticket(forKey: "a"), operations.ticket(forKey: "a"))
        let second = start("late", late)
        let first = start("early", early)
        await first.value
        await second.value
        #expect(log.value == ["early", "late"])
    }

    @Test("An operation on all keys waits for all earlier ones, and holds back later ones only on request")
    func operationOnAllKeys() async {
        let gate = Promise<Void>()
        let before = ["a", "b"].map { start($0, operations.ticket(forKey: $0), gate: gate) }
        let size = start("size", operations.ticketForAll(isBarrier: false))
        await start("beside", operations.ticket(forKey: "c")).value
        #expect(log.value == ["beside"])
        gate.fulfil(())
        for task in before + [size] { await task.value }
        #expect(log.value.last == "size")
    }

    @Test("A key is busy from its first ticket to the end of its last operation") func busyKeys() async {
        let (first, second) = (operations.ticket(forKey: "a"), operations.ticket(forKey: "a"))
        #expect(operations.isBusy("a") && !operations.isBusy("b"))
        await first.run {}
        #expect(operations.isBusy("a"))
        await second.run {}
        #expect(!operations.isBusy("a"))

        let (size, clear) = (operations.ticketForAll(isBarrier: false), operations.ticketForAll(isBarrier: true))
        #expect(operations.isBusy("a") && operations.isBusy("b"))
        await clear.run {}
        #expect(!operations.isBusy("a") && !operations.isBusy("b"))
        await size.run {}
    }

    @Test("Operations after a barrier wait for it") func barrier() async {
        let gate = Promise<Void>()
        let clear = start("clear", operations.ticketForAll(isBarrier: true), gate: gate)
        let store = start("store", operations.ticket(forKey: "new"))
        let clearAgain = start("clear again", operations.ticketForAll(isBarrier: true))
        #expect(log.value == [])
        gate.fulfil(())
        for task in [clear, store, clearAgain] { await task.value }
        #expect(log.value == ["clear", "store", "clear again"])
        await start("later", operations.ticket(forKey: "new")).value
        #expect(log.value.last == "later")
    }
}
