// Storing single values in a disk storage, and stores that fail.

import Dispatch
import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageStoringTests {
    @Test("A value that is already expired is not written, and the entry it would replace stays")
    func expiredValue() async throws {
        try await DiskRig.run { rig in
            for expiration in [StorageExpiration.expired, .seconds(0), .days(-1), .date(.distantPast)] {
                try rig.storage.store(value: bytes("new"), forKey: "a", expiration: expiration)
                #expect(rig.files == [])
                try rig.storage.store(value: bytes("old"), forKey: "a")
                try rig.storage.store(value: bytes("new"), forKey: "a", expiration: expiration)
                #expect(try rig.storage.value(forKey: "a") == bytes("old"))
                try rig.storage.remove(forKey: "a")
            }
            try rig.storage.store(value: bytes("old"), forKey: "a")
            rig.storage.config.expiration = .expired
            try rig.storage.store(value: bytes("new"), forKey: "a")
            #expect(try rig.storage.value(forKey: "a") == bytes("old"))
        }
    }

    @Test("A value larger than the limit is not stored, its old entry is removed and others stay")
    func valueAboveLimit() async throws {
        try await DiskRig.run {
            $0.sizeLimit = 10
        } _: { rig in
            try rig.storage.store(value: bytes("old"), forKey: "a")
            try rig.storage.store(value: bytes("other"), forKey: "b")
            try rig.storage.store(value: Data(count: 11), forKey: "a")
            #expect(try rig.storage.value(forKey: "a") == nil)
            #expect(try rig.storage.value(forKey: "b") == bytes("other"))
        }
    }

    @Test("A value that cannot be converted to data is an error, and nothing is written")
    func unserializableValue() async throws {
        try await DiskRig.run { rig in
            let storage = await rig.another(StrictText.self)
            let reason = cacheFailure { try storage.store(value: StrictText(text: "bad"), forKey: "a") }
            guard case .cannotConvertToData(let object, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect((object as? StrictText)?.text == "bad")
            #expect(error is StrictText.Refusal)
            #expect(rig.files == [])
        }
    }

    @Test("A file that cannot be written is an error with the path, the key, the data and the cause")
    func unwritableFile() async throws {
        try await DiskRig.run { rig in
            let url = rig.storage.cacheFileURL(forKey: "a")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let reason = cacheFailure { try rig.storage.store(value: bytes("x"), forKey: "a") }
            guard case .cannotCreateCacheFile(let file, let key, let data, _) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(file.path == url.path)
            #expect(key == "a")
            #expect(data == bytes("x"))
            #expect(rig.files == [url.lastPathComponent])
            let removing = cacheFailure { try rig.storage.remove(forKey: "a") }
            #expect(removing?.errorCode == 3101)
        }
    }

    @Test("With `withoutOverwriting` an entry is not overwritten, whether or not it has expired")
    func noOverwriting() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("old"), forKey: "a", writeOptions: .withoutOverwriting)
            for _ in 0..<2 {
                let reason = cacheFailure {
                    try storage.store(value: bytes("new"), forKey: "a", writeOptions: [.atomic, .withoutOverwriting])
                }
                #expect(reason?.errorCode == 3009)
                #expect(try Data(contentsOf: storage.cacheFileURL(forKey: "a")) == bytes("old"))
                rig.advance(30 * 86_400)
            }
            try storage.store(value: bytes("new"), forKey: "a", writeOptions: .atomic)
            #expect(try storage.value(forKey: "a") == bytes("new"))
        }
    }

    @Test("Of several concurrent stores that must not overwrite, exactly one succeeds")
    func concurrentNoOverwriting() async throws {
        try await DiskRig.run { rig in
            for number in 0..<200 {
                let stored = Locked(0)
                DispatchQueue.concurrentPerform(iterations: 2) { _ in
                    let options = Data.WritingOptions.withoutOverwriting
                    let value = bytes("\(number)")
                    if (try? rig.storage.store(value: value, forKey: "\(number)", writeOptions: options)) != nil {
                        stored.withLock { $0 += 1 }
                    }
                }
                #expect(stored.withLock { $0 } == 1)
            }
        }
    }

    @Test("Times that cannot be set are an error with the file's path")
    func unsettableTimes() async throws {
        try await DiskRig.run { rig in
            guard
                case .cacheError(.cannotSetCacheFileAttribute(let path, _, let error)) =
                    rig.storage.translated(StorageError(.setTimes, "/x", EIO))
            else {
                Issue.record("another error")
                return
            }
            #expect(path == "/x")
            #expect((error as? StorageError)?.code == EIO)
            // User metadata that cannot be set fails with the same error.
            let words = rig.storage.translated(StorageError(.setUserMetadata, "/x", EROFS)).description
            #expect(words.hasPrefix("The attributes of the cache file /x cannot be set: "))
        }
    }

    @Test("After the directory was removed by other means, probes miss, the size is zero and the next store works")
    func vanishedDirectory() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            for round in 0..<3 {
                try storage.store(value: bytes("\(round)"), forKey: "a")
                try FileManager.default.removeItem(at: rig.folder)
                #expect(!storage.isCached(forKey: "a"))
                #expect(try storage.value(forKey: "a") == nil)
                #expect(try storage.totalSize() == 0)
                #expect(try storage.removeExpiredValues() == [])
                try storage.remove(forKey: "a")
            }
            try storage.store(value: bytes("b"), forKey: "b")
            #expect(try storage.value(forKey: "b") == bytes("b"))
            #expect(try storage.totalSize() == 1)
        }
    }

    @Test("Stores and listing may overlap in any way")
    func storesDuringListing() async throws {
        for _ in 0..<20 {
            try await DiskRig.run(scanned: false) { rig in
                let storage = rig.storage
                let key = "key"
                for number in 0..<20 {
                    try storage.store(value: bytes(key), forKey: "\(number)")
                    #expect(storage.isCached(forKey: "\(number)"))
                }
                await storage.waitUntilIdle()
                for number in 0..<20 { #expect(try storage.value(forKey: "\(number)") == bytes(key)) }
            }
        }
    }
}
