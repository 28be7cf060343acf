// Reading single values from disk and asking for them, and what is asked of the disk for that.

import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageReadingTests {
    @Test("DSK-16: a storage without a directory throws, what is missing or has expired is nil")
    func missesAreNil() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            #expect(try storage.value(forKey: "a") == nil)
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            rig.advance(9)
            #expect(try storage.value(forKey: "a", extendingExpiration: .none) == bytes("a"))
            rig.advance(1)
            #expect(try storage.value(forKey: "a") == nil)
            #expect(!storage.isCached(forKey: "a"))
            rig.advance(-1)
            #expect(storage.isCached(forKey: "a"))
        }
    }

    @Test("DSK-16: a date may be given to read at")
    func aDateMayBeGiven() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            func value(after seconds: TimeInterval, loading: Bool) throws -> Data? {
                try storage.value(
                    forKey: "a",
                    referenceDate: rig.now.value + seconds,
                    actuallyLoad: loading,
                    extendingExpiration: .none,
                    forcedExtension: nil
                )
            }
            #expect(try value(after: 9, loading: true) == bytes("a"))
            #expect(try value(after: 9, loading: false) == Data.empty)
            #expect(try value(after: 11, loading: true) == nil)
            #expect(try value(after: 11, loading: false) == nil)
            #expect(storage.isCached(forKey: "a", referenceDate: rig.now.value + 9))
            #expect(!storage.isCached(forKey: "a", referenceDate: rig.now.value + 11))
        }
    }

    @Test("DSK-16, DSK-26: a name that is not known is a miss, and the file manager is not asked")
    func anUnknownNameIsAMiss() async throws {
        let manager = ScriptedFileManager()
        try await DiskRig.run(manager: manager) { rig in
            let storage = rig.storage
            manager.script.change { $0.exists = true }
            let asked = manager.calls.value.count
            let value = try storage.value(forKey: "a")
            #expect(value == nil)
            #expect(!storage.isCached(forKey: "b"))
            #expect(manager.calls.value.count == asked)
        }
    }

    #if DEBUG
    @Test("DSK-16, DSK-26: a miss opens one file in vain, and goes to no disk if the name is not among assigned ones")
    func aMissOpensOneFileInVain() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            // The first look opens the directory.
            _ = try storage.value(forKey: "a")
            for look in [{ _ = try storage.value(forKey: "a") }, { _ = storage.isCached(forKey: "a") }] {
                storage.maybeCached = nil
                let calls = try BlockingGuard.violations(during: look)
                #expect(calls.count == 1, "\(calls)")
                storage.maybeCached = []
                let others = try BlockingGuard.violations(during: look)
                #expect(others == [])
            }
        }
    }

    @Test("DSK-17: asking for an entry takes one system call")
    func askingTakesOneSystemCall() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            for isThere in [true, false] {
                let calls = BlockingGuard.violations { #expect(storage.isCached(forKey: "a") == isThere) }
                #expect(calls.count == 1, "\(calls)")
                rig.advance(20)
            }
        }
    }
    #endif

    @Test("DSK-17: an entry that can be looked at is not asked for in any other way")
    func existenceIsNotAskedSeparately() async throws {
        let manager = ScriptedFileManager()
        try await DiskRig.run(manager: manager) { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            manager.script.change { $0.exists = false }
            let asked = manager.calls.value.count
            #expect(storage.isCached(forKey: "a"))
            #expect(try storage.value(forKey: "a") == bytes("a"))
            #expect(try storage.totalSize() == 1)
            rig.advance(100)
            #expect(!storage.isCached(forKey: "a"))
            #expect(try storage.value(forKey: "a") == nil)
            #expect(try storage.removeExpiredValues().count == 1)
            #expect(manager.calls.value.count == asked)
        }
    }

    @Test("DSK-18: a file that cannot be looked at is missing, unless the file manager says that it is there")
    func whatCannotBeLookedAt() async throws {
        let manager = ScriptedFileManager()
        try await DiskRig.run(manager: manager) { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a")
            storage.maybeCached = nil
            let url = storage.cacheFileURL(forKey: "a")
            try FileManager.default.removeItem(at: url)
            #expect(try storage.value(forKey: "a") == nil)
            #expect(manager.calls.value.last == "exists")

            manager.script.change { $0.exists = true }
            for loading in [true, false] {
                let reason = cacheFailure {
                    try storage.value(
                        forKey: "a",
                        referenceDate: rig.now.value,
                        actuallyLoad: loading,
                        extendingExpiration: .none,
                        forcedExtension: nil
                    )
                }
                guard case .invalidURLResource(let error, let key, let place) = reason else {
                    Issue.record("\(String(describing: reason))")
                    return
                }
                #expect((error as? StorageError)?.code == ENOENT)
                #expect(key == "a")
                #expect(place == url)
            }
            #expect(!storage.isCached(forKey: "a"))
        }
    }

    @Test(
        "DSK-18: in a directory closed to an ordinary user a look-up is a miss, or an error if a file manager sees the file",
        .enabled(if: geteuid() == 0, "only root can become another user")
    )
    func aClosedDirectory() async throws {
        await #expect(processExitsWith: .success) {
            let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: root) }
            try #require(chown(root.path, 65_534, 65_534) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
            let manager = ScriptedFileManager()
            for manager in [nil, manager] {
                let config = DiskStorage.Config(
                    name: "test",
                    sizeLimit: 0,
                    fileManager: manager ?? .default,
                    directory: root
                )
                let before = try DiskStorage.Backend<Data>(config: config)
                try before.store(value: bytes("a"), forKey: "a")
                try #require(chmod(before.directoryURL.path, 0) == 0)
                defer { chmod(before.directoryURL.path, 0o755) }
                let after = try DiskStorage.Backend<Data>(config: config)
                for storage in [before, after] {
                    storage.maybeCached = nil
                    for key in ["a", "b"] {
                        try #require(storage.value(forKey: key) == nil && !storage.isCached(forKey: key))
                    }
                    manager?.script.change { $0.exists = true }
                    defer { manager?.script.change { $0.exists = nil } }
                    let reason = cacheFailure { try storage.value(forKey: "a") }
                    if manager == nil { try #require(reason == nil) } else { try #require(reason?.errorCode == 3003) }
                }
            }
        }
    }

    @Test("DSK-19: bytes that cannot be made into a value are an error, and the entry still counts as cached")
    func bytesThatCannotBeMadeIntoAValue() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("bad"), forKey: "a")
            let before = try rig.times(ofKey: "a")
            rig.advance(10)
            let storage = await rig.another(Picky.self)
            let reason = cacheFailure { try storage.value(forKey: "a") }
            guard case .cannotLoadDataFromDisk(let url, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(url == storage.cacheFileURL(forKey: "a"))
            #expect(error is Picky.Refusal)
            #expect(storage.isCached(forKey: "a"))
            #expect(try rig.times(ofKey: "a") == before, "what cannot be decoded is not prolonged")
        }
    }

    @Test("DSK-19: a directory in the place of an entry cannot be read")
    func aDirectoryInThePlaceOfAnEntry() async throws {
        try await DiskRig.run { rig in
            rig.storage.maybeCached = nil
            let url = rig.storage.cacheFileURL(forKey: "a")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let reason = cacheFailure { try rig.storage.value(forKey: "a") }
            guard case .cannotLoadDataFromDisk(let place, _) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(place.path == url.path)
            #expect(!rig.storage.isCached(forKey: "a"))
        }
    }

    @Test("DSK-20: asking prolongs nothing")
    func askingProlongsNothing() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            let before = try rig.times(ofKey: "a")
            rig.advance(5)
            #expect(storage.isCached(forKey: "a"))
            #expect(storage.isCached(forKey: "a", referenceDate: rig.now.value))
            let probed = try storage.value(
                forKey: "a",
                referenceDate: rig.now.value,
                actuallyLoad: false,
                extendingExpiration: .cacheTime,
                forcedExtension: nil
            )
            #expect(probed == Data.empty)
            storage.metaChangingQueue.sync {}
            #expect(try rig.times(ofKey: "a") == before)
        }
    }

    @Test(
        "DSK-21: a reading prolongs as it is told, which is seen by what is queued after it",
        arguments: [
            (.cacheTime, 100), (.expirationTime(.seconds(500)), 500), (.none, 40),
            (.expirationTime(.never), .infinity),
        ] as [(ExpirationExtending, TimeInterval)]
    )
    func aReadingProlongs(extending: ExpirationExtending, left: TimeInterval) async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(100))
            rig.advance(60)
            #expect(try storage.value(forKey: "a", extendingExpiration: extending) == bytes("a"))
            let date = rig.now.value
            let (before, after) = await withCheckedContinuation { continuation in
                storage.metaChangingQueue.async {
                    let before = storage.isCached(forKey: "a", referenceDate: date + min(left, 1e9) - 1)
                    let after = storage.isCached(forKey: "a", referenceDate: date + min(left, 1e9) + 1)
                    continuation.resume(returning: (before, after))
                }
            }
            #expect(before)
            #expect(after == (left == .infinity))
        }
    }

    @Test("DSK-21: many readings prolong one after the other")
    func readingAgainAndAgainKeepsAnEntry() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(100))
            for _ in 0..<10 {
                rig.advance(99)
                #expect(try rig.storage.value(forKey: "a") == bytes("a"))
            }
            rig.advance(100)
            #expect(try rig.storage.value(forKey: "a") == nil)
        }
    }

    @Test("DSK-22: no entry is reported expired too early", arguments: [0.001, 0.25, 0.999_999_999, 1, 1.000_000_1])
    func noEntryExpiresTooEarly(lifetime: TimeInterval) async throws {
        try await DiskRig.run { rig in
            rig.advance(0.123_456_789)
            try rig.storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(lifetime))
            let end = rig.now.value + lifetime
            #expect(rig.storage.isCached(forKey: "a", referenceDate: end - 0.000_5))
            #expect(!rig.storage.isCached(forKey: "a", referenceDate: end + 1))
        }
    }

    @Test("DSK-23: a file that was removed behind the storage is a plain miss")
    func aFileRemovedBehindTheStorage() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "a")
            try FileManager.default.removeItem(at: rig.storage.cacheFileURL(forKey: "a"))
            #expect(!rig.storage.isCached(forKey: "a"))
            #expect(try rig.storage.value(forKey: "a") == nil)
            try rig.storage.store(value: bytes("b"), forKey: "a")
            #expect(try rig.storage.value(forKey: "a") == bytes("b"))
        }
    }

    @Test("DSK-24: a link that leads nowhere counts by its own time and cannot be read")
    func aDanglingLink() async throws {
        try await DiskRig.run { rig in
            let url = rig.storage.cacheFileURL(forKey: "a")
            try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "/nowhere")
            rig.storage.maybeCached = nil
            #expect(rig.storage.isCached(forKey: "a", referenceDate: .distantPast))
            let reason = cacheFailure {
                try rig.storage.value(
                    forKey: "a",
                    referenceDate: .distantPast,
                    actuallyLoad: true,
                    extendingExpiration: .none,
                    forcedExtension: nil
                )
            }
            guard case .cannotLoadDataFromDisk(let place, _) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(place.path == url.path)
        }
    }
}
