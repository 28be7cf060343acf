// Directories that cannot be used: what the errors say, and which names they must not have.

import Foundation
import KFStorage
import Testing

@testable import Kingfisher

@Suite struct DiskStoragePlaceTests {
    @Test("DSK-4: the words of the error tell the last reason, of whoever it was, and what to do")
    func theWordsTellTheReason() async throws {
        let manager = ScriptedFileManager()
        manager.script.change { $0.beforeMaking = { throw POSIXError(.ENOSPC) } }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            func words() throws -> String {
                let reason = cacheFailure { try rig.storage.store(value: bytes("a"), forKey: "a") }
                return KingfisherError.cacheError(reason: try #require(reason)).description
            }
            let first = try words()
            #expect(first.contains(POSIXError(.ENOSPC).plainDescription + "; check that"))
            manager.script.change { script in
                script.beforeMaking = { throw StorageError(.createDirectory, "/elsewhere", EROFS) }
            }
            rig.advance(1)
            let expected =
                "could not create directory /elsewhere: Read-only file system; choose a directory on a file system"
            let second = try words()
            #expect(second.contains("\(rig.folder.path) cannot be opened or created: \(expected)"))
        }
    }

    @Test("caches called x and x.tmp have nothing to do with each other")
    func cachesCalledLikeEachOther() async throws {
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
