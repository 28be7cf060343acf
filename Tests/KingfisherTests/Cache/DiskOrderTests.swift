// Operations on one key in the order they were called; those on others beside them.

import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskOrderTests {
    let order = DiskOrder()
    let log = Box<[String]>([])

    /// Takes a place now, and works when it is its turn and `gate` is open.
    private func start(_ name: String, _ place: DiskOrder.Place, gate: Promise<Void>? = nil) -> Task<Void, Never> {
        Task.immediate { [log] in
            await place.run {
                if let gate { await gate.value }
                log.change { $0.append(name) }
            }
        }
    }

    @Test func operationsOnOneKeyHappenInOrder() async {
        let gate = Promise<Void>()
        let first = start("first", order.place(forKey: "a"), gate: gate)
        let second = start("second", order.place(forKey: "a"))
        let third = start("third", order.place(forKey: "a"))
        #expect(log.value == [])
        gate.keep(())
        for task in [third, second, first] { await task.value }
        #expect(log.value == ["first", "second", "third"])
    }

    @Test func otherKeysDoNotWait() async {
        let gate = Promise<Void>()
        let slow = start("slow", order.place(forKey: "a"), gate: gate)
        await start("fast", order.place(forKey: "b")).value
        #expect(log.value == ["fast"])
        gate.keep(())
        await slow.value
    }

    @Test func theOrderIsThatOfTakingPlacesNotOfRunning() async {
        let (early, late) = (order.place(forKey: "a"), order.place(forKey: "a"))
        let second = start("late", late)
        let first = start("early", early)
        await first.value
        await second.value
        #expect(log.value == ["early", "late"])
    }

    @Test func anOperationOnAllWaitsForAllAndHoldsBackNobodyUnasked() async {
        let gate = Promise<Void>()
        let before = ["a", "b"].map { start($0, order.place(forKey: $0), gate: gate) }
        let size = start("size", order.placeForAll(holdingBack: false))
        await start("beside", order.place(forKey: "c")).value
        #expect(log.value == ["beside"])
        gate.keep(())
        for task in before + [size] { await task.value }
        #expect(log.value.last == "size")
    }

    @Test func aKeyIsBusyFromTheFirstPlaceTakenToTheEndOfTheLast() async {
        let (first, second) = (order.place(forKey: "a"), order.place(forKey: "a"))
        #expect(order.isBusy("a") && !order.isBusy("b"))
        await first.run {}
        #expect(order.isBusy("a"))
        await second.run {}
        #expect(!order.isBusy("a"))

        let (size, clear) = (order.placeForAll(holdingBack: false), order.placeForAll(holdingBack: true))
        #expect(order.isBusy("a") && order.isBusy("b"))
        await clear.run {}
        #expect(!order.isBusy("a") && !order.isBusy("b"))
        await size.run {}
    }

    @Test func whatComesAfterABarrierWaits() async {
        let gate = Promise<Void>()
        let clear = start("clear", order.placeForAll(holdingBack: true), gate: gate)
        let store = start("store", order.place(forKey: "new"))
        let clearAgain = start("clear again", order.placeForAll(holdingBack: true))
        #expect(log.value == [])
        gate.keep(())
        for task in [clear, store, clearAgain] { await task.value }
        #expect(log.value == ["clear", "store", "clear again"])
        await start("later", order.place(forKey: "new")).value
        #expect(log.value.last == "later")
    }
}
