// How an image is found or made, step by step, when memory does not have it. Runs once for all subscribers of a load.

import Foundation
import KFSupport

extension KingfisherManager {
    /// Finds or makes an image: memory, disk, original, bytes; then it is stored.
    func image(_ wanted: KeyedSource, for load: ImageLoad) async throws(KingfisherError) -> LoadResult {
        if wanted.options.asksServer(about: wanted.source) {
            return try await validImage(wanted, for: load)
        }
        // 1 and 2. Memory, where another load may have put it by now, then disk.
        var failure: KingfisherError?
        do throws(KingfisherError) {
            if let cached = try await cachedImage(wanted) { return cached }
        } catch .cacheError(let reason) {
            // A cache that cannot be read has nothing; where caches are all there is, that is the error.
            failure = .cacheError(reason: reason)
        }
        try checkIsWanted(wanted, load)

        // 3. The original, of which the image is made.
        if let made = try await imageOfOriginal(wanted) { return made }
        guard !wanted.options.onlyFromCache else { throw failure ?? wanted.notExisting }
        try checkIsWanted(wanted, load)
        // A load that shares nothing but the entry may have made the image while the disk was read.
        if let made = imageStoredMeanwhile(wanted) { return made }

        // 4 and 5. Bytes, of which the image is made and stored.
        return try await loadedImage(wanted, for: load)
    }

    /// The image made of loaded bytes, stored; the cached one when the server says that it is unchanged.
    func loadedImage(_ wanted: KeyedSource, for load: ImageLoad) async throws(KingfisherError) -> LoadResult {
        do throws(KingfisherError) {
            return try await imageOfBytes(wanted, for: load)
        } catch {
            guard error.isNotModified, let confirmed = try await confirmedImage(wanted) else { throw error }
            return confirmed
        }
    }

    /// Nothing is begun for subscribers that do not want the image any more.
    func checkIsWanted(_ wanted: KeyedSource, _ load: ImageLoad) throws(KingfisherError) {
        guard load.isWanted else { throw wanted.notExisting }
    }

    /// The cached image of something that is unchanged according to the server; also for loads that did not look
    /// there first.
    private func confirmedImage(_ wanted: KeyedSource) async throws(KingfisherError) -> LoadResult? {
        var options = wanted.options
        options.forceRefresh = false
        options.fromMemoryCacheOrRefresh = false
        (options.queryCacheLayers, options.originalQueryCacheLayers) = (.all, .all)
        let wanted = KeyedSource(wanted.source, options)
        guard var cached = try await cachedImage(wanted) else { return try await imageOfOriginal(wanted) }
        cached.isConfirmed = true
        return cached
    }

    /// The image that the cached original makes, stored; nil if there is no original.
    private func imageOfOriginal(_ wanted: KeyedSource) async throws(KingfisherError) -> LoadResult? {
        guard let original = await originalImage(wanted) else { return nil }
        return try await image(of: original, wanted)
    }

    /// The image that an original makes, stored.
    func image(of original: Original, _ wanted: KeyedSource) async throws(KingfisherError) -> LoadResult {
        let image = try await wanted.options.processor.processed(.image(original.image), wanted.options)
        var loaded = LoadResult(image: image, cacheType: .none, data: original.bytes)
        loaded.metadata = original.metadata
        guard let cache = wanted.options.targetCache, wanted.options.mayStore(original.metadata) else { return loaded }
        let stored = Promise<CacheStoreResult>()
        store(loaded, for: wanted, keepsOriginal: false, in: cache, result: stored)
        loaded.storing = stored
        return loaded
    }

    /// The image made of the bytes of a provider, a loader or the downloader, stored.
    func imageOfBytes(
        _ wanted: KeyedSource,
        for load: ImageLoad
    ) async throws(KingfisherError) -> LoadResult {
        let options = wanted.options
        try checkMayBeDownloaded(wanted.source, options)
        switch wanted.source {
        case .provider(let provider):
            load.didStart(from: .provider)
            let bytes = try await bytes(of: provider, options)
            return stored(try await bytes.image(options).get(), of: bytes, for: wanted)
        case .network(let resource):
            let url = resource.downloadURL
            if let entry = loaders.entry(for: url, options) {
                load.didStart(from: .provider)
                let bytes = try await bytes(of: wanted.source, at: url, by: entry, options)
                return stored(try await bytes.image(options).get(), of: bytes, for: wanted)
            }
            let downloader = options.downloader ?? downloader
            guard !downloader.isSubclassed else {
                return try await imageOfSubclass(downloader, at: url, wanted, for: load)
            }
            let loader = downloader.loader
            return try await loader.withBytes(
                at: url,
                options,
                sharesValuesSince: options.forceRefresh ? nil : load.beginning
            ) { bytes, _ throws(KingfisherError) in
                stored(try await loader.image(of: bytes, options), of: bytes, for: wanted)
            }
        }
    }

    /// The image that a downloader of the user's has downloaded and processed, stored.
    ///
    /// The transfer it starts by calling `super` serves the load; without one, it does so itself.
    private func imageOfSubclass(
        _ downloader: ImageDownloader,
        at url: URL,
        _ wanted: KeyedSource,
        for load: ImageLoad
    ) async throws(KingfisherError) -> LoadResult {
        let download = try await downloader.downloadWithHandle(with: url, options: wanted.options) { task in
            guard !load.hasStarted, let transfer = task.sessionTask, let token = task.cancelToken else {
                return
            }
            load.didStart(from: .transfer(transfer, token))
        }
        if !load.hasStarted { load.didStart(from: .provider) }
        let request = await downloader.presumedRequest(for: url, wanted.options)
        let bytes = LoadedBytes(
            download.originalData,
            request: request,
            response: download.response,
            metrics: download.metrics,
            isPersonal: downloader.mayHaveSentCredentials(with: request)
        )
        return stored(download.image, of: bytes, for: wanted)
    }
}
