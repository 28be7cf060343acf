// The registry of a process's caches: events that reach all of them, and when memory is watched.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

/// Watches nothing, and records its calls.
final class FakeWatch: MemoryWatch {
    let log: Box<[String]>
    let notify: @Sendable (MemoryPressureLevel) -> Void

    init(log: Box<[String]> = Box([]), notify: @escaping @Sendable (MemoryPressureLevel) -> Void = { _ in }) {
        self.log = log
        self.notify = notify
    }

    func start() { log.change { $0.append("start") } }
    func stop() { log.change { $0.append("stop") } }
}

@Suite struct CacheRegistryTests {
    private let image = SampleImage.gradient()

    private func cache(in directory: URL, named name: String = "test") throws -> ImageCache {
        try ImageCache(name: name, cacheDirectoryURL: directory)
    }

    private func life(_ registry: CacheRegistry) -> CacheLifeCycle {
        CacheLifeCycle(registry: registry, janitor: CacheJanitor(interval: 0))
    }

    @Test("Memory is watched as long as a cache exists") func watchedCaches() async throws {
        try await withTemporaryDirectory { directory in
            let log = Box([String]())
            let registry = CacheRegistry { FakeWatch(log: log, notify: $0) }
            let cache = try cache(in: directory)
            var lives = [life(registry), life(registry)]
            #expect(log.value == [])
            for life in lives { life.begin(cache) }
            #expect(log.value == ["start"])
            lives.removeFirst()
            #expect(log.value == ["start"])
            lives.removeFirst()
            #expect(log.value == ["start", "stop"])
            let again = life(registry)
            again.begin(cache)
            #expect(log.value == ["start", "stop", "start"])
        }
    }

    @Test("Watching can be switched off") func watchSwitchedOff() async throws {
        try await withTemporaryDirectory { directory in
            let log = Box([String]())
            let registry = CacheRegistry { FakeWatch(log: log, notify: $0) }
            #expect(registry.isWatching)
            registry.isWatching = false
            let life = life(registry)
            life.begin(try cache(in: directory))
            #expect(log.value == [])
            registry.isWatching = true
            registry.isWatching = true
            #expect(log.value == ["start"])
            registry.isWatching = false
            #expect(log.value == ["start", "stop"])
        }
    }

    @Test("Memory pressure reaches all caches") func pressureReachesAllCaches() async throws {
        try await withTemporaryDirectory { directory in
            let watch = Box<FakeWatch?>(nil)
            let registry = CacheRegistry { notify in
                let fake = FakeWatch(notify: notify)
                if watch.value == nil { watch.value = fake }
                return fake
            }
            let caches = try ["a", "b"].map { try cache(in: directory, named: $0) }
            let lives = caches.map { _ in life(registry) }
            for (life, cache) in zip(lives, caches) {
                life.begin(cache)
                for key in ["1", "2"] { cache.memoryStorage.store(value: image, forKey: key) }
            }
            let notify = try #require(watch.value).notify
            notify(.none)
            #expect(caches.map(\.memoryStorageCacheCost) == [2 * image.cost, 2 * image.cost])
            notify(.warning)
            #expect(caches.map(\.memoryStorageCacheCost) == [image.cost, image.cost])
            notify(.critical)
            #expect(caches.map(\.memoryStorageCacheCost) == [0, 0])
            withExtendedLifetime(lives) {}
        }
    }

    @Test("The registry and the janitor do not retain a cache")
    func cacheRetention() async throws {
        try await withTemporaryDirectory { directory in
            let registry = CacheRegistry { _ in FakeWatch() }
            let life = CacheLifeCycle(registry: registry, janitor: CacheJanitor(interval: 3600))
            weak var gone: ImageCache?
            do {
                let cache = try cache(in: directory)
                gone = cache
                life.begin(cache)
                #expect(registry.caches.count == 1)
            }
            #expect(gone == nil)
            #expect(registry.caches.isEmpty)
        }
    }

    @Test("Entering the background and flushing reach all caches") func backgroundAndFlush() async throws {
        try await withTemporaryDirectory { directory in
            let registry = CacheRegistry { _ in FakeWatch() }
            let caches = try ["a", "b"].map { try cache(in: directory, named: $0) }
            let lives = caches.map { _ in life(registry) }
            for (life, cache) in zip(lives, caches) {
                life.begin(cache)
                cache.store(image, forKey: "a") { _ in }
            }
            registry.enteredBackground()
            #expect(caches.map(\.memoryStorageCacheCost) == [0, 0])
            #expect(await CacheFlush(registry.caches).wait(atMost: 1e9, thenCleaning: false))
            #expect(caches.map { $0.diskStorage.isCached(forKey: "a") } == [true, true])
            withExtendedLifetime(lives) {}
        }
    }
}
