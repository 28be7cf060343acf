// Disk storages: keys that point outside of the directory, and storages that share a directory.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

/// Texts that are invalid as file names, and some that only look invalid.
let hostileTexts = [
    "../../etc/passwd", "..", ".", "", "/", "/etc/passwd", "a/../../b", ".hidden", "nul\u{0}byte", "\u{0}", "new\nline",
    "\n", "📷👨‍👩‍👧", "%2e%2e%2f", "a b", "~", "-rf", "*", "é", "e\u{301}", "a:b?c#d", "\\..\\x",
    String(repeating: "k", count: 10_000), String(repeating: "é", count: 200), String(repeating: "k", count: 255),
]

@Suite struct DiskStorageKeysTests {
    /// Every file and directory under `root`, relative to it.
    private func everything(in root: URL) -> Set<String> {
        Set((FileManager.default.enumerator(atPath: root.path)?.allObjects as? [String]) ?? [])
    }

    /// The files in the root that are in neither the storage's directory nor the one for its temporary files.
    private func filesOutside(_ rig: DiskRig) -> Set<String> {
        let name = rig.folder.lastPathComponent
        return everything(in: rig.root).filter { !$0.hasPrefix(name) && !$0.hasPrefix(".\(name).tmp") }
    }

    private func check(
        _ rig: DiskRig,
        key: String,
        forcedExtension: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let storage = rig.storage
        let label = "\(key.prefix(20)) . \(forcedExtension?.prefix(20) ?? "")"
        let value = bytes("value of \(label)")
        try storage.store(value: value, forKey: key, forcedExtension: forcedExtension)
        let name = storage.cacheFileName(forKey: key, forcedExtension: forcedExtension)
        let url = storage.cacheFileURL(forKey: key, forcedExtension: forcedExtension)
        #expect(rig.files == [name], "\(label)", sourceLocation: sourceLocation)
        #expect(url.path == rig.folder.path + "/" + name, "\(label)", sourceLocation: sourceLocation)
        #expect(name.utf8.count <= 255 && !name.contains("/"), "\(label)", sourceLocation: sourceLocation)
        #expect(try Data(contentsOf: url) == value, "\(label)", sourceLocation: sourceLocation)
        #expect(
            try storage.value(forKey: key, forcedExtension: forcedExtension) == value,
            "\(label)",
            sourceLocation: sourceLocation
        )
        #expect(
            storage.isCached(forKey: key, forcedExtension: forcedExtension),
            "\(label)",
            sourceLocation: sourceLocation
        )
        #expect(try storage.totalSize() == UInt(value.count), "\(label)", sourceLocation: sourceLocation)
        #expect(filesOutside(rig) == [], "\(label)", sourceLocation: sourceLocation)
        try storage.remove(forKey: key, forcedExtension: forcedExtension)
        #expect(rig.files == [], "\(label)", sourceLocation: sourceLocation)
    }

    @Test("No key leads out of the directory, hashed or not", arguments: [true, false])
    func hostileKeys(isHashed: Bool) async throws {
        try await DiskRig.run {
            $0.usesHashedFileName = isHashed
        } _: { rig in
            for key in hostileTexts { try check(rig, key: key, forcedExtension: nil) }
        }
    }

    @Test("No extension leads out of the directory, hashed or not", arguments: [true, false])
    func hostileExtensions(isHashed: Bool) async throws {
        try await DiskRig.run {
            $0.usesHashedFileName = isHashed
        } _: { rig in
            for text in hostileTexts {
                try check(rig, key: "key", forcedExtension: text)
                rig.storage.config.pathExtension = text
                try check(rig, key: "key", forcedExtension: nil)
                rig.storage.config.pathExtension = nil
                try check(rig, key: text, forcedExtension: text)
            }
        }
    }

    @Test("Different keys have different files, hashed or not", arguments: [true, false])
    func distinctFiles(isHashed: Bool) async throws {
        try await DiskRig.run {
            $0.usesHashedFileName = isHashed
        } _: { rig in
            let storage = rig.storage
            // Both forms of "é" are equal as a `String`, but are different keys.
            for (index, key) in hostileTexts.enumerated() { try storage.store(value: bytes("\(index)"), forKey: key) }
            #expect(rig.files.count == hostileTexts.count)
            for (index, key) in hostileTexts.enumerated() {
                #expect(try storage.value(forKey: key) == bytes("\(index)"))
            }
        }
    }

    @Test("A link at an entry's path is not followed when reading, writing or removing")
    func symbolicLinks() async throws {
        try await DiskRig.run { rig in
            let storage = rig.storage
            let secret = rig.root.appendingPathComponent("secret")
            try bytes("secret").write(to: secret)
            let url = storage.cacheFileURL(forKey: "a")
            try FileManager.default.createSymbolicLink(at: url, withDestinationURL: secret)
            guard
                case .cannotLoadDataFromDisk = cacheFailure({
                    try storage.value(
                        forKey: "a",
                        referenceDate: .distantPast,
                        extendingExpiration: .cacheTime,
                        forcedExtension: nil
                    )
                })
            else {
                Issue.record("the link was followed")
                return
            }
            try storage.store(value: bytes("new"), forKey: "a")
            #expect(try Data(contentsOf: secret) == bytes("secret"))
            #expect(try storage.value(forKey: "a") == bytes("new"))
            try FileManager.default.removeItem(at: url)
            try FileManager.default.createSymbolicLink(at: url, withDestinationURL: secret)
            try storage.remove(forKey: "a")
            try storage.removeAll()
            #expect(try Data(contentsOf: secret) == bytes("secret"))
        }
    }
}

@Suite("Two storages on one directory") struct DiskStorageSharingTests {
    private func run(_ body: (DiskRig, DiskStorage.Backend<Data>, DiskStorage.Backend<Data>) throws -> Void)
        async throws
    {
        try await DiskRig.run { rig in
            let other = await rig.another()
            // Both ways round: neither the first nor the last storage is special.
            try body(rig, rig.storage, other)
            try rig.storage.removeAll()
            try body(rig, other, rig.storage)
        }
    }

    @Test("A value that one storage stores or replaces is found by the other")
    func sharedStores() async throws {
        try await run { _, one, other in
            for number in 0..<200 {
                let key = "\(number)"
                #expect(try other.value(forKey: key) == nil)
                try one.store(value: bytes(key), forKey: key)
                #expect(other.isCached(forKey: key))
                #expect(try other.value(forKey: key) == bytes(key))
            }
            try one.store(value: bytes("new"), forKey: "7")
            #expect(try other.value(forKey: "7") == bytes("new"))
        }
    }

    @Test("A value that one storage removes is a miss for the other, which may store it again")
    func sharedRemovals() async throws {
        try await run { rig, one, other in
            for key in ["a", "b"] { try one.store(value: bytes(key), forKey: key) }
            #expect(try other.value(forKey: "a") == bytes("a"))
            try one.remove(forKey: "a")
            #expect(!other.isCached(forKey: "a"))
            #expect(try other.value(forKey: "a") == nil)
            try other.removeAll()
            #expect(try one.value(forKey: "b") == nil)
            #expect(!one.isCached(forKey: "b"))
            try other.store(value: bytes("b"), forKey: "b")
            #expect(try one.value(forKey: "b") == bytes("b"))
            #expect(rig.files.count == 1)
        }
    }

    @Test("An expiration that one storage extends is extended for the other")
    func sharedExtensions() async throws {
        try await run { rig, one, other in
            try one.store(value: bytes("a"), forKey: "a", expiration: .seconds(100))
            rig.advance(60)
            #expect(try other.value(forKey: "a") == bytes("a"))
            rig.advance(60)
            #expect(try one.removeExpiredValues() == [])
            #expect(try one.value(forKey: "a", extendingExpiration: .none) == bytes("a"))
            rig.advance(60)
            #expect(try other.removeExpiredValues() == [one.cacheFileURL(forKey: "a")])
            #expect(!one.isCached(forKey: "a"))
        }
    }

    @Test("A file that was put into the directory by other means is found on disk")
    func externalFile() async throws {
        try await DiskRig.run { rig in
            let url = rig.storage.cacheFileURL(forKey: "a")
            try bytes("a").write(to: url)
            let future = [FileAttributeKey.modificationDate: rig.now.value + 100]
            try FileManager.default.setAttributes(future, ofItemAtPath: url.path)
            let fresh = await rig.another()
            #expect(fresh.isCached(forKey: "a"))
            #expect(try fresh.value(forKey: "a", extendingExpiration: .none) == bytes("a"))
            #expect(try rig.storage.totalSize() == 1)
            #expect(rig.storage.isCached(forKey: "a"))
        }
    }

    @Test("A directory that is removed and created again works for both storages")
    func recreatedDirectory() async throws {
        try await run { rig, one, other in
            try one.store(value: bytes("a"), forKey: "a")
            #expect(other.isCached(forKey: "a"))
            try one.removeAll(skipCreatingDirectory: true)
            #expect(!FileManager.default.fileExists(atPath: rig.folder.path))
            #expect(!other.isCached(forKey: "a"))
            #expect(try other.totalSize() == 0)
            try other.store(value: bytes("b"), forKey: "b")
            #expect(try one.value(forKey: "b") == bytes("b"))
            try one.store(value: bytes("c"), forKey: "c")
            #expect(try other.value(forKey: "c") == bytes("c"))
        }
    }

    @Test("Two storages that store and clean concurrently leave whole entries", .timeLimit(.minutes(5)))
    func concurrentStorages() async throws {
        try await DiskRig.run {
            $0.sizeLimit = 20_000
        } _: { rig in
            let storages = [rig.storage, await rig.another()]
            // The first write of a storage removes old temporary files, and by the clock of this test all of them are.
            for storage in storages { try storage.store(value: Data(count: 1_000), forKey: "0") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, storage) in storages.enumerated() {
                    group.addTask(executorPreference: WorkExecutor.io) {
                        for number in 0..<300 {
                            let key = "\(number % 40)"
                            try storage.store(value: Data(repeating: UInt8(index), count: 1_000), forKey: key)
                            if let value = try storage.value(forKey: "\((number * 7) % 40)") {
                                #expect(value.count == 1_000 && Set(value).count == 1)
                            }
                            if number % 25 == 24 { _ = try storage.removeSizeExceededValues() }
                            if number % 60 == 59 { try storage.remove(forKey: key) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for storage in storages { await storage.waitUntilIdle() }
            let sum = rig.files.count * 1_000
            #expect(try await Int(rig.another().totalSize()) == sum)
        }
    }
}
