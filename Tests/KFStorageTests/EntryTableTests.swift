// The table of entries: against a plain model, and how small it is.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct EntryTableTests {
    private func record(_ size: Int, access: Int = 0, expiry: Int = 4_000_000_000) -> EntryRecord {
        EntryRecord(
            size: size,
            access: timespec(tv_sec: access, tv_nsec: 0),
            expiry: timespec(tv_sec: expiry, tv_nsec: 0)
        )
    }

    private static func digits(_ number: Int) -> String { FileNaming.hash("\(number)") }

    @Test(arguments: [
        "a", "", "UPPER", "0123", digits(1), digits(1) + ".png", digits(1) + "png", String(digits(1).dropLast()),
        digits(1).uppercased(), "😀", digits(1) + ".😀", String(repeating: "x", count: 255),
    ])
    func aNameOfAnyKindIsFoundAndToldAsItWas(name: String) {
        var table = EntryTable()
        table.set(record(1), for: "other")
        #expect(!table.contains(name))
        table.set(record(5), for: name)
        #expect(table.record(of: name) == record(5))
        #expect(Set(table.names) == [name, "other"])
        let removed = table.remove(name)
        #expect(removed == record(5))
        #expect(!table.contains(name))
        #expect(table.names == ["other"])
        #expect(table.totalSize == 1)
    }

    @Test func moreSuffixesThanCanBeNumberedDoNoHarm() {
        var table = EntryTable()
        let names = (0..<300).map { Self.digits($0 % 7) + ".\($0)" }
        for (size, name) in names.enumerated() { table.set(record(size), for: name) }
        #expect(Set(table.names) == Set(names))
        for (size, name) in names.enumerated() { #expect(table.record(of: name)?.size == size) }
        for name in names { table.remove(name) }
        #expect(table.count == 0)
        #expect(table.totalSize == 0)
    }

    @Test(arguments: 0..<4)
    func itDoesWhatADictionaryAndAListDo(seed: UInt64) {
        var random = SplitMix(state: seed)
        var table = EntryTable()
        var model: [String: EntryRecord] = [:]
        var order: [String] = []
        for step in 0..<1_500 {
            let number = Int.random(in: 0..<200, using: &random)
            let name = number.isMultiple(of: 3) ? "odd \(number)" : Self.digits(number)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let record = record(Int.random(in: 0..<100, using: &random), access: step)
                table.set(record, for: name)
                model[name] = record
                order.removeAll { $0 == name }
                order.append(name)
            case 2, 3:
                let removed = table.remove(name)
                #expect(removed == model.removeValue(forKey: name))
                order.removeAll { $0 == name }
            default:
                table.markUsed(name, access: Int64(step), expiry: 7)
                guard model[name] != nil else { break }
                model[name]?.lastAccess = Int64(step)
                model[name]?.expiry = 7
                order.removeAll { $0 == name }
                order.append(name)
            }
            #expect(table.record(of: name) == model[name])
        }
        #expect(table.count == model.count)
        #expect(table.totalSize == model.values.reduce(0) { $0 + $1.size })
        #expect(table.leastRecent(downTo: -1, limit: .max).map(\.name) == order)
        for name in model.keys { #expect(table.record(of: name) == model[name]) }
    }

    @Test func theLeastRecentComeFirstAndOnlyAsManyAsNeeded() {
        var table = EntryTable()
        for number in 0..<10 { table.set(record(10, access: 10 - number), for: "\(number)") }
        #expect(table.leastRecent(downTo: 75, limit: .max).map(\.name) == ["0", "1", "2"])
        #expect(table.leastRecent(downTo: 0, limit: 2).map(\.name) == ["0", "1"])
        #expect(table.leastRecent(downTo: 100, limit: .max).isEmpty)
        table.orderByLastAccess()
        #expect(table.leastRecent(downTo: 75, limit: .max).map(\.name) == ["9", "8", "7"])
    }

    @Test func theExpiredAreFoundAlsoAfterTheirLivesWereProlonged() {
        var table = EntryTable()
        for number in 1...5 { table.set(record(1, expiry: number), for: "\(number)") }
        table.markUsed("1", access: 0, expiry: 9_000_000_000)
        let expired = [500_000_000, 3_000_000_000, 9_000_000_000].map { (instant: Int64) in
            var place = Int.max
            return Set(table.expired(at: instant, limit: .max, place: &place).map(\.name))
        }
        #expect(expired == [[], ["2", "3"], ["1", "2", "3", "4", "5"]])
    }

    @Test(arguments: [1, 3, 256]) func theExpiredComeInPartsWhateverChangesInBetween(limit: Int) {
        var table = EntryTable()
        var random = SplitMix(state: UInt64(limit))
        for number in 0..<500 { table.set(record(1, expiry: number % 10), for: "\(number)") }
        var (place, seen, parts) = (Int.max, Set<String>(), 0)
        var gone: Set<String> = []
        while true {
            let part = table.expired(at: 4_000_000_000, limit: limit, place: &place)
            #expect(part.count <= limit)
            if part.isEmpty { break }
            parts += 1
            seen.formUnion(part.map(\.name))
            // One in seven cannot be removed.
            for name in part.map(\.name) where Int.random(in: 0..<7, using: &random) > 0 { table.remove(name) }
            table.set(record(1, expiry: 7), for: "new \(parts)")
            let other = "\(Int.random(in: 0..<500, using: &random))"
            if table.remove(other) != nil { gone.insert(other) }
        }
        let expected = Set((0..<500).filter { $0 % 10 <= 4 }.map { "\($0)" }).subtracting(gone)
        #expect(seen.isSuperset(of: expected))
        #expect(table.earliestExpiry == table.nodes.map(\.record.expiry).min())
        for name in seen { table.remove(name) }
        let rest = table.expired(at: 4_000_000_000, limit: limit, place: &place)
        #expect(rest.isEmpty)
        // From now on nobody looks at all of them in vain.
        #expect(table.earliestExpiry == 5_000_000_000)
    }

    @Test func noSizesAreTooLargeToBeAddedUp() {
        var table = EntryTable()
        table.set(record(.max), for: "a")
        table.set(record(.min), for: "b")
        #expect(table.totalSize == 1 << 46)
        let names = (0..<131_072).map { "\($0)" }
        for name in names { table.set(record(1 << 46), for: name) }
        #expect(table.totalSize == .max)
        #expect(table.leastRecent(downTo: 1 << 46, limit: .max).count == 131_073)
        for name in names { table.remove(name) }
        #expect(table.totalSize == 1 << 46)
    }

    @Test func timesBeyondWhatCanBeCountedAreForEver() {
        func nanoseconds(_ time: timespec) -> Int64 { EntryRecord(size: 0, access: time, expiry: time).expiry }
        #expect(nanoseconds(timespec(tv_sec: .max, tv_nsec: 0)) == .max)
        #expect(nanoseconds(Date.distantFuture.entryTime) == .max)
        #expect(nanoseconds(timespec(tv_sec: 9_223_372_036, tv_nsec: 999_999_999)) == .max)
        #expect(nanoseconds(timespec(tv_sec: 1, tv_nsec: 5)) == 1_000_000_005)
    }

    @Test func aHundredThousandEntriesTakeLessThanTwelveMegabytes() {
        var table = EntryTable()
        for number in 0..<100_000 {
            let name = PackedName(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, 1, 2, UInt64(number)).text("")
            table.set(record(1), for: name)
        }
        #expect(table.count == 100_000)
        #expect(table.usedBytes < 12_000_000)
    }

    /// Every byte at every place of a name, those around digits and letters among them.
    @Test func onlyLowercaseHexadecimalDigitsArePacked() {
        let digits = Array("0123456789abcdef".utf8)
        let name = digits + digits.reversed() + digits + digits
        for place in name.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = name
                changed[place] = byte
                let packed = changed.withUnsafeBufferPointer { PackedName($0) }
                #expect((packed != nil) == digits.contains(byte))
                if let packed { #expect(Array(packed.text("").utf8) == changed) }
            }
        }
    }
}
