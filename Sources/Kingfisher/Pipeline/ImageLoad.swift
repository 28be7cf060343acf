// How an image is found or made, step by step, when memory does not have it; once for all who want it at one time.

import Foundation
import KFSupport

/// The load of an image for all its subscribers: memory, disk, original, bytes, process, store.
struct ImageLoad: Sendable {
    let manager: KingfisherManager
    let plan: LoadPlan
    /// The subscribers.
    let task: SharedImageLoad

    /// Finds or makes the image.
    func run() async throws(KingfisherError) -> LoadedImage {
        // 1. Memory, where another load may have put it by now, and the disk.
        var cached: CachedImage?
        var failure: KingfisherError?
        do throws(KingfisherError) {
            cached = try await cachedImage(validates: plan.asksServer)
        } catch {
            // A cache that cannot be read has nothing; where caches are all there is, that is the error.
            guard case .cacheError = error else { throw error }
            failure = error
        }
        try checkIsWanted()
        // 2. The original, of which the image is made.
        if cached == nil { cached = await original(validates: plan.asksServer) }
        if let cached {
            guard plan.asksServer, cached.cacheType != .memory else { return try await result(of: cached) }
            try checkIsWanted()
            if let result = try await validated(cached) { return result }
        }
        guard !plan.options.onlyFromCache else { throw failure ?? plan.notExisting }
        try checkIsWanted()
        // A load that shares nothing but the entry may have made the image while the disk was read.
        if let image = imageInMemory() { return LoadedImage(image, from: .memory) }
        // 3. Bytes, of which the image is made and stored.
        do throws(KingfisherError) {
            return try await imageOfBytes(plan)
        } catch {
            guard error.isNotModified, let confirmed = try await confirmed() else { throw error }
            return confirmed
        }
    }

    /// Nothing is begun for subscribers that do not want the image any more.
    private func checkIsWanted() throws(KingfisherError) { guard task.isWanted else { throw plan.notExisting } }

    /// The cached image of something that is unchanged according to the server; also for loads that did not look
    /// there first.
    private func confirmed() async throws(KingfisherError) -> LoadedImage? {
        let plan = plan.with { options in
            options.forceRefresh = false
            options.fromMemoryCacheOrRefresh = false
            (options.queryCacheLayers, options.originalQueryCacheLayers) = (.all, .all)
        }
        let load = ImageLoad(manager: manager, plan: plan, task: task)
        if let cached = try await load.cachedImage(validates: false) {
            var result = try await load.result(of: cached)
            result.isConfirmed = true
            return result
        }
        guard let original = await load.original(validates: false) else { return nil }
        return try await load.result(of: original)
    }

    /// The image made of the bytes of the source, stored.
    func imageOfBytes(_ plan: LoadPlan) async throws(KingfisherError) -> LoadedImage {
        try manager.checkDownloadIsAllowed(plan.source, plan.options)
        let origin = manager.origin(of: plan)
        return try await origin.withBytes(of: plan, for: task) { bytes throws(KingfisherError) in
            let image = try await bytes.image(plan.options).get()
            await origin.didMake(image, of: bytes, plan.options)
            return stored(image, of: bytes)
        }
    }
}

/// A load of an image, shared by all loads with the same identity.
typealias SharedImageLoad = SharedTask<LoadPlan.Identity, LoadedImage>

/// The result of a shared load, before it is adapted to each subscriber.
struct LoadedImage: Sendable {
    var image: KFCrossPlatformImage
    let cacheType: CacheType
    /// The downloaded or provided bytes; nil when the image came from a cache.
    var data: Data?
    /// Whether the server confirmed that what the cache has is unchanged.
    var isConfirmed = false
    /// How storing goes; nil when nothing is stored.
    var storing: Promise<CacheStoreResult>?
    /// What all results say about the image beside.
    private(set) var details: RetrieveImageResult.Details?
    /// The images that subscribers who want their frames otherwise have made of the same bytes; nil for a still.
    let remade: OncePerKey<ImageIdentity, Result<KFCrossPlatformImage, KingfisherError>>?

    init(_ image: KFCrossPlatformImage, from cacheType: CacheType) {
        (self.image, self.cacheType) = (image, cacheType)
        remade = image.frameCount ?? 1 > 1 ? OncePerKey() : nil
    }

    /// What the response said about caching.
    var metadata: CacheMetadata? { details?.value.cacheMetadata }

    mutating func describe(_ change: (inout RetrieveImageResult.Details.Value) -> Void) {
        details = .changed(details, change)
    }
}
