// User metadata: written, read, replaced and removed with its entry.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct UserMetadataTests: StoreSuite {
    let rig: StoreRig
    let bytes = Data("the entry".utf8)
    let metadata = Array("ETag: \"1\"".utf8)

    init() throws { rig = try StoreRig() }

    @Test("User metadata is stored with its entry and is read by another store", .needsAttributes)
    func storedWithEntry() throws {
        try store.write(bytes, to: "a", key: "key", expiration: .days(1), userMetadata: metadata)
        let later = FileStore(path: store.path, clock: clock.read)
        #expect(try later.userMetadata(of: "a") == metadata)
        #expect(try later.read("a")?.userMetadata == metadata)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("cache/a"))) == bytes)
        #expect(try later.entries().first?.key == "key")
    }

    @Test("Writing an entry again replaces its user metadata", .needsAttributes) func replacedWithEntry() throws {
        try store.write(bytes, to: "a", expiration: .days(1), userMetadata: metadata)
        try store.write(bytes, to: "a", expiration: .days(1), userMetadata: [1, 2])
        #expect(try store.userMetadata(of: "a") == [1, 2])
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(try store.userMetadata(of: "a") == nil)
    }

    @Test("User metadata is compared in the very file that is changed", .needsAttributes) func conditionalChange()
        throws
    {
        try store.write(bytes, to: "a", expiration: .days(1), userMetadata: [1])
        #expect(try !store.setUserMetadata([2], of: "a") { $0 == [7] })
        #expect(try store.setUserMetadata([2], of: "a") { $0 == [1] })
        // Another process replaces the entry between the read and the change: its metadata is that of other bytes.
        let other = FileStore(path: store.path, clock: clock.read)
        let isKept = try store.setUserMetadata([4], of: "a") { kept in
            #expect(throws: Never.self) {
                try other.write(Data("newer".utf8), to: "a", expiration: .days(1), userMetadata: [3])
            }
            return kept == [2]
        }
        #expect(!isKept)
        #expect(try store.userMetadata(of: "a") == [3])
    }

    @Test("User metadata is removed with its entry") func removedWithEntry() throws {
        try store.write(bytes, to: "a", expiration: .days(1), userMetadata: metadata)
        try store.remove("a")
        #expect(try store.userMetadata(of: "a") == nil)
        #expect(try store.setUserMetadata(metadata, of: "a") == false)
        #expect(names(in: scratch("cache")) == [])
    }

    @Test("Changing user metadata does not change the entry", .needsAttributes) func changedEntry() throws {
        try store.write(bytes, to: "a", expiration: .seconds(100), userMetadata: metadata)
        let entry = try #require(try store.read("a"))
        let listed = try store.entries()
        clock.advance(10)
        for other in [[7], Array(repeating: 3, count: EntryMetadata.longestUserMetadata), []] as [[UInt8]] {
            #expect(try store.setUserMetadata(other, of: "a"))
            #expect(try store.userMetadata(of: "a") == (other.isEmpty ? nil : other))
        }
        #expect(try store.setUserMetadata(nil, of: "a"))
        #expect(try store.entries() == listed)
        // The entry still is the one that was read: its life can be extended.
        try store.touch(entry, extending: .cacheTime)
        #expect(try store.read("a")?.expiry == clock.now + 100)
    }

    @Test("User metadata that is too long is refused, and the entry is written") func tooLong() throws {
        let long = [UInt8](repeating: 1, count: EntryMetadata.longestUserMetadata + 1)
        try store.write(bytes, to: "a", expiration: .days(1), userMetadata: long)
        #expect(try store.read("a")?.data == bytes)
        #expect(try store.userMetadata(of: "a") == nil)
        #expect(try store.setUserMetadata(long, of: "a") == false)
    }

    @Test("The longest user metadata and the longest key fit together", .needsAttributes) func longestWithLongestKey()
        throws
    {
        let key = String(repeating: "k", count: EntryMetadata.longestKey)
        let longest = [UInt8](repeating: 1, count: EntryMetadata.longestUserMetadata)
        try store.write(bytes, to: "a", key: key, expiration: .days(1), userMetadata: longest)
        #expect(try store.userMetadata(of: "a") == longest)
        #expect(try store.entries().first?.key == key)
        #expect(try store.read("a")?.lifetime == 86_400)
    }

    @Test("A directory has no user metadata, and a name that leads elsewhere is refused") func noEntry() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        #expect(try store.userMetadata(of: "a") == nil)
        #expect(try store.setUserMetadata(metadata, of: "a") == false)
        #expect(throws: StorageError(.name, "../a", EINVAL)) { try store.userMetadata(of: "../a") }
        #expect(throws: StorageError(.name, "../a", EINVAL)) { try store.setUserMetadata(metadata, of: "../a") }
    }
}
