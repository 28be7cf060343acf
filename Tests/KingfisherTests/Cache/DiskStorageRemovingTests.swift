// Removing values from disk, and the names that are known to be there.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageRemovingTests {
    @Test("DSK-25, F-18: removing what is not there is no error")
    func removingWhatIsNotThere() async throws {
        try await DiskRig.run { rig in
            try rig.storage.remove(forKey: "a")
            try rig.storage.store(value: bytes("a"), forKey: "a", forcedExtension: "x")
            try rig.storage.remove(forKey: "a")
            #expect(rig.storage.isCached(forKey: "a", forcedExtension: "x"))
            try rig.storage.remove(forKey: "a", forcedExtension: "x")
            try rig.storage.remove(forKey: "a", forcedExtension: "x")
            #expect(rig.files == [])
        }
    }

    @Test("DSK-25: removing all leaves an empty directory, even if there was none")
    func removingAllLeavesAnEmptyDirectory() async throws {
        try await DiskRig.run { rig in
            for number in 0..<5 { try rig.storage.store(value: bytes("a"), forKey: "\(number)") }
            try bytes("x").write(to: rig.folder.appendingPathComponent("foreign"))
            try rig.storage.removeAll()
            #expect(FileManager.default.fileExists(atPath: rig.folder.path))
            #expect(rig.files == [])
            #expect(try rig.storage.totalSize() == 0)
            try FileManager.default.removeItem(at: rig.folder)
            try rig.storage.removeAll()
            #expect(FileManager.default.fileExists(atPath: rig.folder.path))
            try rig.storage.store(value: bytes("a"), forKey: "a")
            #expect(rig.storage.isCached(forKey: "a"))
        }
    }

    @Test("DSK-26: the names are those listed and those stored meanwhile, without those removed")
    func theKnownNames() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let manager = ScriptedFileManager()
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "old")
            manager.script.change {
                $0.listing = {
                    goOn.wait()
                    return []
                }
            }
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, fileManager: manager, directory: rig.root)
            let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: true)
            try storage.store(value: bytes("a"), forKey: "new")
            goOn.signal()
            await storage.listed.value
            let names = ["old", "new"].map { storage.cacheFileName(forKey: $0) }
            #expect(storage.maybeCached == Set(names))
            #expect(storage.maybeCachedSetupCompleted)
            try storage.remove(forKey: "old")
            #expect(storage.maybeCached?.contains(names[1]) == true)
            #expect(!storage.isCached(forKey: "old"))
        }
    }

    @Test("DSK-26: when the names cannot be listed, the disk is asked")
    func withoutNamesTheDiskIsAsked() async throws {
        let manager = ScriptedFileManager()
        manager.script.change { $0.listing = { throw ScriptedFileManager.Refusal() } }
        try await DiskRig.run(manager: manager) { rig in
            let storage = rig.storage
            #expect(storage.maybeCached == nil)
            #expect(storage.maybeCachedSetupCompleted)
            let other = await rig.another()
            try other.store(value: bytes("a"), forKey: "a")
            #expect(storage.isCached(forKey: "a"))
            #expect(try storage.value(forKey: "a") == bytes("a"))
            try storage.store(value: bytes("b"), forKey: "b")
            #expect(storage.maybeCached == nil)
            #expect(try storage.value(forKey: "b") == bytes("b"))
        }
    }
}
