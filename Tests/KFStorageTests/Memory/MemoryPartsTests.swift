// The parts of the memory store: keys, the entries of a part, the queue of expiries.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFStorage

@Suite struct MemoryPartsTests {
    @Test("Keys with the same bytes have the same digest, and others do not") func digestsOfKeys() {
        let texts = (0...40).map { String("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG".prefix($0)) }
        let others =
            texts.dropFirst().flatMap { ["\($0.dropLast())!", "!\($0.dropFirst())"] } + ["é", "e\u{301}", "\u{0}"]
        let all = texts + others
        let distinct = Set(all.map { Array($0.utf8) })
        #expect(Set(all.map { MemoryKey($0).digest }).count == distinct.count)
        #expect(
            all.allSatisfy { MemoryKey(String(decoding: Array($0.utf8), as: UTF8.self)).digest == MemoryKey($0).digest }
        )
    }

    @Test("An entry is not found by another key of the same digest") func sameDigest() {
        var part = MemoryPart.State()
        func key(_ text: String) -> MemoryKey { MemoryKey(text: text, digest: 1) }
        func entry(_ text: String) -> MemoryEntry {
            MemoryEntry(key: key(text), value: Box(), expiry: 10, expiration: .never, survivesPurge: false)
        }
        _ = part.put(entry("a"))
        #expect(part.entry(of: key("a")) != nil && part.entry(of: key("b")) == nil)
        #expect(part.put(entry("b"))?.key.text == "a")
        #expect(part.entry(of: key("a")) == nil && part.entry(of: key("b")) != nil)
    }

    @Test("Expiries are popped in order, and none before its time") func expiriesInOrder() {
        var random = SeededGenerator(state: 3)
        var expiries = MemoryExpiries()
        let instants = (0..<500).map { _ in Double(random.next() % 100) }
        for (number, instant) in instants.enumerated() {
            expiries.push(.init(instant: instant, digest: UInt64(number), ticket: expiries.newTicket()))
        }
        expiries.push(.init(instant: .infinity, digest: 0, ticket: 0))
        #expect(expiries.items.count == 500)
        expiries.keep { $0.digest % 2 == 0 }
        var popped: [Double] = []
        while let item = expiries.popDue(at: 50) { popped.append(item.instant) }
        let expected = instants.indices.filter { $0 % 2 == 0 }.map { instants[$0] }.filter { $0 <= 50 }.sorted()
        #expect(popped == expected)
        #expect(!expiries.items.isEmpty)
    }

    @Test("Expiry items of entries that are gone do not pile up") func staleExpiries() {
        let core = MemoryCore(configuration: .init(countLimit: 10), clock: nil)
        for number in 0..<10_000 {
            _ = core.store(Box(), forKey: "\(number % 3)", cost: 1, expiration: nil, ifVersion: nil)
        }
        #expect(core.order.withLock { $0.expiries.items.count } < 100)
    }

    private final class Box: Sendable {}
}
