// How an entry's metadata and its key are written beside it, and that nothing else is taken for it.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct EntryEncodingTests {
    let clock = TestClock()
    let scratch: Scratch
    let store: FileStore
    let bytes = Data("a small entry".utf8)

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read)
    }

    /// The attribute called `name` of the entry `a`.
    private func attribute(_ name: String) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 4_096)
        let count = getxattr(scratch("cache/a"), name, &value, value.count)
        return count < 0 ? nil : Array(value.prefix(count))
    }

    private func setAttribute(_ name: String, to value: [UInt8]) throws {
        try #require(setxattr(scratch("cache/a"), name, value, value.count, 0) == 0)
    }

    private func decoded(_ bytes: [UInt8]) -> EntryMetadata? {
        bytes.withUnsafeBytes { EntryMetadata.decoded($0)?.metadata }
    }
    private func key(_ bytes: [UInt8]) -> String? { bytes.withUnsafeBytes { EntryMetadata.key(in: $0) } }

    // MARK: Bytes

    @Test(
        arguments: [.infinity, 0, 0.5, 1, 12.5, 127, 604_800, 0x1p53, 0x1p53 - 1, 1e300, 1e-9] as [TimeInterval],
        [0, 0x0123_4567_89AB_CDEF] as [UInt64]
    )
    func metadataSurvivesItsEncoding(lifetime: TimeInterval, checksum: UInt64) {
        for length in [0, 1, 127, 128, 20_480, Int.max] {
            let metadata = EntryMetadata(length: length, lifetime: lifetime, checksum: checksum)
            let (bytes, _) = metadata.encoded(with: "key")
            #expect(decoded(bytes) == metadata)
            #expect(bytes.count <= EntryMetadata.room)
        }
    }

    /// Caches are read by later versions of the library, and on other machines.
    @Test func theEncodingIsWhatItAlwaysWas() {
        let metadata = EntryMetadata(length: 258, lifetime: 1, checksum: 0x0123_4567_89AB_CDEF)
        let checksum: [UInt8] = [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]

        #expect(metadata.encoded(with: "key").bytes == [3] + checksum + [0x82, 0x02, 3] + Array("key".utf8))
        #expect(metadata.encoded(with: "https://a").bytes == [4] + checksum + [0x82, 0x02, 3] + Array("a".utf8))
        #expect(metadata.encoded().bytes == [3] + checksum + [0x82, 0x02, 3])
    }

    @Test func nothingElseIsTakenForMetadata() {
        let endless = [UInt8](repeating: 255, count: 40)
        let garbage: [[UInt8]] = [
            [], [1, 2, 3], [UInt8](repeating: 9, count: 30), [1] + [UInt8](repeating: 255, count: 16),
            [2] + [UInt8](repeating: 0, count: 23), [0] + [UInt8](repeating: 0, count: 24),
            [3], [3] + [UInt8](repeating: 0, count: 8), [4] + [UInt8](repeating: 0, count: 9), [3] + endless,
            [4] + endless,
            // Lengths and lifetimes that begin and do not end, and one that no file has.
            [3] + [UInt8](repeating: 0, count: 8) + [0x80], [3] + [UInt8](repeating: 0, count: 9) + [0x80],
            [3] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 255, count: 9) + [1, 0],
        ]
        for bytes in garbage {
            #expect(decoded(bytes) == nil, "\(bytes)")
            #expect(key(bytes) == nil, "\(bytes)")
        }
    }

    // MARK: Keys

    /// Whatever has room in the first attribute lies there, and the rest in one of its own; what comes back is the same.
    @Test(.needsAttributes, arguments: ["", "https://", "http://", "ключ-"])
    func keysOfAllLengthsAreListed(start: String) throws {
        var places: Set<Bool> = []
        for length in 0...80 {
            let key = start + String(repeating: "k", count: length)
            try store.write(bytes, to: "a", key: key, expiration: .days(7))
            #expect(try store.entries().first?.key == (key.isEmpty ? nil : key))
            let first = try #require(attribute(EntryMetadata.attribute))
            #expect(first.count <= EntryMetadata.room)
            let second = attribute(EntrySupplement.attribute)
            #expect(second == nil || second == EntrySupplement(key: key).encoded())
            #expect((second == nil) == (self.key(first) != nil) || key.isEmpty)
            places.insert(second == nil)
            #expect(try FileStore(path: store.path, clock: clock.read).read("a")?.lifetime == 604_800)
        }
        #expect(places == [true, false])
    }

    @Test func aKeyOf45BytesHasRoomAndOneMoreWithoutTheCommonStart() {
        let metadata = EntryMetadata(length: 1 << 20, lifetime: 604_800, checksum: 1)
        for (key, hasRoom) in [
            (String(repeating: "k", count: 45), true), (String(repeating: "k", count: 46), false),
            ("https://" + String(repeating: "k", count: 45), true),
            ("https://" + String(repeating: "k", count: 46), false),
        ] {
            let (bytes, holdsKey) = metadata.encoded(with: key)
            #expect(holdsKey == hasRoom)
            #expect(self.key(bytes) == (hasRoom ? key : nil))
            #expect(decoded(bytes) == metadata)
        }
    }

    @Test(.needsAttributes) func theKeyOfALifetimeOfHalfASecondIsListed() throws {
        try store.write(bytes, to: "a", key: "key", expiration: .seconds(99.5))
        #expect(try store.entries().first?.key == "key")
        #expect(try FileStore(path: store.path, clock: clock.read).read("a")?.lifetime == 99.5)
    }

    /// What lies in the second attribute, and that anything else is taken for nothing.
    @Test func supplementsSurviveTheirEncodingAndGarbageIsNone() {
        func decoded(_ bytes: [UInt8]) -> EntrySupplement { bytes.withUnsafeBytes { EntrySupplement($0) } }
        let longKey = String(repeating: "ы", count: EntrySupplement.longestKey / 2)
        let longest = [UInt8](repeating: 7, count: EntrySupplement.longestAttachment)
        for key in [nil, "k", "ключ", longKey] {
            for attachment in [nil, [0], longest] as [[UInt8]?] {
                let supplement = EntrySupplement(key: key, attachment: attachment)
                #expect(decoded(supplement.encoded()) == supplement)
                #expect(supplement.key == key && supplement.attachment == attachment)
            }
        }
        #expect(EntrySupplement(key: "key", attachment: [9, 8]).encoded() == [1, 3, 0, 107, 101, 121, 9, 8])
        #expect(EntrySupplement(key: longKey + "k", attachment: longest + [7]).isEmpty)
        #expect(EntrySupplement(key: "", attachment: []).isEmpty)
        for garbage in [[], [1], [1, 0], [1, 4, 0, 107, 101, 121], [2, 1, 0, 107], [1, 255, 255], [0, 0, 0, 0]]
            as [[UInt8]]
        {
            #expect(decoded(garbage).isEmpty, "\(garbage)")
        }
        #expect(decoded([1, 1, 0, 0xFF, 5]) == EntrySupplement(attachment: [5]))
    }

    /// What later versions may write: the entry is valid, and what is not understood is not there.
    @Test(.needsAttributes, arguments: [20, 60, 200])
    func whatIsNotUnderstoodIsNotThere(length: Int) throws {
        try store.write(bytes, to: "a", key: "key", expiration: .seconds(100))
        try setAttribute(EntryMetadata.attribute, to: [5] + [UInt8](repeating: 1, count: length - 1))
        let later = FileStore(path: store.path, clock: clock.read)
        #expect(try later.read("a")?.data == bytes)
        #expect(try later.entries().first?.key == nil)
    }
}
