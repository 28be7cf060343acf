// Creating a disk storage, with and without a usable directory.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageCreationTests {
    private static let fullName = "com.onevcat.Kingfisher.ImageCache.test"

    @Test("The directory has the cache's full name and lies where the configuration says")
    func directoryName() async throws {
        try await DiskRig.run { rig in #expect(rig.folder.path == rig.root.path + "/" + Self.fullName) }
    }

    @Test("Without a directory of its own the storage uses the user's caches directory")
    func defaultDirectory() throws {
        let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
        let config = DiskStorage.Config(name: "test", sizeLimit: 0)
        #expect(config.location.path == caches.path + "/" + Self.fullName)
        #expect(config.cachePathBlock(URL(fileURLWithPath: "/x"), "y").path == "/x/y")
    }

    @Test("The path closure gets the root and the full name, is called once and is then released")
    func pathClosure() async throws {
        final class Witness: Sendable {}
        let names = Box<[String]>([])
        weak var kept: Witness?
        try await DiskRig.run {
            let witness = Witness()
            kept = witness
            $0.cachePathBlock = { root, name in
                withExtendedLifetime(witness) {}
                names.change { $0.append(name) }
                return root.appendingPathComponent("x").appendingPathComponent(name)
            }
        } _: { rig in
            #expect(rig.folder.path == rig.root.path + "/x/" + Self.fullName)
            #expect(names.value == [Self.fullName])
            #expect(rig.storage.config.cachePathBlock == nil)
            try rig.storage.store(value: bytes("a"), forKey: "a")
            #expect(names.value.count == 1)
        }
        #expect(kept == nil)
    }

    @Test("Without a path closure the directory is the default one")
    func noPathClosure() async throws {
        try await DiskRig.run {
            $0.cachePathBlock = nil
        } _: { rig in
            #expect(rig.folder.lastPathComponent == Self.fullName)
        }
    }

    @Test("The directory and its parents exist when the initialiser returns")
    func directoryCreation() async throws {
        try await withTemporaryDirectory { root in
            let deep = root.appendingPathComponent("a/b/c")
            let storage = try DiskStorage.Backend<Data>(config: .init(name: "test", sizeLimit: 0, directory: deep))
            var isDirectory: ObjCBool = false
            #expect(FileManager.default.fileExists(atPath: storage.directoryURL.path, isDirectory: &isDirectory))
            #expect(isDirectory.boolValue)
        }
    }

    @Test("A directory that cannot be created is an error with its path")
    func directoryError() async throws {
        try await withTemporaryDirectory { root in
            let file = root.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: file)
            let reason = cacheFailure { try DiskStorage.Backend<Data>(config: config) }
            guard case .cannotCreateDirectory(let path, _) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(path == file.path + "/" + Self.fullName)
            let words = KingfisherError.cacheError(reason: try #require(reason)).description
            #expect(words.contains("Not a directory; remove what is in its way"), "\(words)")
        }
    }

    @Test("A given file manager creates the directory, and its error is passed on")
    func fileManagerError() async throws {
        try await withTemporaryDirectory { root in
            let manager = ScriptedFileManager()
            manager.script.change { $0.beforeMaking = { throw ScriptedFileManager.Refusal() } }
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, fileManager: manager, directory: root)
            let reason = cacheFailure { try DiskStorage.Backend<Data>(config: config) }
            guard case .cannotCreateDirectory(let path, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(path == root.path + "/" + Self.fullName)
            #expect(error is ScriptedFileManager.Refusal)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("Every operation of a storage without a directory throws an error that names the directory")
    func storageNotReady() async throws {
        try await withTemporaryDirectory { root in
            let file = root.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 1, directory: file)
            let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: true)
            let attempts: [() throws -> Void] = [
                { try storage.store(value: bytes("a"), forKey: "a") },
                { _ = try storage.value(forKey: "a") },
                { _ = try storage.totalSize() },
                { _ = try storage.removeExpiredValues() },
                { _ = try storage.removeSizeExceededValues() },
                { try storage.removeAll() },
            ]
            for attempt in attempts {
                guard case .diskStorageIsNotReady(let url) = cacheFailure(attempt) else {
                    Issue.record("not an error of the storage")
                    continue
                }
                #expect(url == storage.directoryURL)
                #expect(storage.directoryFailure?.hasPrefix("Not a directory; remove what is") == true)
            }
            #expect(!storage.isCached(forKey: "a"))
        }
    }

    @Test("Every operation tries again to create the directory, and works once that succeeds")
    func directoryRetry() async throws {
        let manager = ScriptedFileManager()
        manager.script.change { $0.beforeMaking = { throw ScriptedFileManager.Refusal() } }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            let storage = rig.storage
            #expect(manager.count("make") == 1)
            for attempt in 2...4 {
                #expect(cacheFailure { try storage.store(value: bytes("a"), forKey: "a") } != nil)
                #expect(manager.count("make") == attempt)
            }
            manager.script.change { $0.beforeMaking = nil }
            #expect(try storage.value(forKey: "a") == nil)
            try storage.store(value: bytes("a"), forKey: "a")
            #expect(try storage.value(forKey: "a") == bytes("a"))
            #expect(manager.count("make") == 5)
        }
    }

    @Test("A storage is usable before its directory has been listed, and may be released during the listing")
    func useBeforeListing() async throws {
        try await withTemporaryDirectory { root in
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: root)
            var storage: DiskStorage.Backend<Data>? = try DiskStorage.Backend(config: config)
            let firstScan = try #require(storage).firstScan
            try storage?.store(value: bytes("a"), forKey: "a")
            #expect(try storage?.value(forKey: "a") == bytes("a"))
            #expect(try storage?.value(forKey: "b") == nil)
            #expect(try storage?.totalSize() == 1)
            #expect(try storage?.removeExpiredValues() == [])
            try storage?.remove(forKey: "a")
            #expect(storage?.isCached(forKey: "a") == false)
            storage = nil
            await firstScan.value
        }
    }

    @Test("A storage that is created without its directory creates it with the first store") func lazyDirectory()
        async throws
    {
        try await withTemporaryDirectory { root in
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: root)
            let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: false)
            #expect(try storage.value(forKey: "a") == nil)
            #expect(try storage.totalSize() == 0)
            try storage.remove(forKey: "a")
            try storage.removeAll()
            #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
            try storage.store(value: bytes("a"), forKey: "a")
            #expect(storage.isCached(forKey: "a"))
            await storage.waitUntilIdle()
            #expect(try storage.totalSize() == 1)
        }
    }

    @Test("The configuration may be changed from several threads") func concurrentConfiguration() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for round in 0..<200 {
                            storage.config.sizeLimit = UInt(number * round)
                            storage.config.expiration = .days(number)
                            _ = storage.cacheFileName(forKey: "a")
                        }
                    }
                }
            }
            storage.config.sizeLimit = 7
            #expect(storage.config.sizeLimit == 7)
        }
    }
}
