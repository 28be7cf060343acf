// Reading single values from a disk storage, and probing for them.

import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageReadingTests {
    @Test("A storage without a directory throws; a missing or expired entry is nil")
    func misses() async throws {
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

    @Test("A read can use a given reference date")
    func referenceDate() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            func value(after seconds: TimeInterval) throws -> Data? {
                try storage.value(
                    forKey: "a",
                    referenceDate: rig.now.value + seconds,
                    extendingExpiration: .none,
                    forcedExtension: nil
                )
            }
            #expect(try value(after: 9) == bytes("a"))
            #expect(try value(after: 11) == nil)
            #expect(storage.isCached(forKey: "a", referenceDate: rig.now.value + 9))
            #expect(!storage.isCached(forKey: "a", referenceDate: rig.now.value + 11))
        }
    }

    @Test("The existence of an entry whose attributes can be read is not checked separately")
    func noSeparateExistenceCheck() async throws {
        let manager = ScriptedFileManager()
        try await DiskRig.run(manager: manager) { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            manager.script.change { $0.exists = false }
            let callsBefore = manager.calls.value.count
            #expect(storage.isCached(forKey: "a"))
            #expect(try storage.value(forKey: "a") == bytes("a"))
            #expect(try storage.totalSize() == 1)
            rig.advance(100)
            #expect(!storage.isCached(forKey: "a"))
            #expect(try storage.value(forKey: "a") == nil)
            #expect(try storage.removeExpiredValues().count == 1)
            #expect(manager.calls.value.count == callsBefore)
        }
    }

    @Test("A file whose attributes cannot be read is missing, unless the file manager reports it")
    func unreadableAttributes() async throws {
        let manager = ScriptedFileManager()
        try await DiskRig.run(manager: manager) { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a")
            let url = storage.cacheFileURL(forKey: "a")
            try FileManager.default.removeItem(at: url)
            #expect(try storage.value(forKey: "a") == nil)
            #expect(manager.calls.value.last == "exists")

            manager.script.change { $0.exists = true }
            let reason = cacheFailure { try storage.value(forKey: "a", extendingExpiration: .none) }
            guard case .invalidURLResource(let error, let key, let reportedURL) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect((error as? StorageError)?.code == ENOENT)
            #expect(key == "a")
            #expect(reportedURL == url)
            #expect(!storage.isCached(forKey: "a"))
        }
    }

    @Test(
        "In an inaccessible directory a look-up is a miss, or an error if a file manager reports the file",
        .enabled(if: geteuid() == 0, "only root can become another user")
    )
    func closedDirectory() async throws {
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

    @Test("Bytes that cannot be converted to a value are an error, and the entry still counts as cached")
    func undecodableBytes() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("bad"), forKey: "a")
            let before = try rig.times(ofKey: "a")
            rig.advance(10)
            let storage = await rig.another(StrictText.self)
            let reason = cacheFailure { try storage.value(forKey: "a") }
            guard case .cannotLoadDataFromDisk(let url, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(url == storage.cacheFileURL(forKey: "a"))
            #expect(error is StrictText.Refusal)
            #expect(storage.isCached(forKey: "a"))
            #expect(try rig.times(ofKey: "a") == before, "what cannot be decoded is not extended")
        }
    }

    @Test("A directory at the path of an entry cannot be read")
    func directoryAtEntryPath() async throws {
        try await DiskRig.run { rig in
            let url = rig.storage.cacheFileURL(forKey: "a")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let reason = cacheFailure { try rig.storage.value(forKey: "a") }
            guard case .cannotLoadDataFromDisk(let reportedURL, _) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(reportedURL.path == url.path)
            #expect(!rig.storage.isCached(forKey: "a"))
        }
    }

    @Test("A probe does not extend the expiration")
    func probesDoNotExtend() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(10))
            let before = try rig.times(ofKey: "a")
            rig.advance(5)
            #expect(storage.isCached(forKey: "a"))
            #expect(storage.isCached(forKey: "a", referenceDate: rig.now.value))
            #expect(try rig.times(ofKey: "a") == before)
        }
    }

    @Test(
        "A read extends the expiration as its parameter says",
        arguments: [
            (.cacheTime, 100), (.expirationTime(.seconds(500)), 500), (.none, 40),
            (.expirationTime(.never), .infinity),
        ] as [(ExpirationExtending, TimeInterval)]
    )
    func readsExtend(extending: ExpirationExtending, left: TimeInterval) async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(100))
            rig.advance(60)
            #expect(try storage.value(forKey: "a", extendingExpiration: extending) == bytes("a"))
            let date = rig.now.value
            let before = storage.isCached(forKey: "a", referenceDate: date + min(left, 1e9) - 1)
            let after = storage.isCached(forKey: "a", referenceDate: date + min(left, 1e9) + 1)
            #expect(before)
            #expect(after == (left == .infinity))
        }
    }

    @Test("Repeated reads extend the expiration one after the other")
    func repeatedReads() async throws {
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

    @Test("No entry is reported expired too early", arguments: [0.001, 0.25, 0.999_999_999, 1, 1.000_000_1])
    func noEarlyExpiry(lifetime: TimeInterval) async throws {
        try await DiskRig.run { rig in
            rig.advance(0.123_456_789)
            try rig.storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(lifetime))
            let end = rig.now.value + lifetime
            #expect(rig.storage.isCached(forKey: "a", referenceDate: end - 0.000_5))
            #expect(!rig.storage.isCached(forKey: "a", referenceDate: end + 1))
        }
    }

    @Test("A file that was removed by other means is a miss")
    func fileRemovedExternally() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "a")
            try FileManager.default.removeItem(at: rig.storage.cacheFileURL(forKey: "a"))
            #expect(!rig.storage.isCached(forKey: "a"))
            #expect(try rig.storage.value(forKey: "a") == nil)
            try rig.storage.store(value: bytes("b"), forKey: "a")
            #expect(try rig.storage.value(forKey: "a") == bytes("b"))
        }
    }
}
