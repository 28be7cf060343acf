// LRU: order, costs, and that removal keeps both. Knows nothing of caches.

import KFSupport
import Testing

@Suite struct LRUTests {
    private func order<Value>(_ list: LRU<String, Value>) -> [String] {
        var list = list
        var keys: [String] = []
        while let slot = list.leastRecent {
            keys.append(list.key(at: slot))
            list.remove(at: slot)
        }
        return keys
    }

    private func filled(_ keys: String...) -> LRU<String, Int> {
        var list = LRU<String, Int>()
        for (number, key) in keys.enumerated() { list.insert(number, forKey: key, cost: number) }
        return list
    }

    @Test func theFirstInIsTheLeastRecent() {
        #expect(order(filled("a", "b", "c")) == ["a", "b", "c"])
    }

    @Test func aUseMovesToTheFront() throws {
        var list = filled("a", "b", "c")
        list.markUsed(try #require(list.slot(forKey: "a")))
        list.markUsed(try #require(list.slot(forKey: "a")))
        #expect(order(list) == ["b", "c", "a"])
    }

    @Test func lookingIsNotAUse() {
        let list = filled("a", "b")
        _ = list.slot(forKey: "a").map { list[$0] }
        #expect(order(list) == ["a", "b"])
    }

    @Test func insertingAgainReplacesValueAndCostAndIsAUse() throws {
        var list = filled("a", "b", "c")
        #expect(list.insert(9, forKey: "b", cost: 10) == 1)
        #expect(list.totalCost == 12)
        #expect(list.count == 3)
        #expect(list[try #require(list.slot(forKey: "b"))] == 9)
        #expect(order(list) == ["a", "c", "b"])
    }

    @Test(arguments: ["a", "b", "c", "d"])
    func removingOneKeepsTheOthersInOrder(key: String) throws {
        var list = filled("a", "b", "c", "d")
        let slot = try #require(list.slot(forKey: key))
        let value = list[slot]
        #expect(list.remove(at: slot) == value)
        #expect(list.slot(forKey: key) == nil)
        #expect(list.totalCost == 6 - value)
        #expect(order(list) == ["a", "b", "c", "d"].filter { $0 != key })
    }

    @Test func removingByConditionAnswersWhatWent() {
        var list = filled("a", "b", "c", "d", "e")
        #expect(list.removeAll { $0 % 2 == 0 }.sorted() == [0, 2, 4])
        #expect(order(list) == ["b", "d"])
    }

    /// Against the obvious slow implementation, over many random steps.
    @Test func doesWhatAnArrayDoes() throws {
        var random = SplitMix(state: 42)
        var list = LRU<Int, Int>()
        var model: [(key: Int, value: Int, cost: Int)] = []
        for step in 0..<20_000 {
            let key = Int(random.next() % 50)
            let index = model.firstIndex { $0.key == key }
            switch random.next() % 4 {
            case 0:
                list.insert(step, forKey: key, cost: key)
                if let index { model.remove(at: index) }
                model.append((key, step, key))
            case 1:
                #expect(list.slot(forKey: key).map { list.remove(at: $0) } == index.map { model.remove(at: $0).value })
            case 2:
                if let slot = list.slot(forKey: key) { list.markUsed(slot) }
                if let index { model.append(model.remove(at: index)) }
            default:
                if list.count > 30, let slot = list.leastRecent {
                    #expect(list.remove(at: slot) == model.removeFirst().value)
                }
            }
            try #require(list.count == model.count)
            try #require(list.totalCost == model.reduce(0) { $0 + $1.cost })
            try #require(list.leastRecent.map { list.key(at: $0) } == model.first?.key)
        }
    }
}

/// Random numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
