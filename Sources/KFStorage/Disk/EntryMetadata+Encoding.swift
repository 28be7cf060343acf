// The encoding of an entry's metadata. Knows nothing of where it is stored.

import Foundation

/// The encoding: version (1 byte), checksum (8, little endian), length, lifetime, and the rest is the key.
///
/// Length and lifetime have seven bits in every byte, the lowest first, and the eighth bit is set if more follow. The
/// version is 3, or 4 if the key begins with `https://`, which is left out.
extension EntryMetadata {
    private static let commonPrefix = "https://"

    /// The bytes to write, and whether `key` is among them: if there is room for it.
    func encoded(with key: String? = nil) -> (bytes: [UInt8], holdsKey: Bool) {
        let key = key ?? ""
        let isShortened = key.utf8.starts(with: Self.commonPrefix.utf8)
        let rest = key.utf8.dropFirst(isShortened ? Self.commonPrefix.utf8.count : 0)
        var bytes: [UInt8] = [isShortened ? 4 : 3]
        bytes.reserveCapacity(Self.inlineCapacity)
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(sevenBitsEach: UInt64(length))
        bytes.append(sevenBitsEach: lifetimeCode)
        guard bytes.count + rest.count <= Self.inlineCapacity else {
            bytes[0] = 3
            return (bytes, false)
        }
        bytes.append(contentsOf: rest)
        return (bytes, true)
    }

    /// The metadata in the bytes and where the key begins; `nil` if they are not of this kind.
    static func decoded(_ bytes: UnsafeRawBufferPointer) -> (metadata: EntryMetadata, end: Int)? {
        var end = 9
        guard bytes.count >= end, bytes[0] == 3 || bytes[0] == 4,
            let length = bytes.number(at: &end).flatMap({ Int(exactly: $0) }), let code = bytes.number(at: &end)
        else { return nil }
        let checksum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        return (EntryMetadata(length: length, lifetime: lifetime(code), checksum: checksum), end)
    }

    /// The key in the bytes, if there is one.
    static func key(in bytes: UnsafeRawBufferPointer) -> String? {
        guard let (_, end) = decoded(bytes) else { return nil }
        let key = (bytes[0] == 4 ? commonPrefix : "") + String(decoding: bytes[end...], as: UTF8.self)
        return key.isEmpty ? nil : key
    }

    /// The lifetime as a number: 0, 1 for infinite, whole seconds and 2, or the bits of other seconds, which are more.
    private var lifetimeCode: UInt64 {
        if lifetime == 0 || lifetime == .infinity { return lifetime == 0 ? 0 : 1 }
        let isWhole = lifetime > 0 && lifetime < 0x1p53 && lifetime == lifetime.rounded()
        return isWhole ? UInt64(lifetime) + 2 : max(lifetime, 1e-300).bitPattern
    }

    private static func lifetime(_ code: UInt64) -> TimeInterval {
        code < 2
            ? (code == 0 ? 0 : .infinity) : code < 1 << 54 ? TimeInterval(code - 2) : TimeInterval(bitPattern: code)
    }
}

extension [UInt8] {
    fileprivate mutating func append(sevenBitsEach number: UInt64) {
        var rest = number
        while rest > 0x7F {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension UnsafeRawBufferPointer {
    /// The number at `offset`, which moves behind it; `nil` if it does not end, or is too large.
    fileprivate func number(at offset: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: UInt64.bitWidth - 1, by: 7) {
            guard offset < count else { return nil }
            let byte = self[offset]
            offset += 1
            number |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return number }
        }
        return nil
    }
}
