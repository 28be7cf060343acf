// The metadata of an entry, by which damage to its bytes is detected.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct EntryFormatTests: StoreSuite {
    let rig: StoreRig
    let small = Data("a small entry, but one with every byte that matters".utf8)

    init() throws { rig = try StoreRig() }

    /// Puts other bytes into the file of an entry without changing anything else, as a failing disk does.
    private func overwrite(_ name: String, with bytes: Data) throws {
        var status = stat()
        let file = open(scratch("cache/" + name), O_WRONLY | O_TRUNC | O_CLOEXEC)
        try #require(file >= 0 && fstat(file, &status) == 0)
        defer { close(file) }
        let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        try #require(written == bytes.count)
        let times = [clock.now.entryTime, (clock.now + 3_600).entryTime]
        try #require(futimens(file, times) == 0)
    }

    /// Whether an entry whose bytes have become `damaged` is a miss and is removed.
    private func isDetected(_ damaged: Data) throws -> Bool {
        try overwrite("a", with: damaged)
        let found = try store.read("a")
        return found == nil && names(in: scratch("cache")) == []
    }

    // MARK: Damage

    @Test("An entry with one flipped bit is a miss and is removed, whichever bit it is", .needsAttributes)
    func flippedBits() throws {
        for bit in 0..<(8 * small.count) {
            try store.write(small, to: "a", expiration: .days(1))
            var damaged = small
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try isDetected(damaged), "bit \(bit)")
        }
    }

    @Test("A truncated or extended entry is a miss and is removed", .needsAttributes) func truncatedAndExtended() throws
    {
        for length in 0..<small.count {
            try store.write(small, to: "a", expiration: .days(1))
            #expect(try isDetected(small.prefix(length)), "\(length) bytes")
        }
        for extra in [1, 4_096] {
            try store.write(small, to: "a", expiration: .days(1))
            #expect(try isDetected(small + Data(count: extra)))
        }
    }

    @Test("An entry whose file has grown to a terabyte is a miss and is removed without being read", .needsAttributes)
    func enormousEntry() throws {
        try store.write(small, to: "a", expiration: .never)
        let file = open(scratch("cache/a"), O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(ftruncate(file, 1 << 40) == 0)
        try #require(futimens(file, [clock.now.entryTime, Date.distantFuture.entryTime]) == 0)
        #expect(try store.read("a") == nil)
        #expect(names(in: scratch("cache")) == [])
    }

    /// A power loss leaves such an entry when the file system had recorded the length, but not yet written the bytes.
    @Test(
        "An entry with zeros in place of its bytes is a miss and is removed",
        .needsAttributes,
        arguments: [0, 4_096, 16_384]
    )
    func zeroedBytes(start: Int) throws {
        let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
        try store.write(bytes, to: "a", expiration: .days(1))
        let zeros = bytes.prefix(start) + Data(count: bytes.count - start)
        #expect(try isDetected(zeros))
    }

    /// The expected values are those of `XXH3_64bits` in the system's `libxxhash.so`, for so many zeros.
    @Test(
        "The checksum is XXH3",
        arguments: [
            (0, 0x2D06_8005_38D3_94C2), (1, 0xC44B_DFF4_074E_ECDB), (300, 0x56D0_762B_2008_5F91),
            (20_480, 0x5A41_FA7E_18C7_8769),
        ] as [(Int, UInt64)]
    )
    func xxh3Checksum(count: Int, expected: UInt64) {
        #expect(EntryMetadata.checksum(of: Data(count: count)) == expected)
    }

    @Test("An entry without extended attributes is valid, and its bytes are not checked") func withoutAttributes()
        throws
    {
        try store.write(small, to: "a", expiration: .seconds(100))
        removexattr(scratch("cache/a"), EntryMetadata.attribute)
        let other = Data(small.reversed())
        try overwrite("a", with: other)
        #expect(try store.read("a")?.data == other)
    }

    @Test("Without attributes an entry's lifetime is the time from its last access to its expiry")
    func lifetimeWithoutAttributes() throws {
        try store.write(small, to: "a", expiration: .date(clock.now + 100))
        removexattr(scratch("cache/a"), EntryMetadata.attribute)
        clock.advance(40)
        let other = FileStore(path: store.path, clock: clock.read)
        let entry = try #require(try other.read("a"))
        #expect(entry.lifetime == 100)
        try other.touch(entry, extending: .cacheTime)
        #expect(try FileStore(path: store.path, clock: clock.read).read("a")?.expiry == clock.now + 100)
    }
}
