// The layout of what is put into shared tiers: an envelope, numbers and fields. For TierValue and the purge log.

import Foundation
import KFSupport

extension Data {
    /// Appends eight bytes, little endian.
    mutating func append(number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    /// Appends bytes behind their length in eight bytes.
    mutating func append(field: Data) {
        append(number: UInt64(field.count))
        append(field)
    }

    /// The bytes behind a version (1 byte) and their checksum (8).
    func sealed(version: UInt8) -> Data {
        var data = Data([version])
        data.append(number: Checksum.of(self))
        return data + self
    }

    /// The bytes that were ``sealed(version:)``; nil for another version, and for what has changed since.
    func unsealed(version: UInt8) -> Data? {
        var rest = self
        guard rest.popFirst() == version, let checksum = rest.popNumber(), Checksum.of(rest) == checksum else {
            return nil
        }
        return rest
    }

    /// Takes eight bytes from the front.
    mutating func popNumber() -> UInt64? {
        guard count >= 8 else { return nil }
        defer { self = dropFirst(8) }
        return prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Takes a field from the front: the bytes behind their length.
    mutating func popField() -> Data? {
        guard let length = popNumber(), length <= UInt64(count) else { return nil }
        defer { self = dropFirst(Int(length)) }
        return prefix(Int(length))
    }
}
