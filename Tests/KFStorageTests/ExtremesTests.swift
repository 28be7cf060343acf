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

    // MARK: Keys

    static let keys = [
        "../../etc/passwd", "/etc/passwd", "..", ".", "", ".hidden", "a/b", "nul\u{0}inside", "\u{0}", "new\nline", "📷",
        "-rf", " ", String(repeating: "k", count: 10_000), String(repeating: "📷", count: 64), "e\u{301}", "\u{e9}", "~",
        "con", ".kf-leftover", "%2e%2e%2f",
    ]
    static let extensions: [String?] = [
        nil, "", "png", "../../x", "a/b", ".", "\u{0}", "new\nline", "📷", String(repeating: "e", count: 10_000),
    ]

    @Test(arguments: [true, false], Self.extensions)
    func everyKeyHasAFileInTheDirectoryAndNowhereElse(usesHash: Bool, forcedExtension: String?) throws {
        let naming = FileNaming(usesHash: usesHash, keepsExtensionOfKey: true)
        for (index, key) in Self.keys.enumerated() {
            let name = naming.fileName(forKey: key, forcedExtension: forcedExtension)
            try store.write(Data("\(index)".utf8), to: name, key: key, expiration: .days(1))
        }
        for (index, key) in Self.keys.enumerated() {
            let name = naming.fileName(forKey: key, forcedExtension: forcedExtension)
            #expect(try store.read(name)?.data == Data("\(index)".utf8), "\(key.prefix(20))")
        }
        // Two spellings of é are one key to Swift, and so to a dictionary, but not one name to the file system.
        #expect(names(in: scratch("cache")).count == Self.keys.count)
        #expect(names(in: scratch.path) == [".cache.tmp", "cache"])
        for key in Self.keys {
            #expect(try store.remove(naming.fileName(forKey: key, forcedExtension: forcedExtension)))
        }
        #expect(names(in: scratch("cache")) == [])
    }

    // MARK: Sizes

    @Test func anEntryOfTwoHundredMegabytesIsAnEntryLikeAnyOther() throws {
        var bytes = Data(count: 200 << 20)
        bytes[100 << 20] = 1
        bytes[(200 << 20) - 1] = 2
        try store.write(bytes, to: "large", expiration: .days(1))
        let isTheSame = try store.read("large")?.data == bytes
        #expect(isTheSame)
        #expect(try store.totalSize() == 200 << 20)
        try store.remove("large")
    }

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

    @Test func aClockThatJumpsBackKeepsEntriesAndOneThatJumpsForthExpiresThem() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .days(1))
        let written = clock.now
        clock.advance(-10 * 365 * 86_400)
        let early = try #require(try store.read("a"))
        #expect(early.expiry == written + 86_400)
        clock.advance(20 * 365 * 86_400)
        #expect(try store.read("a") == nil)
        clock.advance(-10 * 365 * 86_400)
        #expect(try store.read("a") != nil)
    }

    @Test func touchingWhileTheClockIsWrongCountsFromTheWrongTime() throws {
        try store.write(Data("a".utf8), to: "a", expiration: .seconds(100))
        clock.advance(-1_000_000)
        try store.touch("a", try #require(try store.read("a")), extending: .cacheTime)
        #expect(try store.read("a")?.expiry == clock.now + 100)
        #expect(try store.entries().first?.lastAccess == clock.now)
        clock.advance(1_000_000)
        #expect(try store.read("a") == nil)
        // And it is right again as soon as the clock is.
        try store.write(Data("b".utf8), to: "a", expiration: .seconds(100))
        #expect(try store.read("a")?.expiry == clock.now + 100)
    }

    @Test(arguments: [-2_000_000_000, 20_000_000_000, 1e300, -1e300] as [TimeInterval])
    func aClockOutsideAllTimeBreaksNothing(jump: TimeInterval) throws {
        clock.advance(jump)
        try store.write(Data("a".utf8), to: "a", expiration: .days(1))
        if let entry = try store.read("a") { try store.touch("a", entry, extending: .cacheTime) }
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
        try store.touch("a", entry, extending: .expirationTime(.seconds(.nan)))
        #expect(try store.read("a")?.expiry == entry.expiry)
    }

    /// Only some file systems know such times; memory does.
    @Test(
        .enabled(if: access("/dev/shm", W_OK) == 0, "there is no file system in memory"),
        arguments: [Int.min, -20_000_000_000, -9_223_372_037, -1, .max]
    )
    func entriesThatWereReadOutsideAllTimeMakeRoom(seconds: Int) throws {
        let scratch = try Scratch(in: "/dev/shm")
        let store = FileStore(path: scratch("cache"), clock: clock.read)
        try store.write(Data(count: 20), to: "a", expiration: .never)
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), Date.distantFuture.entryTime]
        try #require(utimensat(AT_FDCWD, scratch("cache/a"), times, 0) == 0)
        store.configure(sizeLimit: 30)
        store.startScan()
        try store.write(Data(count: 20), to: "b", expiration: .never)
        #expect(names(in: scratch("cache")).count == 1)
        #expect(try store.totalSize() == 20)
    }
}
