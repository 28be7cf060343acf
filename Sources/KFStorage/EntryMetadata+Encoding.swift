// The bytes that an entry's metadata become. Knows nothing of where they lie.

import Foundation

/// What comes first tells what follows:
///
/// - 1 was written before there were checksums: length (8 bytes), lifetime in seconds (8; infinite: never, zero:
///   absolute).
/// - 2 is the same with the checksum after it (8). It is written if a lifetime is no whole number of seconds.
/// - 3 is short: checksum (8), length, lifetime (0: absolute, 1: never, otherwise seconds and 2), and the rest is the
///   key. Length and lifetime have seven bits in every byte, the lowest first, and the eighth says that more follow.
/// - 4 is the same, and the key begins with `https://`, which is left out.
///
/// All numbers are little endian.
extension EntryMetadata {
    private static let lengthOfVersion1 = 17
    private static let lengthOfVersion2 = 25
    private static let commonStart = "https://"

    /// The bytes to write, and whether `key` is among them: if there is room for it.
    func encoded(with key: String? = nil) -> (bytes: [UInt8], holdsKey: Bool) {
        guard let checksum, let code = lifetime.code else { return (encodedAtLength, false) }
        let key = key ?? ""
        let isShortened = key.utf8.starts(with: Self.commonStart.utf8)
        let rest = key.utf8.dropFirst(isShortened ? Self.commonStart.utf8.count : 0)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.room)
        bytes.append(isShortened ? 4 : 3)
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(sevenBitsEach: UInt64(length))
        bytes.append(sevenBitsEach: code)
        guard bytes.count + rest.count <= Self.room else {
            bytes[0] = 3
            return (bytes, false)
        }
        bytes.append(contentsOf: rest)
        return (bytes, true)
    }

    private var encodedAtLength: [UInt8] {
        var bytes: [UInt8] = [checksum == nil ? 1 : 2]
        for number in [UInt64(length), lifetime.seconds.bitPattern, checksum].compactMap({ $0 }) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// `nil` if the bytes are not of this kind.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        self.init(bytes, end: &start)
    }

    /// The key in the bytes, if there is one.
    static func key(in bytes: UnsafeRawBufferPointer) -> String? {
        var end = 0
        guard let version = bytes.first, Self(bytes, end: &end) != nil, version >= 3 else { return nil }
        let key = (version == 4 ? commonStart : "") + String(decoding: bytes[end...], as: UTF8.self)
        return key.isEmpty ? nil : key
    }

    /// Moves `end` to what follows the metadata: the key.
    private init?(_ bytes: UnsafeRawBufferPointer, end: inout Int) {
        func number(at place: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        }
        switch (bytes.first, bytes.count) {
        case (1, Self.lengthOfVersion1...), (2, Self.lengthOfVersion2...):
            let seconds = TimeInterval(bitPattern: number(at: 9))
            guard let length = Int(exactly: number(at: 1)), !seconds.isNaN else { return nil }
            let lifetime = Lifetime(seconds: seconds)
            let hasChecksum = bytes.first == 2
            end = hasChecksum ? Self.lengthOfVersion2 : Self.lengthOfVersion1
            self.init(length: length, lifetime: lifetime, checksum: hasChecksum ? number(at: 17) : nil)
        case (3, 9...), (4, 9...):
            end = 9
            guard let length = bytes.number(at: &end).flatMap({ Int(exactly: $0) }), let code = bytes.number(at: &end)
            else { return nil }
            self.init(length: length, lifetime: Lifetime(code: code), checksum: number(at: 1))
        default: return nil
        }
    }
}

extension Lifetime {
    /// As a number; `nil` if it is none.
    fileprivate var code: UInt64? {
        switch self {
        case .absolute: 0
        case .never: 1
        // Beyond that not every whole number is one that can be told.
        case .seconds(let seconds): seconds <= 0x1p53 ? UInt64(exactly: seconds).map { $0 + 2 } : nil
        }
    }

    fileprivate init(code: UInt64) {
        self = code == 0 ? .absolute : code == 1 ? .never : .seconds(TimeInterval(code - 2))
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
    /// The number at `place`, which moves behind it; `nil` if it does not end, or is too large.
    fileprivate func number(at place: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: UInt64.bitWidth - 1, by: 7) {
            guard place < count else { return nil }
            let byte = self[place]
            place += 1
            number |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return number }
        }
        return nil
    }
}
