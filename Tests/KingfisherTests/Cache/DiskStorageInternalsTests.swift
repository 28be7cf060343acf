// Removing everything from a disk storage, with and without its directory.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageInternalsTests {
    @Test("Removing everything may remove the directory as well") func removeAllWithDirectory() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "a")
            try rig.storage.removeAll(skipCreatingDirectory: true)
            #expect(!FileManager.default.fileExists(atPath: rig.folder.path))
            try rig.storage.removeAll(skipCreatingDirectory: true)
            #expect(!rig.storage.isCached(forKey: "a"))
            try rig.storage.store(value: bytes("a"), forKey: "a")
            #expect(try rig.storage.value(forKey: "a") == bytes("a"))
            try rig.storage.removeAll(skipCreatingDirectory: false)
            #expect(rig.files == [])
            #expect(FileManager.default.fileExists(atPath: rig.folder.path))
        }
    }

    @Test("Storages can be created and released while their directories are removed") func storageChurn() async throws {
        try await withTemporaryDirectory { root in
            for number in 0..<100 {
                let config = DiskStorage.Config(name: "\(number % 3)", sizeLimit: 0, directory: root)
                let storage = try DiskStorage.Backend<Data>(config: config)
                try storage.store(value: bytes("a"), forKey: "a")
                #expect(storage.isCached(forKey: "a"))
                if number % 2 == 0 {
                    try storage.removeAll(skipCreatingDirectory: true)
                } else {
                    try FileManager.default.removeItem(at: storage.directoryURL)
                }
                #expect(!storage.isCached(forKey: "a"))
            }
        }
    }
}
