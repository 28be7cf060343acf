// The internals that tests written for Kingfisher rely on, used as such tests use them.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageInternalsTests {
    @Test func filesAreSortedByTheirLastAccessMostRecentFirst() {
        func meta(_ name: String, _ date: Date?) -> DiskStorage.FileMeta {
            DiskStorage.FileMeta(
                fileURL: URL(fileURLWithPath: "/\(name)"),
                lastAccessDate: date,
                estimatedExpirationDate: nil,
                isDirectory: false,
                fileSize: 1
            )
        }
        let dates = ["old": Date(timeIntervalSince1970: 1), "new": Date(timeIntervalSince1970: 3), "never": nil]
        let files = dates.map { meta($0.key, $0.value) } + [meta("middle", Date(timeIntervalSince1970: 2))]
        let sorted = files.sorted(by: DiskStorage.FileMeta.lastAccessDate)
        #expect(sorted.map(\.fileURL.lastPathComponent) == ["new", "middle", "old", "never"])
        #expect(sorted[0].lastAccessDate == Date(timeIntervalSince1970: 3))
        #expect(!DiskStorage.FileMeta.lastAccessDate(lhs: sorted[0], rhs: sorted[0]))
    }

    @Test func namesMayBeAssumed() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("a"), forKey: "a")
            let name = storage.cacheFileName(forKey: "a")
            #expect(storage.maybeCachedCheckingQueue.sync { storage.maybeCached?.contains(name) } == true)

            storage.maybeCachedCheckingQueue.sync { storage.maybeCached = nil }
            #expect(storage.isCached(forKey: "a"))
            #expect(storage.maybeCachedCheckingQueue.sync { storage.maybeCached } == nil)

            storage.maybeCachedCheckingQueue.sync { storage.maybeCached = [name] }
            #expect(storage.isCached(forKey: "a"))
            try storage.store(value: bytes("b"), forKey: "b")
            #expect(storage.isCached(forKey: "b"))
        }
    }

    @Test("DSK-26: a name that is assumed wrongly is a miss after all")
    func falseNamesDoNoHarm() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            storage.maybeCachedCheckingQueue.sync { storage.maybeCached = [storage.cacheFileName(forKey: "ghost")] }
            #expect(!storage.isCached(forKey: "ghost"))
            let value = try storage.value(forKey: "ghost")
            #expect(value == nil)
        }
    }

    @Test func theListingMayBePretendedNotToBeOver() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            storage.maybeCachedCheckingQueue.sync {
                storage.maybeCached = []
                storage.maybeCachedSetupCompleted = false
            }
            try storage.store(value: bytes("a"), forKey: "a")
            #expect(storage.isCached(forKey: "a"))
            storage.maybeCachedCheckingQueue.sync { storage.maybeCachedSetupCompleted = true }
            #expect(storage.maybeCachedCheckingQueue.sync { storage.maybeCachedSetupCompleted })
            #expect(storage.isCached(forKey: "a"))
        }
    }

    @Test func removingAllMaySkipTheDirectory() async throws {
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

    @Test func manyStoragesComeAndGoWhileTheirDirectoriesAreRemoved() async throws {
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
