// What is remembered about an entry besides its bytes, and how it lies in the file system. Knows nothing of stores.

import CKFLinux
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

    /// In one number: zero for ``absolute``, infinite for ``never``.
    init(seconds: TimeInterval) {
        self = seconds == 0 ? .absolute : seconds == .infinity ? .never : .seconds(seconds)
    }

    /// In one number: zero for ``absolute``, infinite for ``never``.
    var seconds: TimeInterval {
        switch self {
        case .never: .infinity
        case .absolute: 0
        case .seconds(let seconds): seconds
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

/// What is written beside an entry's bytes: their exact number, their checksum, the entry's lifetime, its key, and what
/// those above want to be kept with it.
///
/// It lies in extended attributes, so that the file itself holds the entry's bytes and nothing else. Length, checksum and
/// lifetime, and with them a key that is short enough, are so few bytes that they lie beside the file's status (``room``):
/// that costs a reading next to nothing, and a store a third of what a further attribute does. A longer key and an
/// attachment share one (``EntrySupplement``). A file without them is an entry all the same (the file system may not know
/// attributes): the lifetime is then the distance between the access time and the expiry, and length and bytes are not
/// checked.
struct EntryMetadata: Sendable, Equatable {
    var length: Int
    var lifetime: Lifetime
    /// The checksum of the bytes; `nil` in entries that were written before there were checksums.
    var checksum: UInt64?

    static let attribute = "user.kingfisher"
    /// What ext4 has room for beside a file's status, in an attribute of this name: what is longer takes a block of its
    /// own, and that to be found, entered in the journal, written and later read.
    static let room = 60

    init(length: Int, lifetime: Lifetime, checksum: UInt64?) {
        self.length = length
        self.lifetime = lifetime
        self.checksum = checksum
    }

    /// What is written beside `data`.
    init(of data: Data, lifetime: Lifetime) {
        self.init(length: data.count, lifetime: lifetime, checksum: Self.checksum(of: data))
    }

    /// XXH3, 64 bits: of those whose bits all depend on all bytes the fastest.
    ///
    /// Of 20 KB: 0.4 µs, or 1.0 µs on processors
    /// without AVX2; CRC-32 takes 1.4 µs, CRC-32C 2.1 µs, XXH64 1.9 µs.
    static func checksum(of data: Data) -> UInt64 {
        data.withUnsafeBytes { kf_checksum($0.baseAddress, $0.count) }
    }

    /// Whether `data` is what was written.
    func describes(_ data: Data) -> Bool {
        data.count == length && (checksum.map { $0 == Self.checksum(of: data) } ?? true)
    }
}

extension Descriptor {
    /// What is written beside the entry's bytes, if it is.
    var metadata: EntryMetadata? {
        withAttribute(EntryMetadata.attribute, limit: EntryMetadata.room) { EntryMetadata($0) }
    }

    /// The key that is written beside the entry's bytes, if it is.
    var key: String? {
        let short = withAttribute(EntryMetadata.attribute, limit: EntryMetadata.room) { EntryMetadata.key(in: $0) }
        return short ?? supplement.key
    }

    /// Writes all that belongs to a new entry beside its bytes, what matters most first.
    ///
    /// The rest is missing if there is no room for it, and all of it if the file system does not know attributes.
    func attach(_ metadata: EntryMetadata, attachment: [UInt8]?, key: String?) {
        let (encoded, holdsKey) = metadata.encoded(with: key)
        guard setAttribute(EntryMetadata.attribute, to: encoded) else { return }
        let supplement = EntrySupplement(key: holdsKey ? nil : key, attachment: attachment)
        if !supplement.isEmpty { _ = keep(supplement) }
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
        // What is no number is no time in the future.
        let time = timeIntervalSince1970 > 0 ? min(timeIntervalSince1970, Self.endOfTime) : 0
        let seconds = time.rounded(.down)
        let nanoseconds = Int(((time - seconds) * 1e9).rounded(.up))
        return timespec(tv_sec: Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }
}
