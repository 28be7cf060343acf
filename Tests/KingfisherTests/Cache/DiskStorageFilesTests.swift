// The files of a disk storage: their contents, their metadata, and how they are removed.

import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DiskStorageFilesTests {
    @Test("Expiry, last access and lifetime are kept when the storage is created again")
    func metadataOutlivesStorage() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(100))
            let start = rig.now.value
            rig.advance(60)
            let other = await rig.another()
            let listed = try #require(try other.listing().first)
            #expect(listed.expiry == start + 100)
            #expect(listed.lastAccess == start)
            #expect(try other.value(forKey: "a") == bytes("a"))
            let third = await rig.another()
            #expect(third.isCached(forKey: "a", referenceDate: rig.now.value + 99))
            #expect(!third.isCached(forKey: "a", referenceDate: rig.now.value + 101))
            #expect(try third.listing().first?.lastAccess == rig.now.value)
        }
    }

    @Test("A file's modification time is its expiry, its access time the last access that extended it")
    func fileTimes() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: bytes("a"), forKey: "a", expiration: .seconds(100))
            let stored = try rig.times(ofKey: "a")
            #expect(stored.access == rig.now.value)
            #expect(stored.modification == rig.now.value + 100)
            rig.advance(10)
            #expect(try rig.storage.value(forKey: "a", extendingExpiration: .none) == bytes("a"))
            #expect(try rig.times(ofKey: "a") == stored)
            #expect(try rig.storage.value(forKey: "a") == bytes("a"))
            let read = try rig.times(ofKey: "a")
            #expect(read.access == rig.now.value)
            #expect(read.modification == rig.now.value + 100)
        }
    }

    @Test("A file holds the value's bytes and nothing else", arguments: [0, 1, 4_095, 4_096, 1_000_001])
    func fileContents(length: Int) async throws {
        try await DiskRig.run { rig in
            let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try rig.storage.store(value: data, forKey: "a")
            let isExact = try Data(contentsOf: rig.storage.cacheFileURL(forKey: "a")) == data
            #expect(isExact)
            let isRead = try rig.storage.value(forKey: "a") == data
            #expect(isRead)
        }
    }

    @Test("The directory holds one file per entry and nothing else, and the total size is their sum")
    func oneFilePerEntry() async throws {
        try await DiskRig.run { rig in
            for number in 0..<20 {
                try rig.storage.store(value: Data(count: number), forKey: "\(number)")
                #expect(rig.files.count == number + 1)
                #expect(try rig.storage.value(forKey: "\(number)")?.count == number)
            }
            #expect(rig.files == (0..<20).map { rig.storage.cacheFileName(forKey: "\($0)") }.sorted())
            #expect(try rig.storage.totalSize() == 190)
            for number in 0..<20 { try rig.storage.store(value: Data(count: 1), forKey: "\(number)") }
            #expect(rig.files.count == 20)
            #expect(try rig.storage.totalSize() == 20)
        }
    }

    @Test(
        "A reader sees the old entry or the new one, whole and with its expiry",
        .timeLimit(.minutes(2))
    )
    func atomicReplacement() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            let other = await rig.another()
            let values = [Data(repeating: 1, count: 100_000), Data(repeating: 2, count: 30_000)]
            try storage.store(value: values[0], forKey: "a")
            let isOver = Box(false)
            let readings = Counter()
            async let seen = WorkExecutor.io.run { () async throws -> Set<Data?> in
                // However the reading ends, the writer below does not wait for more of it.
                defer { readings.add(100) }
                var seen: Set<Data?> = []
                while !isOver.value {
                    seen.insert(try other.value(forKey: "a", extendingExpiration: .none))
                    readings.add()
                }
                return seen
            }
            try await WorkExecutor.io.run { () async throws -> Void in
                defer { isOver.value = true }
                // Goes on until enough was read in between: without a read the test would prove nothing.
                var round = 0
                while round < 300 || readings.value < 100 {
                    round += 1
                    try storage.store(value: values[round % 2], forKey: "a")
                }
            }
            let isWhole = try await seen.isSubset(of: values)
            #expect(isWhole)
        }
    }
}

@Suite struct DiskStorageCleaningTests {
    @Test("Expired entries are removed and their URLs returned; hidden files and directories stay")
    func expiredEntryRemoval() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            for number in 1...4 {
                try storage.store(value: bytes("a"), forKey: "\(number)", expiration: .seconds(Double(10 * number)))
            }
            let past = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1)]
            for name in [".hidden", "folder"] {
                let url = rig.folder.appendingPathComponent(name)
                if name == "folder" {
                    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
                } else {
                    try bytes("x").write(to: url)
                }
                try FileManager.default.setAttributes(past, ofItemAtPath: url.path)
            }
            #expect(try storage.removeExpiredValues() == [])
            rig.advance(25)
            let urls = ["1", "2", "3"].map { storage.cacheFileURL(forKey: $0) }
            #expect(Set(try storage.removeExpiredValues()) == Set(urls[..<2]))
            #expect(try storage.removeExpiredValues(referenceDate: rig.now.value + 10) == [urls[2]])
            #expect(Set(rig.files) == [".hidden", "folder", storage.cacheFileName(forKey: "4")])
            #expect(try storage.totalSize() == 1)
        }
    }

    @Test("At the limit, the least recently used entries are removed until half of it is free")
    func evictionToHalfTheLimit() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            for number in 0..<10 {
                try storage.store(value: Data(count: 1), forKey: "\(number)")
                rig.advance(1)
            }
            #expect(try storage.removeSizeExceededValues() == [])
            storage.config.sizeLimit = 11
            #expect(try storage.removeSizeExceededValues() == [])
            #expect(try storage.value(forKey: "0") != nil)
            storage.config.sizeLimit = 10
            let removed = try storage.removeSizeExceededValues()
            #expect(Set(removed) == Set((1...5).map { storage.cacheFileURL(forKey: "\($0)") }))
            #expect(try storage.totalSize() == 5)
            #expect(try storage.removeSizeExceededValues() == [])
        }
    }

    @Test("With a limit of five and ten entries of one byte, some but not all are removed")
    func partialEviction() async throws {
        try await DiskRig.run {
            $0.sizeLimit = 5
        } _: { rig in
            for number in 0..<10 {
                try rig.storage.store(value: Data(count: 1), forKey: "\(number)")
                rig.advance(1)
                #expect(try rig.storage.totalSize() <= 5)
            }
            let removed = try rig.storage.removeSizeExceededValues()
            #expect((1..<10).contains(removed.count))
            #expect(try rig.storage.totalSize() == 2)
            #expect(rig.storage.isCached(forKey: "9"))
        }
    }

    @Test("A changed limit applies from the next store on")
    func changedLimit() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            for number in 0..<10 {
                try storage.store(value: Data(count: 1), forKey: "\(number)")
                rig.advance(1)
            }
            storage.config.sizeLimit = 3
            try storage.store(value: Data(count: 1), forKey: "last")
            #expect(try storage.totalSize() <= 3)
            #expect(storage.isCached(forKey: "last"))
            storage.config.sizeLimit = 0
            for number in 0..<10 { try storage.store(value: Data(count: 1), forKey: "\(number)") }
            #expect(try storage.totalSize() >= 11)
        }
    }

    @Test("The size is that of regular files; files that cannot be examined count as zero")
    func sizeOfFiles() async throws {
        try await DiskRig.run { rig in
            try rig.storage.store(value: Data(count: 7), forKey: "a")
            let folder = rig.folder.appendingPathComponent("folder")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(count: 100).write(to: folder.appendingPathComponent("inside"))
            let link = rig.folder.appendingPathComponent("link").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/etc/passwd")
            #expect(try rig.storage.totalSize() == 7)
            #expect(try await rig.another().totalSize() == 7)
        }
    }

    @Test("A directory that cannot be listed is an error with its path")
    func unlistableDirectory() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            storage.config.sizeLimit = 5
            try FileManager.default.removeItem(at: rig.folder)
            try bytes("x").write(to: rig.folder)
            let attempts: [() throws -> Void] = [
                { _ = try storage.totalSize() }, { _ = try storage.removeExpiredValues() },
                { _ = try storage.removeSizeExceededValues() },
            ]
            for attempt in attempts {
                let reason = cacheFailure(attempt)
                guard case .fileEnumeratorCreationFailed(let url) = reason else {
                    Issue.record("\(String(describing: reason))")
                    continue
                }
                #expect(url == rig.folder)
                #expect(
                    storage.directoryFailure
                        == "Not a directory; remove what is in its way, or choose another directory"
                )
            }
            let reading = cacheFailure {
                try storage.listing { () throws(StorageError) in throw StorageError(.list, rig.folder.path, EIO) }
            }
            guard case .invalidFileEnumeratorContent(let url) = reading else {
                Issue.record("\(String(describing: reading))")
                return
            }
            #expect(url == rig.folder)
            let words = KingfisherError.cacheError(reason: .invalidFileEnumeratorContent(url: url)).description
            #expect(words.contains("\(rig.folder.path)") && words.contains("check that the path is a directory"))
            #expect(storage.directoryFailure == "Input/output error; check the disk")
        }
    }

    @Test("Files that vanish while others are removed are no error", .timeLimit(.minutes(5)))
    func vanishingFiles() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            for round in 0..<5 {
                for number in 0..<100 {
                    try storage.store(value: bytes("a"), forKey: "\(number)", expiration: .seconds(1))
                }
                rig.advance(2)
                let folder = rig.folder
                async let vanishing: Void = WorkExecutor.io.run { () async in
                    for number in 0..<100 where number % 2 == round % 2 {
                        try? FileManager.default.removeItem(at: storage.cacheFileURL(forKey: "\(number)"))
                    }
                }
                try await WorkExecutor.io.run { () async throws -> Void in _ = try storage.removeExpiredValues() }
                await vanishing
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
                #expect(try storage.totalSize() == 0)
            }
        }
    }

    @Test("Files that grew or shrank outside of the storage do not break the total")
    func changedFileSizes() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            for number in 0..<4 {
                try storage.store(value: Data(count: 10), forKey: "\(number)")
                rig.advance(1)
            }
            try Data(count: 1_000).write(to: storage.cacheFileURL(forKey: "0"))
            try Data().write(to: storage.cacheFileURL(forKey: "1"))
            storage.config.sizeLimit = 4
            _ = try storage.removeSizeExceededValues()
            #expect(try await rig.another().totalSize() <= 1_000)
            _ = try storage.totalSize()
            try storage.removeAll()
            #expect(try storage.totalSize() == 0)
        }
    }
}
