// The encoding of an entry's metadata and key, and the rejection of other bytes.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct EntryEncodingTests: StoreSuite {
    let rig: StoreRig
    let bytes = Data("a small entry".utf8)

    init() throws { rig = try StoreRig() }

    /// The attribute called `name` of the entry `a`.
    private func attribute(_ name: String) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 4_096)
        let count = getxattr(scratch("cache/a"), name, &value, value.count)
        return count < 0 ? nil : Array(value.prefix(count))
    }

    private func setAttribute(to value: [UInt8]) throws {
        try #require(setxattr(scratch("cache/a"), EntryMetadata.attribute, value, value.count, 0) == 0)
    }

    private func metadata(lifetime: TimeInterval, key: String? = nil, userMetadata: [UInt8]? = nil) -> EntryMetadata {
        EntryMetadata(of: bytes, lifetime: lifetime, key: key, userMetadata: userMetadata)
    }

    // MARK: Bytes

    @Test(
        "Decoding returns the metadata that was encoded",
        arguments: [.infinity, 0, 0.5, 1, 604_800, 31_536_000, 0x1p100] as [TimeInterval]
    )
    func metadataRoundTrip(lifetime: TimeInterval) {
        let longKey = String(repeating: "ы", count: EntryMetadata.longestKey / 2)
        let longest = [UInt8](repeating: 7, count: EntryMetadata.longestUserMetadata)
        for key in [nil, "k", "https://a", "ключ", longKey] {
            for userMetadata in [nil, [0], longest] as [[UInt8]?] {
                for (length, checksum) in [(0, 0), (20_480, 0x0123_4567_89AB_CDEF), (UInt32.max, UInt64.max)] {
                    var metadata = metadata(lifetime: lifetime, key: key, userMetadata: userMetadata)
                    (metadata.length, metadata.checksum) = (length, checksum)
                    #expect(EntryMetadata(metadata.encoded) == metadata)
                    #expect(metadata.key == key && metadata.userMetadata == userMetadata)
                    #expect(TimeInterval(metadata.lifetime) == lifetime)
                }
            }
        }
        #expect(metadata(lifetime: 1, key: longKey + "k", userMetadata: longest + [7]) == metadata(lifetime: 1))
        #expect(metadata(lifetime: 1, key: "", userMetadata: []) == metadata(lifetime: 1))
    }

    /// Caches are read by later versions of the library, and on other machines.
    @Test("The encoding is the documented one, byte for byte") func stableEncoding() {
        var metadata = metadata(lifetime: 1, key: "key", userMetadata: [9, 8])
        (metadata.length, metadata.checksum) = (258, 0x0123_4567_89AB_CDEF)
        // The version, the checksum, the length, the lifetime.
        var bytes: [UInt8] = [6, 0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01, 2, 1, 0, 0, 0, 0, 0x80, 0x3F]
        bytes += Array("key".utf8)

        #expect(metadata.encoded == bytes + [255, 9, 8])
        metadata.userMetadata = nil
        #expect(metadata.encoded == bytes)
    }

    @Test("The lifetime is exact to seven digits, and the length compared in its lower 32 bits") func roundedNumbers() {
        var metadata = metadata(lifetime: 1_234_567.891)
        #expect(abs(TimeInterval(metadata.lifetime) / 1_234_567.891 - 1) < 1e-7)
        metadata.length = 5
        #expect(metadata.hasLength(5) && metadata.hasLength(5 + 1 << 32) && !metadata.hasLength(6))
    }

    @Test("Decoding returns nil for bytes of any other kind") func decodingRejectsGarbage() {
        let zeros = [UInt8](repeating: 0, count: 40)
        let garbage: [[UInt8]] = [
            [], [6], [1, 2, 3], zeros, [4] + zeros, [5] + zeros, [7] + zeros, [6] + zeros.prefix(15),
        ]
        for bytes in garbage { #expect(EntryMetadata(bytes) == nil, "\(bytes)") }
        // A key that is no UTF-8.
        #expect(EntryMetadata([6] + zeros.prefix(16) + [0xC0, 0xFF, 5])?.key == nil)
        #expect(EntryMetadata([6] + zeros.prefix(16) + [0xC0, 0xFF, 5, 0xFF])?.userMetadata == [5, 0xFF])
    }

    // MARK: Files

    @Test(
        "Keys of all lengths are listed, and lie in the one attribute with the user metadata",
        .needsAttributes,
        arguments: ["", "https://", "ключ-"]
    )
    func keysOfAllLengths(start: String) throws {
        for length in 0...80 {
            let key = start + String(repeating: "k", count: length)
            try store.write(bytes, to: "a", key: key, expiration: .days(7), userMetadata: [1, 2])
            #expect(try store.entries().first?.key == (key.isEmpty ? nil : key))
            let expected = metadata(lifetime: 604_800, key: key, userMetadata: [1, 2])
            #expect(attribute(EntryMetadata.attribute) == expected.encoded)
            #expect(try FileStore(path: store.path, clock: clock.read).read("a")?.lifetime == 604_800)
        }
    }

    /// Earlier and later versions write other metadata, whose bytes must not be read as those of this version.
    @Test(
        "An entry with metadata of another version is a miss and is removed",
        .needsAttributes,
        arguments: [1, 20, 60, 200, 4_000]
    )
    func unknownVersion(length: Int) throws {
        for version: UInt8 in [4, 5, 7] {
            try store.write(bytes, to: "a", key: "key", expiration: .seconds(100))
            try setAttribute(to: [version] + [UInt8](repeating: 1, count: length - 1))
            #expect(try store.entries().first?.key == nil)
            #expect(try !store.setUserMetadata([1], of: "a"))
            #expect(try store.read("a") == nil)
            #expect(names(in: scratch("cache")) == [])
        }
    }

    @Test("An entry with the attribute of earlier versions is a miss and is removed", .needsAttributes)
    func formerAttribute() throws {
        try store.write(bytes, to: "a", expiration: .seconds(100))
        let value = [5] + [UInt8](repeating: 1, count: 40)
        try #require(setxattr(scratch("cache/a"), EntryMetadata.formerAttribute, value, value.count, 0) == 0)
        removexattr(scratch("cache/a"), EntryMetadata.attribute)
        #expect(try store.read("a") == nil)
        #expect(names(in: scratch("cache")) == [])
    }
}
