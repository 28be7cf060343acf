// What is stored about an entry besides its bytes, and how it lies in the file system. Knows nothing of stores.

import CKFLinux
import Foundation
import Glibc

/// The metadata written with an entry's bytes: their number, their checksum and the entry's lifetime.
///
/// It lies in an extended attribute, with the key if that is short: so few bytes that they are stored in the file's
/// inode (``inlineCapacity``), which costs a third of what a further attribute does. A longer key and user metadata
/// share another attribute (``SecondaryMetadata``). A file without attributes is an entry all the same (the file system
/// may not support them): the lifetime is then the distance between the access time and the expiry, and the bytes are
/// not checked.
struct EntryMetadata: Sendable, Equatable {
    var length: Int
    /// How many seconds the entry lives from each read on: 0 if it expires at a date, infinite if never.
    var lifetime: TimeInterval
    /// The checksum of the bytes.
    var checksum: UInt64

    static let attribute = "user.kingfisher"
    /// The bytes that ext4 stores in a file's inode for an attribute of this name: a longer value takes a block of its
    /// own.
    static let inlineCapacity = 60

    /// XXH3, 64 bits; 20 KB take 0.4 µs.
    static func checksum(of data: Data) -> UInt64 {
        data.withUnsafeBytes { kf_checksum($0.baseAddress, $0.count) }
    }

    /// Whether `data` is what was written.
    func describes(_ data: Data) -> Bool {
        data.count == length && checksum == Self.checksum(of: data)
    }
}

extension EntryMetadata {
    /// The metadata of `data`.
    init(of data: Data, lifetime: TimeInterval) {
        self.init(length: data.count, lifetime: lifetime, checksum: Self.checksum(of: data))
    }
}

extension Descriptor {
    /// The metadata written with the entry's bytes, if there is any.
    var metadata: EntryMetadata? {
        withAttribute(EntryMetadata.attribute, limit: EntryMetadata.inlineCapacity) {
            EntryMetadata.decoded($0)?.metadata
        }
    }

    /// The key written with the entry's bytes, if there is one.
    var key: String? {
        let short = withAttribute(EntryMetadata.attribute, limit: EntryMetadata.inlineCapacity) {
            EntryMetadata.key(in: $0)
        }
        return short ?? secondary.key
    }

    /// Writes the attributes of a new entry, the most important first.
    ///
    /// The key and the user metadata are left out if there is no room for them, and all attributes if the file system
    /// does not support them.
    func attach(_ metadata: EntryMetadata, userMetadata: [UInt8]?, key: String?) {
        let (encoded, holdsKey) = metadata.encoded(with: key)
        guard setAttribute(EntryMetadata.attribute, to: encoded) else { return }
        let secondary = SecondaryMetadata(key: holdsKey ? nil : key, userMetadata: userMetadata)
        if !secondary.isEmpty { _ = keep(secondary) }
    }
}

extension StorageExpiration {
    /// How many seconds an entry stored with it lives from each read on.
    var lifetime: TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): seconds
        case .days(let days): TimeConstants.seconds(inDays: days)
        case .date, .expired: 0
        }
    }
}

extension stat {
    /// The instant the entry expires: its modification time.
    var expiry: Date { Date(entryTime: st_mtim) }
    /// When the entry was stored or last read: its access time.
    var lastAccess: Date { Date(entryTime: st_atim) }
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
