// What is remembered of files read lately, and of which files.

import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct RecentMetadataTests {
    private let recent = RecentMetadata()
    private let expiry = timespec(tv_sec: 2_000_000_000, tv_nsec: 7)

    private func file(_ inode: ino_t, device: dev_t = 1) -> FileIdentity {
        var status = stat()
        (status.st_ino, status.st_dev) = (inode, device)
        return FileIdentity(status)
    }

    private func metadata(_ checksum: UInt64?, lifetime: Lifetime = .absolute, length: Int = 10) -> EntryMetadata {
        EntryMetadata(length: length, lifetime: lifetime, checksum: checksum)
    }

    @Test(arguments: [Lifetime.absolute, .never, .seconds(604_800), .seconds(0.25)])
    func whatWasKeptIsFound(lifetime: Lifetime) {
        let kept = metadata(5, lifetime: lifetime)
        recent.keep(kept, of: file(70), size: 10, expiry: expiry)
        #expect(recent.metadata(of: file(70), size: 10, expiry: expiry) == kept)
    }

    @Test func aFileThatDiffersInAnythingIsAnother() {
        recent.keep(metadata(5), of: file(70), size: 10, expiry: expiry)
        #expect(recent.metadata(of: file(71), size: 10, expiry: expiry) == nil)
        #expect(recent.metadata(of: file(70, device: 2), size: 10, expiry: expiry) == nil)
        #expect(recent.metadata(of: file(70), size: 11, expiry: expiry) == nil)
        let later = timespec(tv_sec: expiry.tv_sec + 1, tv_nsec: expiry.tv_nsec)
        #expect(recent.metadata(of: file(70), size: 10, expiry: later) == nil)
        let littleLater = timespec(tv_sec: expiry.tv_sec, tv_nsec: expiry.tv_nsec + 1)
        #expect(recent.metadata(of: file(70), size: 10, expiry: littleLater) == nil)
    }

    @Test func manyFilesWithNumbersInARowAreAllRemembered() {
        for number in 1_000..<5_000 as Range<ino_t> {
            recent.keep(metadata(UInt64(number)), of: file(number), size: 10, expiry: expiry)
        }
        let found = (1_000..<5_000 as Range<ino_t>).filter {
            recent.metadata(of: file($0), size: 10, expiry: expiry)?.checksum == UInt64($0)
        }
        #expect(found.count == 4_000)
    }

    @Test func ofFilesThatShareAPlaceTheLastIsRemembered() {
        for number in [3, 3 + 4_096, .max] as [ino_t] {
            recent.keep(metadata(UInt64(number)), of: file(number), size: 10, expiry: expiry)
        }
        #expect(recent.metadata(of: file(3), size: 10, expiry: expiry) == nil)
        #expect(recent.metadata(of: file(3 + 4_096), size: 10, expiry: expiry)?.checksum == 3 + 4_096)
        #expect(recent.metadata(of: file(.max), size: 10, expiry: expiry)?.checksum == .max)
    }

    /// Nothing would tell whether it is that of the file.
    @Test func whatSaysNothingOfTheBytesIsNotKept() {
        recent.keep(metadata(nil), of: file(70), size: 10, expiry: expiry)
        recent.keep(metadata(5, length: 9), of: file(71), size: 10, expiry: expiry)
        #expect(recent.metadata(of: file(70), size: 10, expiry: expiry) == nil)
        #expect(recent.metadata(of: file(71), size: 10, expiry: expiry) == nil)
    }
}
