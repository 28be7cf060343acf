// Removing values from a disk storage.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageRemovingTests {
    @Test("Removing a missing entry is no error")
    func removeMissing() async throws {
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

    @Test("Removing everything leaves an empty directory, even if there was none")
    func removeAll() async throws {
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

}
