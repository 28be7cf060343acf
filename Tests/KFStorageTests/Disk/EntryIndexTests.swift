// The index of entries, without files: it finds what was recorded, and adds up the sizes.

import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct EntryIndexTests {
    private func record(_ size: Int, access: Int = 0) -> EntryRecord {
        EntryRecord(size: size, access: timespec(tv_sec: access, tv_nsec: 0), expiry: timespec(tv_sec: 100, tv_nsec: 0))
    }

    private static let digits = FileNaming.hash("a")

    @Test(
        "Names of all kinds are returned unchanged",
        arguments: [
            digits, digits + ".png", digits + ".jpg", digits + "é", digits + "0", String(digits.dropLast()),
            digits.uppercased(),
            "a", "é", "e\u{301}", String(repeating: "g", count: 64), String(repeating: "0", count: 64), "🐦.png",
        ]
    ) func names(name: String) {
        var index = EntryIndex()
        index[name] = record(7)
        #expect(index[name]?.size == 7)
        #expect(index.entries.map { Array($0.name.utf8) } == [Array(name.utf8)])
        for other in [Self.digits + ".webp", "b", "e\u{301}\u{301}"] { #expect(index[other] == nil) }
        index[name] = nil
        #expect(index.entries.count == 0 && index.totalSize == 0 && index.entries.isEmpty)
    }

    @Test("Names that are equal as texts and not as bytes are two") func spellings() {
        var index = EntryIndex()
        index["é"] = record(1)
        index["e\u{301}"] = record(2)
        #expect(index.entries.count == 2 && index.totalSize == 3)
    }

    @Test("After any number of changes the index holds what a dictionary would", arguments: 0..<3) func model(
        seed: UInt64
    ) {
        var random = SplitMix(state: seed)
        var (index, model) = (EntryIndex(), [String: EntryRecord]())
        for _ in 0..<5_000 {
            let number = Int(random.next() % 200)
            let name =
                number % 3 == 0 ? "name \(number)" : FileNaming.hash("\(number)") + (number % 3 == 1 ? "" : ".png")
            let new = random.next() % 3 == 0 ? nil : record(Int(random.next() % 1_000), access: number)
            index[name] = new
            model[name] = new
        }
        #expect(index.entries.count == model.count)
        #expect(index.totalSize == model.values.reduce(0) { $0 + $1.size })
        #expect(Dictionary(uniqueKeysWithValues: index.entries.map { ($0.name, $0.record) }) == model)
        #expect(model.allSatisfy { index[$0] == $1 })
    }

    @Test("Files that claim to be enormous, or of other times, break no sum") func extremes() {
        var index = EntryIndex()
        for name in ["a", "b", "c"] { index[name] = record(.max) }
        #expect(index.totalSize == 3 * EntryRecord.largestSize)
        #expect(timespec(tv_sec: .max, tv_nsec: 0).nanoseconds == .max)
        #expect(timespec(tv_sec: -1, tv_nsec: 0).nanoseconds == 0)
        #expect(timespec(tv_sec: 1, tv_nsec: 5).nanoseconds == 1_000_000_005)
    }
}
