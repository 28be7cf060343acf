// How an image is made when memory does not have it: disk, original, download; then stored. Runs once for all callers.

import Foundation
import KFStorage
import KFSupport
import KFTransport

extension KingfisherManager {
    /// Cache, else fetch, process and cache; `notOnDisk` when the first caller has just looked there for what it wants.
    func loadImage(
        _ wanted: KeyedSource,
        _ look: MemoryLookup,
        _ channel: LoadChannel,
        notOnDisk: MemoryGeneration? = nil
    ) async throws(KingfisherError) -> LoadResult {
        let options = wanted.options
        // Where caches are all there is, one that cannot be read is an error, unless the original is there all the
        // same.
        var failure: KingfisherError?
        do throws(KingfisherError) {
            if let loaded = try await processedImage(wanted, look, channel, notOnDisk: notOnDisk) { return loaded }
        } catch .cacheError(let reason) {
            guard !channel.isAbandoned else { throw .cacheError(reason: reason) }
            failure = .cacheError(reason: reason)
        }
        if let loaded = try await processedOriginal(wanted) { return loaded }
        guard !options.onlyFromCache else {
            throw failure ?? .cacheError(reason: .imageNotExisting(key: wanted.query.key))
        }

        // Nothing is begun for callers that have left, or do not want the image.
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        guard channel.isWanted else { throw stopped(channel, wanted.query.key) }
        if let loaded = lookInMemoryAgain(wanted, look) { return loaded }
        do throws(KingfisherError) {
            return try await load(wanted, channel)
        } catch {
            guard error.isNotModified, let kept = try await confirmed(wanted, channel) else { throw error }
            return kept
        }
    }

    /// The image made of the original in the original cache, if there is one, and stored.
    private func processedOriginal(_ wanted: KeyedSource) async throws(KingfisherError) -> LoadResult? {
        guard let original = await originalImage(wanted) else { return nil }
        let image = try await wanted.options.processor.processed(.image(original.image), wanted.options)
        var loaded = LoadResult(image: image, cacheType: .none, data: original.bytes)
        guard let cache = wanted.options.targetCache else { return loaded }
        let stored = Promise<CacheStoreResult>()
        store(image, original.bytes, original.facts, wanted, keepsOriginal: false, in: cache, stored)
        loaded.storing = stored
        return loaded
    }

    /// What the caches have of something that is unchanged according to the server; also for loads that did not look
    /// there first.
    private func confirmed(_ wanted: KeyedSource, _ channel: LoadChannel) async throws(KingfisherError) -> LoadResult? {
        var options = wanted.options
        options.forceRefresh = false
        options.fromMemoryCacheOrRefresh = false
        options.countsMemoryMiss = false
        let wanted = KeyedSource(wanted.source, options)
        let cached = lookInMemory(wanted.query.key, options)
        if let cached, cached.satisfies(options) {
            return LoadResult(image: cached, cacheType: .memory, isConfirmed: true)
        }
        guard var loaded = try await processedImage(wanted, look(cached, wanted), channel) else {
            return try await processedOriginal(wanted)
        }
        loaded.isConfirmed = true
        return loaded
    }

    // MARK: Loading

    /// Loads bytes, makes the image of them, and stores both.
    private func load(_ wanted: KeyedSource, _ channel: LoadChannel) async throws(KingfisherError) -> LoadResult {
        let options = wanted.options
        switch wanted.source {
        case .provider(let provider):
            channel.begin(byProvider: true)
            let bytes = try await providedBytes(provider)
            return stored(try await bytes.image(options).get(), bytes, wanted)
        case .network(let resource):
            let downloader = options.downloader ?? downloader
            var linkedOptions = options
            linkedOptions.onDataReceived = { channel.report($0, of: $1) }
            linkedOptions.onTransferLinked = { channel.link($0, $1) }
            linkedOptions.onTransferStarted = { channel.begin() }
            guard downloader.isPlain else {
                return try await overridden(downloader, resource, linkedOptions, wanted, channel)
            }
            let loader = downloader.loader
            // The image is made by this task, whose priority becomes that of any more urgent caller that joins; where a
            // delegate is to be notified of it, it is made before the bytes are handed out.
            return try await loader.withBytes(
                at: resource.downloadURL,
                linkedOptions,
                DownloadTask(),
                wantsImage: loader.delegate != nil,
                sharesArrivalsSince: options.forceRefresh ? nil : channel.beginning
            ) { delivery throws(KingfisherError) in
                stored(try await delivery.image(options), delivery.bytes, wanted)
            }
        }
    }

    /// Has a subclass download and process an image.
    ///
    /// The callers are notified by the transfer it starts by calling `super`; without one, once its method has
    /// returned.
    private func overridden(
        _ downloader: ImageDownloader,
        _ resource: any Resource,
        _ options: KingfisherParsedOptionsInfo,
        _ wanted: KeyedSource,
        _ channel: LoadChannel
    ) async throws(KingfisherError) -> LoadResult {
        let download = try await downloader.overriddenDownload(with: resource.downloadURL, options: options) { task in
            guard channel.transfer == nil, let transfer = task.sessionTask, let token = task.cancelToken else { return }
            channel.link(transfer, token)
            channel.begin()
        }
        channel.begin()
        let bytes = LoadedBytes(provided: download.originalData)
        var loaded = stored(download.image, bytes, wanted, facts: download.response.flatMap { HTTPFacts($0) })
        loaded.metrics = download.metrics
        return loaded
    }

    /// The bytes of a provider, which is called once for all loads of its key at the same time.
    private func providedBytes(_ provider: any ImageDataProvider) async throws(KingfisherError) -> LoadedBytes {
        try await providerLoads.value(
            for: .provider(provider),
            cancelled: { .requestError(reason: .dataProviderCancelled(provider: provider)) },
            operation: { [self] _ in
                await Result { () async throws(KingfisherError) in LoadedBytes(provided: try await data(of: provider)) }
            }
        )
    }

    /// What a provider provides, off the caller's thread.
    func data(of provider: any ImageDataProvider) async throws(KingfisherError) -> Data {
        let result = await WorkExecutor.io.run { () async -> Result<Data, any Error> in
            do { return .success(try await provider.data()) } catch { return .failure(error) }
        }
        switch result {
        case .success(let data): return data
        case .failure(is CancellationError): throw .requestError(reason: .dataProviderCancelled(provider: provider))
        case .failure(let error):
            throw .imageSettingError(reason: .dataProviderError(provider: provider, error: error))
        }
    }

    // MARK: Storing

    /// Stores an image that was made of loaded bytes: once for all loads that want the same entry.
    private func stored(
        _ image: KFCrossPlatformImage,
        _ bytes: LoadedBytes,
        _ wanted: KeyedSource,
        facts: HTTPFacts? = nil
    ) -> LoadResult {
        var loaded = LoadResult(image: image, cacheType: .none, data: bytes.data, metrics: bytes.metrics)
        guard let cache = wanted.options.targetCache else { return loaded }
        let recipe = StoreRecipe(wanted.query)
        let (entry, isFirst) = recipe.isComparable ? bytes.entries.claim(recipe) : (Promise(), true)
        loaded.storing = entry
        if isFirst {
            let facts = facts ?? bytes.response.flatMap { HTTPFacts($0) }
            store(image, bytes.data, facts, wanted, keepsOriginal: true, in: cache, entry)
        } else {
            // An image is in memory when it is delivered; the load that stores it may not have come to that yet.
            cache.put(image, original: nil, wanted.query, toDisk: false, Promise())
        }
        return loaded
    }

    /// Stores what was made: in memory now, on disk in the background, and then fulfils the promise.
    private func store(
        _ image: KFCrossPlatformImage,
        _ bytes: Data?,
        _ facts: HTTPFacts?,
        _ wanted: KeyedSource,
        keepsOriginal: Bool,
        in cache: ImageCache,
        _ stored: Promise<CacheStoreResult>
    ) {
        var query = wanted.query
        let options = query.options
        // Other callers may have joined, and do not wait for the queue of the first one.
        query.options.callbackQueue = .untouch
        query.options.httpFacts = facts
        // A serializer that keeps originals has nothing to keep without them: its entry would be processed twice.
        let toDisk = !options.cacheMemoryOnly && (bytes != nil || !options.cacheSerializer.originalDataUsed)
        let isOriginalWanted = keepsOriginal && options.cacheOriginalImage && !options.processor.identifier.isEmpty
        guard isOriginalWanted, let bytes, let originalCache = options.originalCache else {
            return cache.put(image, original: bytes, query, toDisk: toDisk, stored)
        }
        let (processed, original) = (Promise<CacheStoreResult>(), Promise<CacheStoreResult>())
        cache.put(image, original: bytes, query, toDisk: toDisk, processed)
        originalCache.putOriginal(bytes, query, original)
        Task {
            let results = (await processed.value, await original.value)
            if case .failure = results.0.diskCacheResult { stored.fulfil(results.0) } else { stored.fulfil(results.1) }
        }
    }
}

extension HTTPFacts {
    /// What a response says about the bytes that came with it; nil if it says nothing about how long they are valid.
    fileprivate init?(_ response: TransportResponse) {
        guard (200..<300).contains(response.statusCode ?? 0) else { return nil }
        self.init(url: response.url) { response.value(forHTTPHeaderField: $0) }
        guard eTag != nil || lastModified != nil || cacheControl != nil || expires != nil else { return nil }
    }
}
