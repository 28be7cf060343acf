// How an entry's metadata and its key are encoded, and that other bytes are not taken for them.

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
        "Decoding returns the metadata that was encoded",
        arguments: [.infinity, 0, 0.5, 1, 12.5, 127, 604_800, 0x1p53, 0x1p53 - 1, 1e300, 1e-9] as [TimeInterval],
        [0, 0x0123_4567_89AB_CDEF] as [UInt64]
    )
    func metadataRoundTrip(lifetime: TimeInterval, checksum: UInt64) {
        for length in [0, 1, 127, 128, 20_480, Int.max] {
            let metadata = EntryMetadata(length: length, lifetime: lifetime, checksum: checksum)
            let (bytes, _) = metadata.encoded(with: "key")
            #expect(decoded(bytes) == metadata)
            #expect(bytes.count <= EntryMetadata.inlineCapacity)
        }
    }

    /// Caches are read by later versions of the library, and on other machines.
    @Test("The encoding is the documented one, byte for byte") func stableEncoding() {
        let metadata = EntryMetadata(length: 258, lifetime: 1, checksum: 0x0123_4567_89AB_CDEF)
        let checksum: [UInt8] = [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]

        #expect(metadata.encoded(with: "key").bytes == [3] + checksum + [0x82, 0x02, 3] + Array("key".utf8))
        #expect(metadata.encoded(with: "https://a").bytes == [4] + checksum + [0x82, 0x02, 3] + Array("a".utf8))
        #expect(metadata.encoded().bytes == [3] + checksum + [0x82, 0x02, 3])
    }

    @Test("Decoding returns nil for bytes of any other kind") func decodingRejectsGarbage() {
        let endless = [UInt8](repeating: 255, count: 40)
        let garbage: [[UInt8]] = [
            [], [1, 2, 3], [UInt8](repeating: 9, count: 30), [1] + [UInt8](repeating: 255, count: 16),
            [2] + [UInt8](repeating: 0, count: 23), [0] + [UInt8](repeating: 0, count: 24),
            [3], [3] + [UInt8](repeating: 0, count: 8), [4] + [UInt8](repeating: 0, count: 9), [3] + endless,
            [4] + endless,
            // Lengths and lifetimes that do not end, and a length that no file has.
            [3] + [UInt8](repeating: 0, count: 8) + [0x80], [3] + [UInt8](repeating: 0, count: 9) + [0x80],
            [3] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 255, count: 9) + [1, 0],
        ]
        for bytes in garbage {
            #expect(decoded(bytes) == nil, "\(bytes)")
            #expect(key(bytes) == nil, "\(bytes)")
        }
    }

    // MARK: Keys

    /// A key that fits lies in the first attribute, a longer one in the second; the listed key is the same.
    @Test(
        "Keys of all lengths are listed, in the first attribute or the second",
        .needsAttributes,
        arguments: ["", "https://", "http://", "ключ-"]
    )
    func keysOfAllLengths(start: String) throws {
        var fitsFirst: Set<Bool> = []
        for length in 0...80 {
            let key = start + String(repeating: "k", count: length)
            try store.write(bytes, to: "a", key: key, expiration: .days(7))
            #expect(try store.entries().first?.key == (key.isEmpty ? nil : key))
            let first = try #require(attribute(EntryMetadata.attribute))
            #expect(first.count <= EntryMetadata.inlineCapacity)
            let second = attribute(SecondaryMetadata.attribute)
            #expect(second == nil || second == SecondaryMetadata(key: key).encoded())
            #expect((second == nil) == (self.key(first) != nil) || key.isEmpty)
            fitsFirst.insert(second == nil)
            #expect(try FileStore(path: store.path, clock: clock.read).read("a")?.lifetime == 604_800)
        }
        #expect(fitsFirst == [true, false])
    }

    /// The second attribute, and that bytes of another kind decode to an empty one.
    @Test("Secondary metadata is decoded as it was encoded; bytes of any other kind decode to an empty one")
    func secondaryMetadataRoundTrip() {
        func decoded(_ bytes: [UInt8]) -> SecondaryMetadata { bytes.withUnsafeBytes { SecondaryMetadata($0) } }
        let longKey = String(repeating: "ы", count: SecondaryMetadata.longestKey / 2)
        let longest = [UInt8](repeating: 7, count: SecondaryMetadata.longestUserMetadata)
        for key in [nil, "k", "ключ", longKey] {
            for userMetadata in [nil, [0], longest] as [[UInt8]?] {
                let secondary = SecondaryMetadata(key: key, userMetadata: userMetadata)
                #expect(decoded(secondary.encoded()) == secondary)
                #expect(secondary.key == key && secondary.userMetadata == userMetadata)
            }
        }
        #expect(SecondaryMetadata(key: "key", userMetadata: [9, 8]).encoded() == [1, 3, 0, 107, 101, 121, 9, 8])
        #expect(SecondaryMetadata(key: longKey + "k", userMetadata: longest + [7]).isEmpty)
        #expect(SecondaryMetadata(key: "", userMetadata: []).isEmpty)
        for garbage in [[], [1], [1, 0], [1, 4, 0, 107, 101, 121], [2, 1, 0, 107], [1, 255, 255], [0, 0, 0, 0]]
            as [[UInt8]]
        {
            #expect(decoded(garbage).isEmpty, "\(garbage)")
        }
        #expect(decoded([1, 1, 0, 0xFF, 5]) == SecondaryMetadata(userMetadata: [5]))
    }

    /// What later versions may write: the entry is valid, and the metadata is ignored.
    @Test(
        "Metadata of an unknown version is ignored, and the entry is valid",
        .needsAttributes,
        arguments: [20, 60, 200]
    )
    func unknownVersion(length: Int) throws {
        try store.write(bytes, to: "a", key: "key", expiration: .seconds(100))
        try setAttribute(EntryMetadata.attribute, to: [5] + [UInt8](repeating: 1, count: length - 1))
        let later = FileStore(path: store.path, clock: clock.read)
        #expect(try later.read("a")?.data == bytes)
        #expect(try later.entries().first?.key == nil)
    }
}
