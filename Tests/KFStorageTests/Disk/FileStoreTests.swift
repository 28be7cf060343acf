// The file store without failures: reading, writing, expiry, listing, cleaning.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct FileStoreTests: StoreSuite {
    let rig: StoreRig

    init() throws { rig = try StoreRig() }

    @Test(
        "Reading returns what was written, and the file holds nothing else",
        arguments: [0, 1, 14, 15, 20_000, 3_000_000]
    )
    func writeAndRead(count: Int) throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try store.write(data, to: "a", expiration: .days(7))
        #expect(try store.read("a")?.data == data)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("cache/a"))) == data)
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(temporaryFiles(of: scratch("cache")) == [])
    }

    @Test("Writing again replaces the entry") func writeReplaces() throws {
        try store.write(Data("one, and longer".utf8), to: "a", expiration: .days(7))
        try store.write(Data("two".utf8), to: "a", expiration: .days(7))
        #expect(try store.read("a")?.data == Data("two".utf8))
    }

    @Test("A write that may not replace is an error where there is an entry, and leaves it")
    func writeWithoutReplacing() throws {
        try store.write(Data("one".utf8), to: "a", expiration: .days(7), replacing: false)
        #expect(throws: StorageError(.write, scratch("cache/a"), EEXIST)) {
            try store.write(Data("two".utf8), to: "a", expiration: .days(7), replacing: false)
        }
        #expect(try store.read("a")?.data == Data("one".utf8))
        #expect(temporaryFiles(of: scratch("cache")) == [])
        #expect(store.counts.stores == 1)
    }

    @Test("Reading, removing and listing where nothing is stored are no errors") func missingEntries() throws {
        #expect(try store.read("a") == nil)
        #expect(try store.remove("a") == false)
        #expect(try store.totalSize() == 0)
        #expect(try store.entries() == [])
        #expect(try store.removeExpired() == [])
        #expect(!store.contains("a"))
        #expect(!FileManager.default.fileExists(atPath: scratch("cache")))
    }

    @Test("An expired entry is a miss") func expiredEntry() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .seconds(10))
        clock.advance(9.999)
        #expect(store.contains("a"))
        #expect(try store.read("a") != nil)
        clock.advance(0.002)
        #expect(!store.contains("a"))
        #expect(try store.read("a") == nil)
        #expect(try store.read("a", at: clock.now - 5) != nil)
    }

    @Test("Writing with an expiration that has passed leaves the entry") func writeExpired() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .days(1))
        try store.write(Data("b".utf8), to: "a", expiration: .expired)
        try store.write(Data("b".utf8), to: "b", expiration: .seconds(0))
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(try store.read("a")?.data == Data("a".utf8))
    }

    @Test("Reading does not extend an entry's life, touching does") func touchExtends() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .seconds(10))
        clock.advance(6)
        let entry = try #require(try store.read("a"))
        #expect(entry.expiry == clock.now + 4)
        try store.touch(entry, extending: .cacheTime)
        #expect(try store.read("a")?.expiry == clock.now + 10)
        #expect(try store.entries().first?.lastAccess == clock.now)
    }

    @Test("Touching can keep or replace the expiry") func touchedExpiry() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .seconds(10))
        let written = clock.now
        clock.advance(6)
        try store.touch(try #require(try store.read("a")), extending: .none)
        #expect(try store.read("a")?.expiry == written + 10)
        try store.touch(try #require(try store.read("a")), extending: .expirationTime(.seconds(100)))
        #expect(try store.read("a")?.expiry == clock.now + 100)
        clock.advance(1)
        try store.touch(try #require(try store.read("a")), extending: .cacheTime)
        #expect(try store.read("a")?.expiry == clock.now + 10)
    }

    @Test("An expiry given as a date stays, however often the entry is touched") func absoluteDateStays() throws {
        let end = clock.now + 10
        try store.write(Data("a".utf8), to: "a", expiration: .date(end))
        clock.advance(5)
        try store.touch(try #require(try store.read("a")), extending: .cacheTime)
        #expect(try store.read("a")?.expiry == end)
    }

    @Test(
        "An entry stored without a time limit never expires",
        arguments: [StorageExpiration.never, .date(.distantFuture), .days(.max)]
    )
    func neverExpires(expiration: StorageExpiration) throws {
        try store.write(Data("a".utf8), to: "a", expiration: expiration)
        #expect(try store.read("a")?.expiry == .distantFuture)
        try store.touch(try #require(try store.read("a")), extending: .cacheTime)
        clock.advance(86_400 * 365 * 100)
        #expect(store.contains("a"))
    }

    @Test("Touching an entry that was replaced since it was read changes nothing") func touchAfterReplacement() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .seconds(1_000))
        let old = try #require(try store.read("a"))
        try store.write(Data("b".utf8), to: "a", expiration: .seconds(10))
        try store.touch(old, extending: .cacheTime)
        #expect(try store.read("a")?.expiry == clock.now + 10)
        try store.remove("a")
        try store.touch(old, extending: .cacheTime)
        #expect(names(in: scratch("cache")) == [])
    }

    @Test("Discarding an entry that was replaced since it was read removes nothing") func discardAfterReplacement()
        throws
    {
        try store.write(Data("bad".utf8), to: "a", expiration: .days(1))
        let bad = try #require(try store.read("a"))
        try store.write(Data("good".utf8), to: "a", expiration: .days(1))
        try store.discard(bad)
        let good = try #require(try store.read("a"))
        #expect(good.data == Data("good".utf8))
        try store.discard(good)
        #expect(try store.read("a") == nil)
        try store.discard(good)
    }

    @Test("Entries are listed with their keys") func listedKeys() throws {
        let keys = [
            "https://example.com/a.png", "emoji 📷", "new\nline", "nul\u{0}", String(repeating: "k", count: 10_000),
        ]
        for key in keys {
            try store.write(Data(key.utf8), to: FileNaming().fileName(forKey: key), key: key, expiration: .days(1))
        }
        let entries = try store.entries()
        #expect(Set(entries.map(\.name)) == Set(keys.map { FileNaming.hash($0) }))
        let remembered = entries.filter { $0.key != nil }
        // A file system without extended attributes stores no key; the last key is too long for any.
        #expect(remembered.isEmpty || remembered.count == keys.count - 1)
        #expect(remembered.allSatisfy { keys.contains($0.key ?? "") && $0.size == $0.key?.utf8.count })
        for key in keys { #expect(try store.read(FileNaming.hash(key))?.data == Data(key.utf8)) }
    }

    @Test("The total size is the sum of the sizes of all entries") func totalSize() throws {
        for count in [0, 1, 10, 100] { try store.write(Data(count: count), to: "\(count)", expiration: .days(1)) }
        #expect(try store.totalSize() == 111)
    }

    @Test("Removing the expired entries keeps the others") func removeExpired() throws {
        for seconds in [10, 20, 30] {
            try store.write(Data(count: 1), to: "\(seconds)", expiration: .seconds(Double(seconds)))
        }
        clock.advance(20)
        #expect(try store.removeExpired().sorted() == ["10", "20"])
        #expect(names(in: scratch("cache")) == ["30"])
    }

    @Test("Trimming starts with the least recently used entry") func trimByLastAccess() throws {
        for number in 0..<10 {
            try store.write(Data(count: 10), to: "\(number)", expiration: .days(1))
            clock.advance(1)
        }
        try store.touch(try #require(try store.read("0")), extending: .cacheTime)
        #expect(try store.trim(above: 100, to: 50) == [])
        #expect(try store.trim(above: 99, to: 50).sorted() == ["1", "2", "3", "4", "5"])
        #expect(try store.totalSize() == 50)
    }

    @Test("Removing all leaves an empty directory that works") func removeAll() throws {
        for name in ["a", "b"] { try store.write(Data(count: 1), to: name, expiration: .days(1)) }
        try FileManager.default.createDirectory(atPath: scratch("cache/x/y"), withIntermediateDirectories: true)
        try store.removeAll()
        #expect(names(in: scratch("cache")) == [])
        try store.write(Data(count: 1), to: "a", expiration: .days(1))
        #expect(store.contains("a"))
    }

    @Test(
        "A name that leads out of the directory is refused",
        arguments: FileNamingTests.hostileKeys.filter { !FileNaming.isSafe($0.text) }
    )
    func unsafeNames(key: FileNamingTests.HostileKey) throws {
        let name = key.text
        #expect(throws: StorageError(.name, name, EINVAL)) {
            try store.write(Data("x".utf8), to: name, expiration: .days(1))
        }
        #expect(throws: StorageError.self) { try store.read(name) }
        #expect(throws: StorageError.self) { try store.remove(name) }
        #expect(!store.contains(name))
    }
}
