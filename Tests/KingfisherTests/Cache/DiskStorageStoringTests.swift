// Storing single values on disk, and what becomes of stores that fail.

import Dispatch
import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageStoringTests {
    @Test("DSK-12, F-15: what has expired from the start is not written, and what was there goes")
    func whatHasExpiredIsNotWritten() async throws {
        try await DiskRig.run { rig in
            for expiration in [StorageExpiration.expired, .seconds(0), .days(-1), .date(.distantPast)] {
                try rig.storage.store(value: bytes("new"), forKey: "a", expiration: expiration)
                #expect(rig.files == [])
                try rig.storage.store(value: bytes("old"), forKey: "a")
                try rig.storage.store(value: bytes("new"), forKey: "a", expiration: expiration)
                #expect(rig.files == [])
                #expect(try rig.storage.value(forKey: "a") == nil)
            }
            rig.storage.config.expiration = .expired
            try rig.storage.store(value: bytes("new"), forKey: "a")
            #expect(rig.files == [])
        }
    }

    @Test("a value that is larger than the limit is not kept, and what was there goes; others stay")
    func whatIsTooLarge() async throws {
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

    @Test("DSK-13: a value that cannot be made into data is an error, and nothing is written")
    func aValueThatCannotBeData() async throws {
        try await DiskRig.run { rig in
            let storage = await rig.another(Picky.self)
            let reason = cacheFailure { try storage.store(value: Picky(text: "bad"), forKey: "a") }
            guard case .cannotConvertToData(let object, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect((object as? Picky)?.text == "bad")
            #expect(error is Picky.Refusal)
            #expect(rig.files == [])
        }
    }

    @Test("DSK-13: a file that cannot be written is an error with all that was to be written")
    func aFileThatCannotBeWritten() async throws {
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
            guard case .cannotRemoveCacheFile = removing else {
                Issue.record("\(String(describing: removing))")
                return
            }
        }
    }

    @Test("DSK-13: an entry is not overwritten when that is asked for, whether or not it has expired")
    func anEntryIsNotOverwrittenIfThatIsAskedFor() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.store(value: bytes("old"), forKey: "a", writeOptions: .withoutOverwriting)
            for _ in 0..<2 {
                let reason = cacheFailure {
                    try storage.store(value: bytes("new"), forKey: "a", writeOptions: [.atomic, .withoutOverwriting])
                }
                guard case .cannotCreateCacheFile = reason else {
                    Issue.record("\(String(describing: reason))")
                    return
                }
                #expect(try Data(contentsOf: storage.cacheFileURL(forKey: "a")) == bytes("old"))
                rig.advance(30 * 86_400)
            }
            try storage.store(value: bytes("new"), forKey: "a", writeOptions: .atomic)
            #expect(try storage.value(forKey: "a") == bytes("new"))
        }
    }

    @Test("DSK-13: of several that store at once and must not overwrite, one stores")
    func ofSeveralThatMustNotOverwriteOneStores() async throws {
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

    @Test("DSK-13: times that cannot be set are an error with the file's path")
    func timesThatCannotBeSet() async throws {
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
            // Times are not all that is set: what is kept with an entry fails in the same words.
            let words = rig.storage.translated(StorageError(.setAttachment, "/x", EROFS)).description
            #expect(words.hasPrefix("The attributes of the cache file /x cannot be set: "))
        }
    }

    @Test("DSK-14, DSK-23: when the directory vanished, probes miss, the size is nothing and the next store works")
    func theDirectoryVanished() async throws {
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

    @Test("DSK-15: what was stored while the directory is listed is found, before and after")
    func whatIsStoredWhileTheDirectoryIsListedIsFound() async throws {
        let manager = ScriptedFileManager()
        let goOn = DispatchSemaphore(value: 0)
        manager.script.change {
            $0.listing = {
                goOn.wait()
                return ["something else"]
            }
        }
        try await DiskRig.run(scanned: false, manager: manager) { rig in
            let storage = rig.storage
            let keys = (0..<50).map { "key \($0)" }
            for key in keys { try storage.store(value: bytes(key), forKey: key) }
            for key in keys { #expect(storage.isCached(forKey: key)) }
            goOn.signal()
            await storage.listed.value
            for key in keys {
                #expect(storage.isCached(forKey: key))
                #expect(try storage.value(forKey: key) == bytes(key))
            }
        }
    }

    @Test("DSK-15: stores and listing may overlap in any way")
    func storesAndListingMayOverlap() async throws {
        for _ in 0..<20 {
            try await DiskRig.run(scanned: false) { rig in
                let storage = rig.storage
                let key = "key"
                for number in 0..<20 {
                    try storage.store(value: bytes(key), forKey: "\(number)")
                    #expect(storage.isCached(forKey: "\(number)"))
                }
                await storage.listed.value
                for number in 0..<20 { #expect(storage.isCached(forKey: "\(number)")) }
            }
        }
    }

    @Test func whatIsKeptWithAnEntryComesBackAndGoesWithIt() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            try storage.write(bytes("a"), forKey: "a", nil, [], nil, attachment: [1, 2, 3])
            #expect(try Data(contentsOf: storage.cacheFileURL(forKey: "a")) == bytes("a"))
            let name = storage.cacheFileName(forKey: "a")
            #expect(try await rig.another().files.attachment(of: name) == [1, 2, 3])
            try storage.store(value: bytes("b"), forKey: "a")
            #expect(try storage.files.attachment(of: name) == nil)
        }
    }
}
