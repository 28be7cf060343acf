// How a disk storage comes to be, with and without a directory.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageCreationTests {
    private static let fullName = "com.onevcat.Kingfisher.ImageCache.test"

    @Test("DSK-1: the directory has the cache's full name and lies where the configuration says")
    func theDirectoryHasTheFullName() async throws {
        try await DiskRig.run { rig in #expect(rig.folder.path == rig.root.path + "/" + Self.fullName) }
    }

    @Test("DSK-1: without a directory of its own the storage lies in the user's caches directory")
    func theDefaultIsTheCachesDirectory() throws {
        let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
        let config = DiskStorage.Config(name: "test", sizeLimit: 0)
        #expect(config.location.path == caches.path + "/" + Self.fullName)
        #expect(config.cachePathBlock(URL(fileURLWithPath: "/x"), "y").path == "/x/y")
    }

    @Test("DSK-1, DSK-5: the path closure gets the root and the full name, once, and is forgotten")
    func thePathClosureIsAskedOnceAndForgotten() async throws {
        final class Witness: Sendable {}
        let asked = Box<[String]>([])
        weak var kept: Witness?
        try await DiskRig.run {
            let witness = Witness()
            kept = witness
            $0.cachePathBlock = { root, name in
                withExtendedLifetime(witness) {}
                asked.change { $0.append(name) }
                return root.appendingPathComponent("x").appendingPathComponent(name)
            }
        } _: { rig in
            #expect(rig.folder.path == rig.root.path + "/x/" + Self.fullName)
            #expect(asked.value == [Self.fullName])
            #expect(rig.storage.config.cachePathBlock == nil)
            try rig.storage.store(value: bytes("a"), forKey: "a")
            #expect(asked.value.count == 1)
        }
        #expect(kept == nil)
    }

    @Test("DSK-5: without a path closure the directory is the usual one")
    func noPathClosureIsTheUsualOne() async throws {
        try await DiskRig.run {
            $0.cachePathBlock = nil
        } _: { rig in
            #expect(rig.folder.lastPathComponent == Self.fullName)
        }
    }

    @Test("DSK-2: the directory is there, with all that leads to it, when the initialiser returns")
    func theDirectoryIsThereAtOnce() async throws {
        try await withTemporaryDirectory { root in
            let deep = root.appendingPathComponent("a/b/c")
            let storage = try DiskStorage.Backend<Data>(config: .init(name: "test", sizeLimit: 0, directory: deep))
            var isDirectory: ObjCBool = false
            #expect(FileManager.default.fileExists(atPath: storage.directoryURL.path, isDirectory: &isDirectory))
            #expect(isDirectory.boolValue)
        }
    }

    @Test("DSK-2: the directory is made before it is listed")
    func theDirectoryIsMadeBeforeItIsListed() async throws {
        let manager = ScriptedFileManager()
        manager.script.change {
            $0.beforeMaking = {
                // A listing that was asked for too early would be under way when all this is done.
                let turns = DispatchSemaphore(value: 0)
                for _ in 0..<50 { Task(executorPreference: WorkExecutor.io) { turns.signal() } }
                for _ in 0..<50 { turns.wait() }
            }
        }
        try await DiskRig.run(manager: manager) { rig in
            let calls = manager.calls.value.filter { $0 != "exists" }
            #expect(calls == ["make", "list"])
            #expect(rig.storage.maybeCached == [])
        }
    }

    @Test("DSK-3: a directory that cannot be made is an error with its path")
    func theDirectoryCannotBeMade() async throws {
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
        }
    }

    @Test("DSK-3: a file manager of one's own is asked to make the directory, and its error is passed on")
    func theManagersErrorIsPassedOn() async throws {
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

    @Test("DSK-4: a storage without a directory says so, and nothing worse")
    func aStorageThatIsNotReadySaysSo() async throws {
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
                let words = KingfisherError.cacheError(reason: .diskStorageIsNotReady(cacheURL: url)).description
                #expect(words.contains("\(url.path) cannot be opened or created: Not a directory; remove what is"))
            }
            #expect(!storage.isCached(forKey: "a"))
        }
    }

    @Test("DSK-4, F-24: a directory that could not be made is tried again once a second, and then all works")
    func theDirectoryIsTriedAgain() async throws {
        let manager = ScriptedFileManager()
        manager.script.change { $0.beforeMaking = { throw ScriptedFileManager.Refusal() } }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            let storage = rig.storage
            func store() -> Bool { cacheFailure { try storage.store(value: bytes("a"), forKey: "a") } == nil }
            #expect(manager.count("make") == 1)
            for _ in 0..<5 { #expect(!store()) }
            #expect(manager.count("make") == 1)
            rig.advance(1)
            for _ in 0..<5 { #expect(!store()) }
            #expect(manager.count("make") == 2)

            manager.script.change { $0.beforeMaking = nil }
            #expect(!store())
            rig.advance(1)
            #expect(store())
            let value = try storage.value(forKey: "a")
            #expect(value == bytes("a"))
            await storage.listed.value
            #expect(manager.count("list") == 1)
        }
    }

    @Test("F-24: a clock that was set back does not keep the directory from being tried again")
    func theClockMayBeSetBack() async throws {
        let manager = ScriptedFileManager()
        manager.script.change { $0.beforeMaking = { throw ScriptedFileManager.Refusal() } }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            manager.script.change { $0.beforeMaking = nil }
            rig.advance(-86_400)
            try rig.storage.store(value: bytes("a"), forKey: "a")
        }
    }

    @Test("DSK-6: the directory is listed exactly once, and neither the initialiser nor anything else waits for that")
    func nobodyWaitsForTheListing() async throws {
        let manager = ScriptedFileManager()
        let (started, goOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
        manager.script.change {
            $0.listing = {
                started.keep(())
                goOn.wait()
                return []
            }
        }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            await started.value
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a")
            #expect(try storage.value(forKey: "a") == bytes("a"))
            #expect(try storage.value(forKey: "b") == nil)
            #expect(storage.isCached(forKey: "a"))
            #expect(try storage.totalSize() == 1)
            #expect(!storage.maybeCachedCheckingQueue.sync { storage.maybeCachedSetupCompleted })
            #expect(try storage.removeExpiredValues() == [])
            try storage.remove(forKey: "a")
            #expect(!storage.isCached(forKey: "a"))
            #expect(storage.listed.valueIfKept == nil)
            goOn.signal()
            await storage.listed.value
            #expect(storage.maybeCachedSetupCompleted)
            #expect(manager.count("list") == 1)
        }
    }

    @Test("DSK-6: the storage may go and its directory may be removed while it is listed")
    func theStorageMayGoWhileItIsListed() async throws {
        let manager = ScriptedFileManager()
        let goOn = DispatchSemaphore(value: 0)
        manager.script.change {
            $0.listing = {
                goOn.wait()
                return []
            }
        }
        try await withTemporaryDirectory { root in
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, fileManager: manager, directory: root)
            weak var storage: DiskStorage.Backend<Data>?
            let listed: Promise<Void>
            do {
                let kept = try DiskStorage.Backend<Data>(config: config)
                storage = kept
                listed = kept.listed
                try FileManager.default.removeItem(at: kept.directoryURL)
            }
            #expect(storage == nil)
            goOn.signal()
            await listed.value
            #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
        }
    }

    @Test func aStorageThatIsNotToMakeItsDirectoryDoesNotUntilSomethingIsStored() async throws {
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
            await storage.listed.value
            #expect(storage.maybeCached == [storage.cacheFileName(forKey: "a")])
        }
    }

    @Test func theConfigurationMayBeChangedFromManyThreads() async throws {
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
