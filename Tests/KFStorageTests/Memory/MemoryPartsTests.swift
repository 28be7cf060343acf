// The parts of the memory store: keys, the table of positions, the queue of expiries.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFStorage

@Suite struct MemoryPartsTests {
    @Test("A key matches its own bytes and no others") func keysMatchTheirBytes() {
        let texts = (0...40).map { String("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG".prefix($0)) }
        let others =
            texts.dropFirst().flatMap { ["\($0.dropLast())!", "!\($0.dropFirst())"] } + ["é", "e\u{301}", "\u{0}"]
        let all = texts + others
        var digests: Set<UInt64> = []
        for (number, text) in all.enumerated() {
            let key = MemoryKey(text)
            digests.insert(key.digest)
            for (other, query) in all.enumerated() {
                let isMatch = MemoryKey.withDigest(of: query) { key.matches($0) }
                #expect(isMatch == (Array(text.utf8) == Array(query.utf8)), "\(number) \(other)")
            }
        }
        #expect(digests.count == Set(all.map { Array($0.utf8) }).count)
    }

    /// Digests that collide in every way: the same bucket, the same mark, the same altogether.
    @Test("The index finds what a dictionary finds") func indexAgainstDictionary() throws {
        var random = SeededGenerator(state: 7)
        var index = MemoryIndex()
        var model: [Int: UInt64] = [:]
        for _ in 0..<20_000 {
            let position = Int(random.next() % 200)
            let digest = UInt64(position % 23) << 34 | UInt64(position % 5)
            if model.removeValue(forKey: position) != nil {
                index.remove(digest, position: position)
            } else {
                index.insert(digest, position: position)
                model[position] = digest
            }
            try #require(index.count == model.count)
            let probe = Int(random.next() % 200)
            let found = index.find(UInt64(probe % 23) << 34 | UInt64(probe % 5)) { $0 == probe }
            try #require(found == (model[probe] == nil ? nil : probe))
        }
    }

    @Test("Expiries are popped in order, and none before its time") func expiriesInOrder() {
        var random = SeededGenerator(state: 3)
        var expiries = MemoryExpiries()
        let instants = (0..<500).map { _ in Double(random.next() % 100) }
        for (number, instant) in instants.enumerated() {
            let tag = MemoryTag(shard: 1, position: number)
            expiries.push(.init(instant: instant, tag: tag, ticket: expiries.newTicket()))
        }
        expiries.push(.init(instant: .infinity, tag: MemoryTag(shard: 0, position: 0), ticket: 0))
        #expect(expiries.items.count == 500)
        expiries.keep { $0.tag.position % 2 == 0 }
        var popped: [Double] = []
        while let item = expiries.popDue(at: 50) { popped.append(item.instant) }
        let expected = instants.indices.filter { $0 % 2 == 0 }.map { instants[$0] }.filter { $0 <= 50 }.sorted()
        #expect(popped == expected)
        #expect(!expiries.items.isEmpty)
    }

    @Test("Expiry items of entries that are gone do not pile up") func staleExpiries() {
        let core = MemoryCore(configuration: .init(countLimit: 10), clock: nil)
        for number in 0..<10_000 {
            _ = core.store(Box(), forKey: "\(number % 3)", cost: 1, expiration: nil, ifGeneration: nil)
        }
        #expect(core.order.withLock { $0.expiries.items.count } < 100)
    }

    private final class Box: Sendable {}
}
