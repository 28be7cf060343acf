// What is remembered about an entry besides its bytes, and how it lies in the file system. Knows nothing of stores.

import Foundation
import Glibc

/// How long an entry lives from each reading on.
enum Lifetime: Sendable, Equatable {
    case never
    /// Until the instant it was stored with, however often it is read.
    case absolute
    case seconds(TimeInterval)

    init(_ expiration: StorageExpiration) {
        switch expiration {
        case .never: self = .never
        case .seconds(let seconds): self = .seconds(seconds)
        case .days(let days): self = .seconds(TimeConstants.seconds(inDays: days))
        case .date, .expired: self = .absolute
        }
    }

    /// What is stored with this lifetime and expires at `expiry`.
    func expiration(expiry: Date) -> StorageExpiration {
        switch self {
        case .never: .never
        case .absolute: .date(expiry)
        case .seconds(let seconds): .seconds(seconds)
        }
    }
}

/// What is written beside an entry's bytes: its exact length, its lifetime and its key.
///
/// It lies in extended attributes, so that the file itself holds the entry's bytes and nothing else. The key has one of
/// its own: the other is then small enough to lie beside the file's status, and costs a reading next to nothing. A file
/// without them is an entry all the same (the file system may not know attributes): the lifetime is then the distance between
/// the access time and the expiry, and the length is not checked.
struct EntryMetadata: Sendable, Equatable {
    var length: Int
    var lifetime: Lifetime
    var key: String?

    static let attribute = "user.kingfisher"
    static let keyAttribute = "user.kingfisher.key"
    /// Keys longer than this are not written: attributes have to share a block of the file system.
    static let longestKey = 2_000
    private static let version: UInt8 = 1
    static let encodedLength = 17

    /// Version (1 byte), length (8), lifetime in seconds (8; infinite: never, zero: absolute), without the key.
    ///
    /// Little endian.
    func encoded() -> [UInt8] {
        let seconds: TimeInterval =
            switch lifetime {
            case .never: .infinity
            case .absolute: 0
            case .seconds(let seconds): seconds
            }
        var bytes = [Self.version]
        withUnsafeBytes(of: UInt64(length).littleEndian) { bytes += $0 }
        withUnsafeBytes(of: seconds.bitPattern.littleEndian) { bytes += $0 }
        return bytes
    }

    /// `nil` if the bytes are not of this kind.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.encodedLength, bytes[0] == Self.version else { return nil }
        let length = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self))
        let seconds = TimeInterval(bitPattern: bits)
        guard let length = Int(exactly: length), !seconds.isNaN else { return nil }
        self.length = length
        lifetime = seconds == 0 ? .absolute : seconds == .infinity ? .never : .seconds(seconds)
    }

    init(length: Int, lifetime: Lifetime, key: String? = nil) {
        self.length = length
        self.lifetime = lifetime
        self.key = key
    }
}

extension Descriptor {
    /// What is written beside the entry's bytes, if it is.
    func metadata(readingKey: Bool) -> EntryMetadata? {
        var metadata = withAttribute(EntryMetadata.attribute, limit: EntryMetadata.encodedLength) { EntryMetadata($0) }
        if readingKey {
            metadata?.key = withAttribute(EntryMetadata.keyAttribute, limit: EntryMetadata.longestKey) {
                $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self)
            }
        }
        return metadata
    }

    /// Writes `metadata` beside the entry's bytes: without the key if there is no room for it, and not at all if the
    /// file system does not know attributes.
    func attach(_ metadata: EntryMetadata) {
        guard setAttribute(EntryMetadata.attribute, to: metadata.encoded()), let key = metadata.key,
            key.utf8.count <= EntryMetadata.longestKey
        else { return }
        _ = setAttribute(EntryMetadata.keyAttribute, to: Array(key.utf8))
    }
}

extension stat {
    /// The instant the entry expires: its modification time.
    var expiry: Date { Date(entryTime: st_mtim) }
    /// When the entry was stored or last read: its access time.
    var lastAccess: Date { Date(entryTime: st_atim) }
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
}

extension Date {
    /// The year 2400, in seconds since 1970.
    ///
    /// File systems end in 2446 and we do not live so long: what is later than this never happens.
    private static let endOfTime: TimeInterval = 13_569_465_600

    init(entryTime time: timespec) {
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        self = seconds >= Self.endOfTime ? .distantFuture : Date(timeIntervalSince1970: seconds)
    }

    /// As a time of a file, rounded up: no entry is reported expired too early.
    var entryTime: timespec {
        let time = min(max(timeIntervalSince1970, 0), Self.endOfTime)
        let seconds = time.rounded(.down)
        let nanoseconds = Int(((time - seconds) * 1e9).rounded(.up))
        return timespec(tv_sec: Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }
}
