// The caches of a group, and which of them its operations reach. For users, and for the group's overridden functions.

import Foundation
import KFSupport

extension ImageCacheGroup {
    /// Which caches an operation reaches, and in which order.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Policy: Sendable, Hashable {
        /// All, one after the other, the one with the highest priority first; a look-up ends with the first hit.
        case serial
        /// All at the same time; of the hits of a look-up that with the highest priority counts.
        case concurrent
        /// The one with the highest priority only.
        case highestOnly
        /// The one with the lowest priority only.
        case lowestOnly
    }

    // MARK: Caches

    /// The caches, the one with the lowest priority first.
    public var caches: [ImageCache] { state.withLock { $0.caches.reversed() } }

    /// Adds a cache, whose priority is above that of all others; it is moved there if it is in the group.
    /// - Parameter cache: The cache.
    public func add(_ cache: ImageCache) {
        state.withLock { state in
            state.caches.removeAll { $0 === cache }
            state.caches.insert(cache, at: 0)
        }
    }

    /// Takes a cache out of the group; its images stay in it.
    /// - Parameter cache: The cache.
    public func remove(_ cache: ImageCache) { state.withLock { $0.caches.removeAll { $0 === cache } } }

    // MARK: Policies

    /// Where images are looked up; ``Policy/serial`` at first.
    ///
    /// The memory of all is looked at before any disk.
    public var queryPolicy: Policy {
        get { state.withLock { $0.query } }
        set { state.withLock { $0.query = newValue } }
    }

    /// Where images and bytes are stored; ``Policy/highestOnly`` at first.
    public var storePolicy: Policy {
        get { state.withLock { $0.store } }
        set { state.withLock { $0.store = newValue } }
    }

    /// Where images are removed; ``Policy/concurrent`` at first.
    public var removePolicy: Policy {
        get { state.withLock { $0.remove } }
        set { state.withLock { $0.remove = newValue } }
    }

    /// Where it is looked whether an image is cached; ``Policy/serial`` at first, which is the same as
    /// ``Policy/concurrent`` here.
    public var containsPolicy: Policy {
        get { state.withLock { $0.contains } }
        set { state.withLock { $0.contains = newValue } }
    }

    /// What is cleared and cleaned; ``Policy/concurrent`` at first.
    public var clearPolicy: Policy {
        get { state.withLock { $0.clear } }
        set { state.withLock { $0.clear = newValue } }
    }

    /// The caches that an operation reaches, the one with the highest priority first.
    func reached(by policy: Policy) -> [ImageCache] {
        let all = state.withLock { $0.caches }
        return switch policy {
        case .serial, .concurrent: all
        case .highestOnly: Array(all.prefix(1))
        case .lowestOnly: Array(all.suffix(1))
        }
    }

    /// What the first cache that has something has; throws the first error if none has and one failed.
    func firstHit<Value: Sendable>(
        _ ask: @escaping @Sendable (ImageCache) async throws(KingfisherError) -> Value?
    ) async throws(KingfisherError) -> Value? {
        typealias Answer = Result<Value?, KingfisherError>
        let answer: @Sendable (ImageCache) async -> Answer = { cache in
            await Result { () async throws(KingfisherError) in try await ask(cache) }
        }
        let policy = queryPolicy, caches = reached(by: policy)
        let asked = policy == .concurrent ? caches.map { cache in Task.immediate { await answer(cache) } } : []
        var failure: KingfisherError?
        for (index, cache) in caches.enumerated() {
            let found = asked.isEmpty ? await answer(cache) : await asked[index].value
            switch found {
            case .success(let value?): return value
            case .success(nil): break
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// Begins an operation on the caches it reaches, the first one before this suspends, and returns how each ended.
    func outcomes<Outcome: Sendable>(
        _ policy: Policy,
        _ begin: @Sendable (ImageCache, Promise<Outcome>) -> Void
    ) async -> [Outcome] {
        var begun: [Promise<Outcome>] = []
        for cache in reached(by: policy) {
            let outcome = Promise<Outcome>()
            begin(cache, outcome)
            if policy == .serial { _ = await outcome.value }
            begun.append(outcome)
        }
        var outcomes: [Outcome] = []
        for outcome in begun { outcomes.append(await outcome.value) }
        return outcomes
    }

    /// Stores something; the result is the first failure if there is one.
    func storing(_ begin: @Sendable (ImageCache, Promise<CacheStoreResult>) -> Void) async -> CacheStoreResult {
        let results = await outcomes(storePolicy, begin)
        let failed = results.first { if case .failure = $0.diskCacheResult { true } else { false } }
        return failed ?? results.first ?? CacheStoreResult(disk: .success(()))
    }
}

extension ImageCache {
    /// The caches that store something: this one, or those of a group.
    var storingCaches: [ImageCache] { (self as? ImageCacheGroup)?.caches.flatMap(\.storingCaches) ?? [self] }
}
