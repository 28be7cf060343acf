// Details of the image cache: creation, stores, queries, removals and cleaning.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct ImageCacheRulesTests {
    private let image = SampleImage.gradient()

    // MARK: Creation

    @Test("An empty name is a programming error")
    func emptyNames() async {
        await #expect(processExitsWith: .failure) { _ = ImageCache(name: "") }
        await #expect(processExitsWith: .failure) { _ = try ImageCache(name: "", cacheDirectoryURL: nil) }
    }

    @Test("Files lie under the user's caches, under the given root, or where the closure says")
    func directories() async throws {
        let fullName = "com.onevcat.Kingfisher.ImageCache.test"
        try await withTemporaryDirectory { directory in
            let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
            let name = UUID().uuidString
            let cacheAtHome = ImageCache(name: name)
            let atHome = cacheAtHome.diskStorage.directoryURL
            await cacheAtHome.diskStorage.waitUntilIdle()
            defer {
                let all = (try? FileManager.default.contentsOfDirectory(atPath: caches.path)) ?? []
                for own in all where own.contains(name) {
                    try? FileManager.default.removeItem(at: caches.appendingPathComponent(own))
                }
            }
            #expect(atHome.path == caches.path + "/com.onevcat.Kingfisher.ImageCache.\(name)")

            let below = try ImageCache(name: "test", cacheDirectoryURL: directory)
            #expect(below.diskStorage.directoryURL.path == directory.path + "/" + fullName)

            let arguments = Box<[String]>([])
            let relocated = try ImageCache(name: "test", cacheDirectoryURL: directory) { root, name in
                arguments.change { $0 += [root.path, name] }
                return root.appendingPathComponent("elsewhere", isDirectory: true)
            }
            #expect(relocated.diskStorage.directoryURL.path == directory.path + "/elsewhere")
            #expect(arguments.value == [directory.path, fullName])
            try await relocated.store(image, forKey: "a")
            #expect(files(relocated) == [relocated.hash(forKey: "a")])
        }
    }

    @Test("Two caches with one name find each other's files and lose none")
    func cachesOfOneName() async throws {
        try await withTemporaryDirectory { directory in
            let (one, other) = (
                try ImageCache(name: "test", cacheDirectoryURL: directory),
                try ImageCache(name: "test", cacheDirectoryURL: directory)
            )
            try await one.store(image, forKey: "a")
            #expect(try await other.retrieveImage(forKey: "a").cacheType == .disk)
            try await other.removeImage(forKey: "a")
            #expect(one.imageCachedType(forKey: "a") == .memory)
            one.clearMemoryCache()
            #expect(one.imageCachedType(forKey: "a") == .none)
            // An image that one cache misses is found once the other has stored it.
            try await other.store(image, forKey: "a")
            #expect(try await one.retrieveImage(forKey: "a").cacheType == .disk)

            await withTaskGroup(of: Void.self) { group in
                for cache in [one, other] {
                    for key in 0..<20 { group.addTask { try? await cache.store(image, forKey: "\(key)") } }
                }
            }
            let png = try SampleImage.png()
            #expect(try await one.diskStorageSize == UInt(21 * png.count))
            await other.clearCache()
            #expect(try await one.diskStorageSize == 0)
        }
    }

    // MARK: Storing

    @Test("An image is serialised off the caller's thread, written as the options say, and reported on their queue")
    func storingToDisk() async throws {
        try await withCache { cache in
            let serializer = WatchedSerializer()
            var options = KingfisherParsedOptionsInfo([
                .cacheSerializer(serializer), .forcedCacheFileExtension("bin"), .diskCacheExpiration(.days(100)),
            ])
            let queue = MarkedQueue()
            options.callbackQueue = .dispatch(queue.queue)
            let isMarked = Promise<Bool>()
            let caller = pthread_self()
            cache.store(image, forKey: "a", options: options) { _ in isMarked.fulfil(queue.isCurrent) }
            #expect(await isMarked.value)
            #expect(serializer.threads.value.count == 1 && !serializer.threads.value.contains(caller))
            let entry = try #require(try await cache.diskEntries().first)
            #expect(entry.fileName == cache.hash(forKey: "a", forcedExtension: "bin"))
            #expect(entry.expiration > Date() + 99 * 86_400)
            #expect(entry.size == WatchedSerializer.bytes.count)

            options.callbackQueue = .untouch
            let isMain = Promise<Bool>()
            cache.store(image, forKey: "a", options: options) { _ in isMain.fulfil(CallbackQueue.isMain) }
            #expect(await !isMain.value)

            options.diskStoreWriteOptions = .withoutOverwriting
            let error = await failure { [options] in try await cache.store(image, forKey: "a", options: options) }
            #expect(error?.errorCode == 3009)
            try await cache.store(image, forKey: "b", options: options)
        }
    }

    // MARK: Queries

    @Test("Memory comes before disk, expired entries do not count, and nothing is extended")
    func cachedType() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            #expect(cache.imageCachedType(forKey: "a") == .memory)
            cache.clearMemoryCache()
            let before = try await cache.diskEntries()
            #expect(cache.imageCachedType(forKey: "a") == .disk)
            #expect(await cache.imageCachedTypeAsync(forKey: "a") == .disk)
            #expect(try await cache.diskEntries() == before)

            try await cache.storeToDisk(Data("x".utf8), forKey: "b", expiration: .seconds(0.001))
            cache.memoryStorage.store(value: image, forKey: "b", expiration: .seconds(0.001))
            while cache.isCached(forKey: "b") { await Task.yield() }
            #expect(await cache.imageCachedTypeAsync(forKey: "b") == .none)
        }
    }

    @Test("The disk is examined off the main thread, and the result comes on the requested queue") @MainActor
    func cachedTypeAsync() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            cache.clearMemoryCache()
            let (untouched, main, usual) = (Promise<Bool>(), Promise<Bool>(), Promise<Bool>())
            cache.imageCachedTypeAsync(forKey: "a", callbackQueue: .untouch) { _ in
                untouched.fulfil(CallbackQueue.isMain)
            }
            cache.imageCachedTypeAsync(forKey: "a", callbackQueue: .mainAsync) { _ in
                main.fulfil(CallbackQueue.isMain)
            }
            cache.imageCachedTypeAsync(forKey: "a") { _ in usual.fulfil(CallbackQueue.isMain) }
            #expect(await !untouched.value)
            #expect(await main.value)
            #expect(await usual.value)
        }
    }

    @Test("Names and paths are those of the files, with the configured extension")
    func names() async throws {
        try await withCache { cache in
            for pathExtension in [nil, "dat"] as [String?] {
                cache.diskStorage.config.pathExtension = pathExtension
                for (identifier, forced) in [("", nil), ("p", nil), ("p", "jpg")] as [(String, String?)] {
                    let key = "https://example.com/a.png"
                    let name = cache.hash(forKey: key, processorIdentifier: identifier, forcedExtension: forced)
                    let path = cache.cachePath(forKey: key, processorIdentifier: identifier, forcedExtension: forced)
                    let computedKey = identifier.isEmpty ? key : "\(key)@\(identifier)"
                    #expect(URL(fileURLWithPath: path).lastPathComponent == name)
                    #expect(path == cache.diskStorage.cacheFileURL(forKey: computedKey, forcedExtension: forced).path)
                    #expect(name.hasSuffix((forced ?? pathExtension).map { ".\($0)" } ?? ""))
                    try await cache.store(
                        image,
                        forKey: key,
                        processorIdentifier: identifier,
                        forcedExtension: forced
                    )
                    #expect(files(cache).contains(name))
                }
            }
        }
    }

    // MARK: Removing and cleaning

    @Test("Memory is cleared at once, the disk before the handler is called, and only in the requested layers")
    func removing() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            let queue = MarkedQueue()
            let seen = Promise<(isOnQueue: Bool, files: [String])>()
            cache.removeImage(forKey: "a", callbackQueue: .dispatch(queue.queue)) { [files] in
                seen.fulfil((queue.isCurrent, files(cache)))
            }
            #expect(!cache.memoryStorage.isCached(forKey: "a"))
            let (isOnQueue, left) = await seen.value
            #expect(isOnQueue && left.isEmpty)

            try await cache.store(image, forKey: "a")
            try await cache.removeImage(forKey: "a", fromMemory: false)
            #expect(cache.memoryStorage.isCached(forKey: "a") && files(cache).isEmpty)
            let calls = Counter()
            cache.removeImage(forKey: "a", fromDisk: false) { calls.add() }
            #expect(calls.value == 1 && !cache.isCached(forKey: "a"))
        }
    }

    @Test("Removing reports the errors of the disk, and none when there was nothing to remove")
    func removalErrors() async throws {
        try await withCache { cache in
            try await cache.removeImage(forKey: "a")

            let url = cache.diskStorage.cacheFileURL(forKey: "a").appendingPathComponent("inside")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            #expect(await failure { try await cache.removeImage(forKey: "a") } != nil)
            let done = Promise<Void>()
            cache.removeImage(forKey: "a") { done.fulfil(()) }
            await done.value
        }
    }

    @Test("Clearing posts no notification; cleaning posts one, on the main queue, before its handler")
    func notifications() async throws {
        try await withCache { cache in
            let events = Box<[String]>([])
            let observer = NotificationCenter.default.addObserver(
                forName: .KingfisherDidCleanDiskCache,
                object: cache,
                queue: nil
            ) { _ in events.change { $0.append(CallbackQueue.isMain ? "cleaned" : "cleaned elsewhere") } }
            defer { NotificationCenter.default.removeObserver(observer) }

            try await cache.store(image, forKey: "a")
            let cleared = Promise<Void>()
            cache.clearDiskCache {
                events.change { $0.append(CallbackQueue.isMain ? "cleared" : "cleared elsewhere") }
                cleared.fulfil(())
            }
            await cleared.value
            for _ in 0..<2 {
                let cleaned = Promise<Void>()
                cache.cleanExpiredDiskCache {
                    events.change { $0.append(CallbackQueue.isMain ? "handler" : "handler elsewhere") }
                    cleaned.fulfil(())
                }
                await cleaned.value
                try await cache.storeToDisk(Data("x".utf8), forKey: "old", expiration: .seconds(0.001))
                while cache.diskStorage.isCached(forKey: "old") { await Task.yield() }
            }
            #expect(events.value == ["cleared", "handler", "cleaned", "handler"])
        }
    }

    @Test("Expired entries are removed first, then those above the limit")
    func cleaningToSize() async throws {
        try await withCache { cache in
            let bytes = Data(count: 1_000)
            for key in ["a", "b", "c"] { try await cache.storeToDisk(bytes, forKey: key) }
            try await cache.storeToDisk(bytes, forKey: "old", expiration: .seconds(0.001))
            while cache.diskStorage.isCached(forKey: "old") { await Task.yield() }
            cache.diskStorage.config.sizeLimit = 3_500
            await cache.cleanExpiredDiskCache()
            // Had the size been checked first, more than the expired entry would have been removed.
            #expect(try await cache.diskStorageSize == 3_000)
            cache.diskStorage.config.sizeLimit = 2_000
            await cache.cleanExpiredDiskCache()
            #expect(try await cache.diskStorageSize <= 2_000)
            #expect(cache.isCached(forKey: "c"))
        }
    }
}

/// A queue that is recognised from within.
private struct MarkedQueue: Sendable {
    let queue = DispatchQueue(label: "marked")
    private let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: key, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
