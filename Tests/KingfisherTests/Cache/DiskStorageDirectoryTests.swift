// Directories of disk storages: errors of unusable ones, and names that must not collide.

import Foundation
import KFStorage
import Testing

@testable import Kingfisher

@Suite struct DiskStorageDirectoryTests {
    @Test("A storage reports the last failure of its directory, and what to do about it")
    func directoryFailure() async throws {
        let manager = ScriptedFileManager()
        manager.script.change { $0.beforeMaking = { throw POSIXError(.ENOSPC) } }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            let reason = cacheFailure { try rig.storage.store(value: bytes("a"), forKey: "a") }
            let words = KingfisherError.cacheError(reason: try #require(reason)).description
            #expect(words.contains(rig.folder.path) && words.contains("check that the path is a directory"))
            #expect(
                rig.storage.directoryFailure?.hasPrefix(POSIXError(.ENOSPC).plainDescription + "; check that") == true
            )
            manager.script.change { script in
                script.beforeMaking = { throw StorageError(.createDirectory, "/elsewhere", EROFS) }
            }
            #expect(cacheFailure { try rig.storage.store(value: bytes("a"), forKey: "a") } != nil)
            let expected =
                "could not create directory /elsewhere: Read-only file system; choose a directory on a file system"
            #expect(rig.storage.directoryFailure?.hasPrefix(expected) == true)
            manager.script.change { $0.beforeMaking = nil }
            try rig.storage.store(value: bytes("a"), forKey: "a")
            #expect(rig.storage.directoryFailure == nil)
        }
    }

    @Test("Caches named x and x.tmp do not affect each other")
    func similarCacheNames() async throws {
        try await withTemporaryDirectory { root in
            let storages = try ["x", "x.tmp"].map { name in
                try DiskStorage.Backend<Data>(config: DiskStorage.Config(name: name, sizeLimit: 0, directory: root))
            }
            for storage in storages { try storage.store(value: bytes("a"), forKey: "a") }
            for storage in storages {
                let files = try FileManager.default.contentsOfDirectory(atPath: storage.directoryURL.path)
                #expect(files == [storage.cacheFileURL(forKey: "a").lastPathComponent])
                #expect(try storage.totalSize() == 1)
            }
            try storages[1].removeAll()
            #expect(storages[0].isCached(forKey: "a"))
        }
    }
}
