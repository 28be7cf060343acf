// The metadata of an entry on disk, and how it lies in the file system. For FileStore.

import CKFLinux
import Foundation
import Glibc
import KFSupport

/// The metadata written with an entry's bytes.
///
/// It lies in one extended attribute: version (1 byte), checksum (8), length (4), the bits of the lifetime (4), all
/// little endian; then the key in UTF-8 and, if there is user metadata, a byte of 255, which no UTF-8 has, and that.
/// Up to 68 bytes, with a name of up to four after its dot, ext4 stores beside a file's status; for more it has to find
/// a block. A file with metadata of another version is not what was written. One without attributes is an entry (the
/// file system may not support them): the lifetime is then the distance between the access time and the expiry, and the
/// bytes are not checked.
struct EntryMetadata: Sendable, Equatable {
    /// The checksum of the bytes.
    var checksum: UInt64
    /// How many bytes there are; of more than four gigabytes, the lower 32 bits of that number.
    var length: UInt32
    /// How many seconds the entry lives from each read on, to seven digits: 0 if it expires at a date, infinite if
    /// never.
    var lifetime: Float
    /// The key and the user metadata as they are stored: only few readers need them.
    private var rest: ArraySlice<UInt8>

    static let attribute = "user.kf"
    /// Where versions before 6 had theirs.
    static let formerAttribute = "user.kingfisher"
    /// Longer keys are not written: on ext4, all attributes of a file share a block, which is 4,096 bytes.
    static let longestKey = 2_000
    /// Longer user metadata is refused, for the same reason.
    static let longestUserMetadata = 1_500
    private static let version: UInt8 = 6
    private static let headLength = 17
    private static let separator: UInt8 = 255
    static let longestEncoding = headLength + longestKey + 1 + longestUserMetadata

    /// The metadata of `data`, without what is empty or too long.
    init(of data: Data, lifetime: TimeInterval, key: String? = nil, userMetadata: [UInt8]? = nil) {
        (checksum, length) = (Self.checksum(of: data), UInt32(truncatingIfNeeded: data.count))
        self.lifetime = Float(lifetime)
        rest = ArraySlice((key?.utf8.count ?? 0) <= Self.longestKey ? (key ?? "").utf8 : "".utf8)
        self.userMetadata = userMetadata.flatMap { $0.count <= Self.longestUserMetadata ? $0 : nil }
    }

    /// The key; `nil` if there is none, or it was too long.
    var key: String? {
        let key = rest.prefix { $0 != Self.separator }
        return key.isEmpty ? nil : String(validating: key, as: UTF8.self)
    }

    /// Bytes that the store does not interpret; `nil` if there are none, or too many.
    var userMetadata: [UInt8]? {
        get { rest.firstIndex(of: Self.separator).map { Array(rest[($0 + 1)...]) } }
        set {
            rest = rest.prefix { $0 != Self.separator }
            if let newValue, !newValue.isEmpty { rest += [Self.separator] + newValue }
        }
    }

    /// The same without key and user metadata.
    var head: EntryMetadata {
        var head = self
        head.rest = []
        return head
    }

    static func checksum(of data: Data) -> UInt64 { Checksum.of(data) }

    func hasLength(_ count: Int) -> Bool { length == UInt32(truncatingIfNeeded: count) }

    /// Whether `data` is what was written.
    func describes(_ data: Data) -> Bool { hasLength(data.count) && checksum == Self.checksum(of: data) }

    // MARK: Encoding

    /// The metadata in `bytes`; `nil` if they are of another kind or version.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, bytes[0] == Self.version else { return nil }
        func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
            Number(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) })
        }
        (checksum, length, lifetime) = (number(at: 1), number(at: 9), Float(bitPattern: number(at: 13)))
        rest = bytes[Self.headLength...]
    }

    var encoded: [UInt8] {
        var bytes = [Self.version]
        withUnsafeBytes(of: checksum.littleEndian) { bytes += $0 }
        for number in [length, lifetime.bitPattern] { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
        return bytes + rest
    }
}

extension Descriptor {
    /// The bytes of the metadata, of whatever version; `nil` if there are none.
    var encodedMetadata: [UInt8]? {
        // Most are short, and the kernel first clears as many bytes as it is asked for.
        let short = attribute(EntryMetadata.attribute, limit: 512)
        if short == [] { return attribute(EntryMetadata.attribute, limit: EntryMetadata.longestEncoding) }
        return short ?? attribute(EntryMetadata.formerAttribute, limit: EntryMetadata.longestEncoding)
    }

    /// The metadata of the entry; `nil` if there is none, or of another version.
    var metadata: EntryMetadata? { encodedMetadata.flatMap { EntryMetadata($0) } }

    /// Writes the metadata of a new entry, without key and user metadata if there is no room for them.
    ///
    /// If the file system supports no attributes, none are written.
    func attach(_ metadata: EntryMetadata) {
        guard !setAttribute(EntryMetadata.attribute, to: metadata.encoded) else { return }
        if metadata.head != metadata { _ = setAttribute(EntryMetadata.attribute, to: metadata.head.encoded) }
    }
}

extension StorageExpiration {
    /// How many seconds an entry stored with it lives from each read on.
    var lifetime: TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): seconds
        case .days(let days): Self.seconds(inDays: days)
        case .date, .expired: 0
        }
    }
}

extension stat {
    /// The instant the entry expires: its modification time.
    var expiry: Date { Date(entryTime: st_mtim) }
    /// When the entry was stored or last read: its access time.
    var lastAccess: Date { Date(entryTime: st_atim) }
    /// How many bytes it adds to the size of all entries; a file may claim more than a sum can hold, and than any disk.
    var entrySize: Int { isRegularFile ? min(Int(st_size), 1 << 46) : 0 }
    var isRegularFile: Bool { kind == 0o100_000 }
    var isDirectory: Bool { kind == 0o040_000 }
    /// Compared with numbers that are the same on every Linux: Glibc's names of them are functions of another library.
    private var kind: mode_t { st_mode & 0o170_000 }
}

extension Date {
    /// The year 2400, in seconds since 1970: file systems end in 2446, and what is later than this never happens.
    private static let endOfTime: TimeInterval = 13_569_465_600

    init(entryTime time: timespec) {
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        self = seconds >= Self.endOfTime ? .distantFuture : Date(timeIntervalSince1970: seconds)
    }

    /// As a time of a file, rounded up: no entry is reported expired too early.
    var entryTime: timespec {
        // NaN is no time in the future.
        let time = timeIntervalSince1970 > 0 ? min(timeIntervalSince1970, Self.endOfTime) : 0
        let seconds = time.rounded(.down)
        let nanoseconds = Int(((time - seconds) * 1e9).rounded(.up))
        return timespec(tv_sec: Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }
}
