// What is kept with an entry: written, read, replaced and gone with it. Knows nothing of what it means.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct AttachmentTests {
    let clock = TestClock()
    let scratch: Scratch
    let store: FileStore
    let bytes = Data("the entry".utf8)
    let facts = Array("ETag: \"1\"".utf8)

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read)
    }

    @Test(.needsAttributes) func anAttachmentIsKeptWithItsEntryAndOutlivesTheStore() throws {
        try store.write(bytes, to: "a", key: "key", expiration: .days(1), attachment: facts)
        let later = FileStore(path: store.path, clock: clock.read)
        #expect(try later.attachment(of: "a") == facts)
        #expect(try later.read("a", withAttachment: true)?.attachment == facts)
        #expect(try later.read("a")?.attachment == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("cache/a"))) == bytes)
        #expect(try later.entries().first?.key == "key")
    }

    @Test(.needsAttributes) func writingAnEntryAgainReplacesItsAttachment() throws {
        try store.write(bytes, to: "a", expiration: .days(1), attachment: facts)
        try store.write(bytes, to: "a", expiration: .days(1), attachment: [1, 2])
        #expect(try store.attachment(of: "a") == [1, 2])
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(try store.attachment(of: "a") == nil)
    }

    @Test(.needsAttributes) func whatIsKeptIsComparedInTheFileThatIsChanged() throws {
        try store.write(bytes, to: "a", expiration: .days(1), attachment: [1])
        #expect(try !store.setAttachment([2], of: "a") { $0 == [7] })
        #expect(try store.setAttachment([2], of: "a") { $0 == [1] })
        // Another process replaces the entry between the look and the change: its facts are those of other bytes.
        let other = FileStore(path: store.path, clock: clock.read)
        let isKept = try store.setAttachment([4], of: "a") { kept in
            #expect(throws: Never.self) {
                try other.write(Data("newer".utf8), to: "a", expiration: .days(1), attachment: [3])
            }
            return kept == [2]
        }
        #expect(!isKept)
        #expect(try store.attachment(of: "a") == [3])
    }

    @Test func anAttachmentGoesWithItsEntry() throws {
        try store.write(bytes, to: "a", expiration: .days(1), attachment: facts)
        try store.remove("a")
        #expect(try store.attachment(of: "a") == nil)
        #expect(try store.setAttachment(facts, of: "a") == false)
        #expect(names(in: scratch("cache")) == [])
    }

    @Test(.needsAttributes) func anAttachmentCanBeReplacedWithoutTouchingTheEntry() throws {
        try store.write(bytes, to: "a", expiration: .seconds(100), attachment: facts)
        let entry = try #require(try store.read("a"))
        let listed = try store.entries()
        clock.advance(10)
        for other in [[7], Array(repeating: 3, count: FileStore.longestAttachment), []] as [[UInt8]] {
            #expect(try store.setAttachment(other, of: "a", ifStill: entry))
            #expect(try store.attachment(of: "a", ifStill: entry) == (other.isEmpty ? nil : other))
        }
        #expect(try store.setAttachment(nil, of: "a"))
        #expect(try store.entries() == listed)
        // The entry still is the one that was read: it can be prolonged.
        try store.touch(entry, extending: .cacheTime)
        #expect(try store.read("a")?.expiry == clock.now + 100)
    }

    @Test(.needsAttributes) func anAttachmentIsNotForWhatReplacedTheEntry() throws {
        try store.write(bytes, to: "a", expiration: .days(1), attachment: facts)
        let old = try #require(try store.read("a"))
        try store.write(Data("newer".utf8), to: "a", expiration: .days(1), attachment: [5])
        #expect(try store.setAttachment(facts, of: "a", ifStill: old) == false)
        #expect(try store.attachment(of: "a", ifStill: old) == nil)
        #expect(try store.attachment(of: "a") == [5])
    }

    /// File systems give the number of a file that is gone to the next one.
    @Test(.needsAttributes) func anAttachmentIsNotForWhatHasTheNumberOfTheEntry() throws {
        for _ in 0..<20 {
            try store.write(bytes, to: "a", expiration: .days(1), attachment: facts)
            let old = try #require(try store.read("a"))
            for newer in ["newer", "newest"] { try store.write(Data(newer.utf8), to: "a", expiration: .days(1)) }
            #expect(try store.attachment(of: "a", ifStill: old) == nil)
            #expect(try store.setAttachment(facts, of: "a", ifStill: old) == false)
            #expect(try store.attachment(of: "a") == nil)
        }
    }

    @Test func anAttachmentThatIsTooLongIsRefusedAndTheEntryIsWritten() throws {
        let long = [UInt8](repeating: 1, count: FileStore.longestAttachment + 1)
        try store.write(bytes, to: "a", expiration: .days(1), attachment: long)
        #expect(try store.read("a")?.data == bytes)
        #expect(try store.attachment(of: "a") == nil)
        #expect(try store.setAttachment(long, of: "a") == false)
    }

    @Test(.needsAttributes) func theLongestAttachmentAndTheLongestKeyHaveRoomTogether() throws {
        let key = String(repeating: "k", count: EntrySupplement.longestKey)
        let longest = [UInt8](repeating: 1, count: FileStore.longestAttachment)
        try store.write(bytes, to: "a", key: key, expiration: .days(1), attachment: longest)
        #expect(try store.attachment(of: "a") == longest)
        #expect(try store.entries().first?.key == key)
        #expect(try store.read("a")?.lifetime == 86_400)
    }

    @Test func whatIsNoEntryHasNoAttachment() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        #expect(try store.attachment(of: "a") == nil)
        #expect(try store.setAttachment(facts, of: "a") == false)
        #expect(throws: StorageError(.name, "../a", EINVAL)) { try store.attachment(of: "../a") }
        #expect(throws: StorageError(.name, "../a", EINVAL)) { try store.setAttachment(facts, of: "../a") }
    }
}
