// The caller's thread: no asynchronous function of a cache uses the file system there.

#if DEBUG
import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite("No caller's thread waits for the disk") struct CallerThreadTests {
    /// Runs `body` with a cache that has one image on disk.
    private func withCache(_ body: (ImageCache) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            try await cache.store(SampleImage.gradient(), forKey: "a")
            cache.clearMemoryCache()
            try await body(cache)
            await cache.clearDiskCache()
        }
    }

    /// Every form with a handler, by name.
    private static let calls: [(name: String, call: @Sendable (ImageCache, @escaping @Sendable () -> Void) -> Void)] = [
        ("store, options", { $0.store(picture, forKey: "a", options: parsed, completionHandler: ignoring($1)) }),
        ("store", { $0.store(picture, forKey: "a", completionHandler: ignoring($1)) }),
        (
            "store, metadata",
            {
                $0.store(
                    picture,
                    forKey: "a",
                    options: parsed,
                    cacheMetadata: metadata,
                    completionHandler: ignoring($1)
                )
            }
        ),
        ("storeToDisk", { $0.storeToDisk(Data("x".utf8), forKey: "a", completionHandler: ignoring($1)) }),
        (
            "storeToDisk, metadata",
            { $0.storeToDisk(Data("x".utf8), forKey: "a", cacheMetadata: metadata, completionHandler: ignoring($1)) }
        ),
        ("removeImage", { $0.removeImage(forKey: "a", completionHandler: $1) }),
        (
            "retrieveImage, options",
            { $0.retrieveImage(forKey: "a", options: parsed, callbackQueue: .untouch, completionHandler: ignoring($1)) }
        ),
        ("retrieveImage", { $0.retrieveImage(forKey: "a", callbackQueue: .untouch, completionHandler: ignoring($1)) }),
        ("retrieveImageInDiskCache", { $0.retrieveImageInDiskCache(forKey: "a", completionHandler: ignoring($1)) }),
        ("clearCache", { $0.clearCache(completion: $1) }),
        ("clearDiskCache", { $0.clearDiskCache(completion: $1) }),
        ("cleanExpiredCache", { $0.cleanExpiredCache(completion: $1) }),
        ("cleanExpiredDiskCache", { $0.cleanExpiredDiskCache(completion: $1) }),
        (
            "imageCachedTypeAsync",
            { $0.imageCachedTypeAsync(forKey: "a", callbackQueue: .untouch, completionHandler: ignoring($1)) }
        ),
        ("calculateDiskStorageSize", { $0.calculateDiskStorageSize(completion: ignoring($1)) }),
        ("memory only", callMemoryFunctions),
        ("handleMemoryPressure", { cache, done in finishing(done) { cache.handleMemoryPressure(.critical) } }),
        ("enteredBackground", { cache, done in finishing(done) { cache.enteredBackground() } }),
    ]

    /// Every async form, by name.
    private static let functions: [(name: String, call: @Sendable (ImageCache) async throws -> Void)] = [
        ("store, options", { try await $0.store(picture, forKey: "a", options: parsed) }),
        ("store", { try await $0.store(picture, forKey: "a") }),
        ("storeToDisk", { try await $0.storeToDisk(Data("x".utf8), forKey: "a") }),
        ("removeImage", { try await $0.removeImage(forKey: "a") }),
        ("retrieveImage, options", { _ = try await $0.retrieveImage(forKey: "a", options: parsed) }),
        ("retrieveImage", { _ = try await $0.retrieveImage(forKey: "a") }),
        ("retrieveImageInDiskCache", { _ = try await $0.retrieveImageInDiskCache(forKey: "a") }),
        ("clearCache", { await $0.clearCache() }),
        ("clearDiskCache", { await $0.clearDiskCache() }),
        ("cleanExpiredCache", { await $0.cleanExpiredCache() }),
        ("cleanExpiredDiskCache", { await $0.cleanExpiredDiskCache() }),
        ("imageCachedTypeAsync", { _ = await $0.imageCachedTypeAsync(forKey: "a") }),
        ("diskStorageSize", { _ = try await $0.diskStorageSize }),
        ("diskEntries", { _ = try await $0.diskEntries() }),
        ("cacheMetadata", { _ = try await $0.cacheMetadata(forKey: "a") }),
        ("updateCacheMetadata", { try await $0.updateCacheMetadata(metadata, forKey: "a") }),
        ("statistics", { _ = $0.statistics }),
        ("willTerminate", { _ = await $0.willTerminate() }),
    ]

    private static let picture = SampleImage.gradient()
    private static let parsed: KingfisherParsedOptionsInfo = {
        var options = KingfisherParsedOptionsInfo()
        options.callbackQueue = .untouch
        return options
    }()
    private static let metadata = CacheMetadata(eTag: "\"1\"", storedAt: Date())
    private static func ignoring<Value>(_ handler: @escaping @Sendable () -> Void) -> @Sendable (Value) -> Void {
        { _ in handler() }
    }

    private static func finishing(_ done: () -> Void, _ work: () -> Void) {
        work()
        done()
    }

    @Sendable private static func callMemoryFunctions(_ cache: ImageCache, _ done: @escaping @Sendable () -> Void) {
        _ = cache.retrieveImageInMemoryCache(forKey: "a")
        cache.store(picture, forKey: "a", toDisk: false, completionHandler: nil)
        _ = cache.memoryStorageCacheCost
        cache.retrieveImage(forKey: "a", callbackQueue: .untouch) { _ in done() }
        cache.cleanExpiredMemoryCache()
        cache.clearMemoryCache()
        cache.resetStatistics()
    }

    @Test("Forms with a handler do not use the file system on the caller's thread", arguments: calls.map(\.name))
    func formsWithHandlers(name: String) async throws {
        let call = try #require(Self.calls.first { $0.name == name }).call
        try await withCache { cache in
            let done = Promise<Void>()
            let found = BlockingGuard.violations { call(cache) { done.fulfil(()) } }
            #expect(found == [])
            await done.value
        }
    }

    @Test("Async forms do not use the file system on the caller's thread", arguments: functions.map(\.name))
    func asyncForms(name: String) async throws {
        let call = try #require(Self.functions.first { $0.name == name }).call
        try await withCache { cache in
            let task = Box<Task<Void, any Error>?>(nil)
            let found = BlockingGuard.violations { task.value = Task.immediate { try await call(cache) } }
            #expect(found == [])
            try await task.value?.value
        }
    }

    @Test(
        "Async forms called by an actor do not use the file system on its thread, also after waiting",
        arguments: functions.map(\.name)
    )
    func asyncFormsOnAnActor(name: String) async throws {
        let call = try #require(Self.functions.first { $0.name == name }).call
        try await withCache { cache in
            let caller = WatchedCaller()
            cache.store(Self.picture, forKey: "a", completionHandler: nil)
            cache.storeToDisk(Data("x".utf8), forKey: "a", completionHandler: nil)
            cache.clearMemoryCache()
            try await caller.run { try await call(cache) }
            #expect(caller.found == [])
        }
    }

    @Test("Cleaning in the background does not use the file system on the caller's thread") @MainActor
    func cleaningInTheBackground() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            let found = BlockingGuard.violations { cache.backgroundCleanExpiredDiskCache() }
            #expect(found == [])
            await cache.cleanExpiredDiskCache()
        }
    }

    /// Fails every load.
    private struct FailingProvider: ImageDataProvider {
        struct Refusal: Error {}
        let cacheKey = "missing"
        func data() async throws -> Data { throw Refusal() }
    }

    @Test("An alternative source is not read on the thread where the first one failed")
    func replacementReads() async throws {
        try await withCache { cache in
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            let replacement = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "a"))
            let options: KingfisherOptionsInfo = [.loadDiskFileSynchronously, .alternativeSources([replacement])]
            let caller = WatchedCaller()
            try await caller.run {
                let result = try await manager.retrieveImage(with: .provider(FailingProvider()), options: options)
                #expect(result.cacheType == .disk)
            }
            // The first source is looked up on this thread, but no file exists to be opened.
            #expect(!caller.found.contains("read(_:)"))
        }
    }

    @Test("The guard reports calls that are documented to wait")
    func guardDetectsWaiting() async throws {
        try await withCache { cache in
            await cache.diskStorage.waitUntilIdle()
            let probing = BlockingGuard.violations { _ = cache.imageCachedType(forKey: "a") }
            #expect(probing.count == 1)
            let reading = BlockingGuard.violations {
                let options: KingfisherOptionsInfo = [.loadDiskFileSynchronously]
                cache.retrieveImage(forKey: "a", options: options, callbackQueue: .untouch) { _ in }
            }
            #expect(reading.contains("open(_:)") && reading.contains("read(_:)"))
            let caller = WatchedCaller()
            try await caller.run { _ = cache.cacheFileURLIfOnDisk(forKey: "a") }
            #expect(!caller.found.isEmpty)
        }
    }
}

/// An actor that records the uses of the file system in each of its steps.
private actor WatchedCaller {
    private nonisolated let executor = WatchedExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// The violations found in all steps so far.
    nonisolated var found: [String] { executor.found }

    private var calls = 0

    func run(_ body: @Sendable () async throws -> Void) async throws {
        // Without work here first, the compiler would not switch to this actor before it calls the body.
        calls += 1
        try await body()
    }
}

/// Runs jobs one by one, and records their uses of the file system.
private final class WatchedExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "watched")
    private let all = Box<[String]>([])
    var found: [String] { queue.sync { all.value } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in
            let new = BlockingGuard.violations { job.runSynchronously(on: asUnownedSerialExecutor()) }
            all.change { $0 += new }
        }
    }
}
#endif
