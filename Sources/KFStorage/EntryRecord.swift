// What is known of an entry without opening it. Knows nothing of its name and its bytes.

import Foundation
import Glibc

/// What is known of one entry.
struct EntryRecord: Equatable, Sendable {
    /// Its length in bytes, at most ``largestSize``.
    private(set) var size: Int
    /// When it was stored or last read, in nanoseconds since 1970.
    var lastAccess: Int64
    /// When it expires, in nanoseconds since 1970; the largest number means never.
    var expiry: Int64

    /// What counts as the length of a file that claims to be even longer: no disk holds that much.
    static let largestSize = 1 << 46

    init(size: Int, access: timespec, expiry: timespec) {
        self.size = min(max(0, size), Self.largestSize)
        lastAccess = access.nanoseconds
        self.expiry = expiry.nanoseconds
    }

    init(_ status: stat) { self.init(size: Int(status.st_size), access: status.st_atim, expiry: status.st_mtim) }
}

extension timespec {
    /// Nanoseconds since 1970, as far as they go: beyond the year 2262 it is always the largest number, before 1970 zero.
    var nanoseconds: Int64 {
        guard tv_sec >= 0 else { return 0 }
        let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return .max }
        let (sum, tooMuch) = product.addingReportingOverflow(Int64(tv_nsec))
        return tooMuch ? .max : sum
    }
}
