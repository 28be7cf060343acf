// The file store with what is far from usual: keys, sizes, clocks.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

@Suite struct ExtremesTests {
    let clock = TestClock()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read)
    }

    // MARK: Sizes

    /// It would take more memory than there is.
    @Test(.needsAttributes) func anEntryThatHasBecomeMonstrousIsNotEvenRead() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .never)
        let file = open(scratch("cache/a"), O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(ftruncate(file, 1 << 40) == 0)
        try #require(futimens(file, [clock.now.entryTime, Date.distantFuture.entryTime]) == 0)
        #expect(try store.read("a") == nil)
        #expect(names(in: scratch("cache")) == [])
    }

    // MARK: Clocks

    @Test(arguments: [-2_000_000_000, 20_000_000_000, 1e300, -1e300] as [TimeInterval])
    func aClockOutsideAllTimeBreaksNothing(jump: TimeInterval) throws {
        clock.advance(jump)
        try store.write(Data("a".utf8), to: "a", expiration: .days(1))
        if let entry = try store.read("a") { try store.touch(entry, extending: .cacheTime) }
        try store.removeExpired()
        #expect(try store.entries().count <= 1)
        clock.advance(-jump)
        try store.write(Data("b".utf8), to: "a", expiration: .never)
        #expect(try store.read("a")?.data == Data("b".utf8))
    }

    @Test func anExpirationThatIsNoNumberExpires() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .seconds(.nan))
        #expect(try store.read("a") == nil)
        try store.write(Data("a".utf8), to: "a", expiration: .days(1))
        let entry = try #require(try store.read("a"))
        try store.touch(entry, extending: .expirationTime(.seconds(.nan)))
        #expect(try store.read("a")?.expiry == entry.expiry)
    }
}
