// The metadata of files read lately. Knows nothing of how it lies in the file system.

import Glibc
import KFSupport

/// Remembers what lies beside the files read lately: asking for it takes a fifth of the time that reading a small entry takes.
///
/// A file is known again by its identity, its length and its expiry. Two files in a row may still have all of these in
/// common; so what is found here is good for a file only if the file's bytes are those it describes.
final class RecentMetadata: Sendable {
    /// Small, as every reading fetches one: from memory, if many entries are read.
    private struct Slot: Sendable {
        /// What the file is known by; 0 if there is none.
        var mark: UInt64 = 0
        var checksum: UInt64 = 0
        var seconds: Double = 0
    }

    /// Every file has one place, which it shares with many.
    ///
    /// Numbers of files made in a row are mostly in a row, too, so most of them lie in a few pages. Memory is taken for
    /// those that are used; for all it is 100 KB.
    private static let pages = 64
    private static let placesOfPage = 64
    private let slots = Locked<[ContiguousArray<Slot>]>([])

    private static func place(of file: FileIdentity) -> (page: Int, index: Int) {
        let number = Int(truncatingIfNeeded: file.inode)
        return (number / placesOfPage & (pages - 1), number & (placesOfPage - 1))
    }

    /// A number that no two files have in common that differ in any of this, or hardly ever.
    private static func mark(of file: FileIdentity, size: Int, expiry: timespec) -> UInt64 {
        var mark: UInt64 = 0
        func mix(_ number: some BinaryInteger) {
            let product = (mark ^ UInt64(truncatingIfNeeded: number)) &* 0x9E37_79B9_7F4A_7C15
            mark = product ^ product >> 32
        }
        mix(file.inode)
        mix(file.device)
        mix(size)
        mix(expiry.tv_sec)
        mix(expiry.tv_nsec)
        return max(mark, 1)
    }

    /// What was kept of the file that has this identity, length and expiry.
    func metadata(of file: FileIdentity, size: Int, expiry: timespec) -> EntryMetadata? {
        let (page, index) = Self.place(of: file)
        let slot = slots.withLock { $0.isEmpty || $0[page].isEmpty ? Slot() : $0[page][index] }
        guard slot.mark == Self.mark(of: file, size: size, expiry: expiry) else { return nil }
        return EntryMetadata(length: size, lifetime: Lifetime(seconds: slot.seconds), checksum: slot.checksum)
    }

    /// Keeps what lies beside the file that has this identity, length and expiry.
    ///
    /// Only if it has a checksum: what says nothing of the bytes could be that of another file.
    func keep(_ metadata: EntryMetadata, of file: FileIdentity, size: Int, expiry: timespec) {
        guard let checksum = metadata.checksum, metadata.length == size else { return }
        let mark = Self.mark(of: file, size: size, expiry: expiry)
        let slot = Slot(mark: mark, checksum: checksum, seconds: metadata.lifetime.seconds)
        let (page, index) = Self.place(of: file)
        slots.withLock { slots in
            if slots.isEmpty { slots = Array(repeating: [], count: Self.pages) }
            if slots[page].isEmpty { slots[page] = ContiguousArray(repeating: Slot(), count: Self.placesOfPage) }
            slots[page][index] = slot
        }
    }
}
