// How one caller's load runs: it looks in memory, then tries its sources by joining shared loads, unless these are refused.
// For the manager.

import Foundation
import KFSupport

extension KingfisherManager {
    // MARK: Loads that are under way

    /// Whether loads are under way, those of live photos and prefetched images among them. (Not in Kingfisher.)
    ///
    /// Prefetching to disk alone, which makes no images, is not counted: its prefetcher or token ends it.
    ///
    /// A load has ended when its completion handler is called.
    public var isRunning: Bool { !running.withLock { $0.isEmpty } }

    /// Cancels all loads of the manager that are under way. (Not in Kingfisher.)
    ///
    /// Each ends with the same error as if it had been cancelled alone (see ``KingfisherError/isCancelled``). Loads
    /// that begin afterwards are not affected.
    public func cancelAll() {
        for handle in running.withLock({ Array($0.values) }) { handle.cancel() }
        // Async loads run in the caller's task, which is not ours to cancel.
        loads.cancelAll()
    }

    /// Counts a load as running, until it is removed.
    func addRunning(_ handle: DownloadTask) { running.withLock { $0[ObjectIdentifier(handle)] = handle } }

    func removeRunning(_ handle: DownloadTask) {
        running.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(handle)) }
    }

    // MARK: One load

    /// The image of a source in memory, as it is delivered; never waits and makes no system call.
    ///
    /// Nothing for a file that is forbidden, for a URL that is blocked, and for an animation that was made with other
    /// options.
    func imageInMemory(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo,
        requested: Source
    ) -> RetrieveImageResult? {
        guard !options.forceRefresh, forbiddenFile(source) == nil, blockedURL(source, options) == nil,
            options.queryCacheLayers.contains(.memory), let cache = options.targetCache
        else { return nil }
        let key = source.cacheKey(options)
        let asksServer = options.asksServer(about: source)
        guard let cached = asksServer ? cache.findFreshInMemory(key, options) : cache.findInMemory(key, options),
            cached.satisfies(options)
        else { return nil }
        let image = options.imageModifier?.modify(cached) ?? cached
        return RetrieveImageResult(
            image: image,
            cacheType: .memory,
            source: source,
            originalSource: requested,
            data: options.encoding(of: image)
        )
    }

    /// Finds the image for one caller; all progress is reported, or in front of the completion, when this returns.
    func image(for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        addRunning(load.handle)
        defer { removeRunning(load.handle) }
        guard load.progress != nil || load.previews != nil else { return try await attempts(for: load) }
        return try await imageWithProgress(for: load)
    }

    /// The same for a load whose progress is shown.
    private func imageWithProgress(for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        let result = await withTaskCancellationHandler {
            await Result { () async throws(KingfisherError) in try await attempts(for: load) }
        } onCancel: {
            load.previews?.close()
        }
        load.previews?.close()
        await load.progress?.finish(result)
        return try result.get()
    }

    private func attempts(for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        var attempts = Attempts(load.plan, for: load, by: self)
        return try await attempts.run { plan throws(KingfisherError) in try await attempt(plan, for: load) }
    }

    /// One attempt at one source: memory, the disk if the caller's thread may wait for it, then the shared load.
    private func attempt(_ plan: LoadPlan, for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        let updated = load.isFirst ? nil : load.updated
        if load.isFirst {
            // Memory was asked when the load began.
            if plan.options.loadDiskFileSynchronously, let found = await imageOnDiskAtOnce(plan) {
                return await load.result(found, from: plan.source, onThisThread: true)
            }
        } else if let hit = imageInMemory(plan.source, plan.options, requested: load.plan.source) {
            updated?(nil)
            return hit
        }
        let identity = plan.identity
        var shared = try await loads.value(for: identity, load.subscriber(to: plan.source)) {
            // A look-up makes nothing: it must not wait for pixels. It goes to the thread that reads the disk at once.
            let threads = plan.options.isLookupOnly ? WorkExecutor.io : nil
            return SharedImageLoad(
                identity,
                .load(of: plan.source, unwanted: plan.notExisting),
                in: loads,
                threads: threads
            ) { [self] task throws(KingfisherError) in
                try await ImageLoad(manager: self, plan: plan.shared(by: task), task: task).run()
            }
        }
        load.previews?.close()
        if shared.cacheType.cached, !shared.isConfirmed { updated?(nil) }
        if shared.remade != nil, let bytes = shared.image.bytes(toDecodeAgainFor: plan.options) {
            shared.image = try await remade(shared, of: bytes, as: plan.options)
        }
        var result = await load.result(shared, from: plan.source)
        if plan.options.waitForCache { result.cacheStoreResult = await shared.storing?.value }
        return result
    }

    /// The image on disk, read without leaving the thread; nil where it has to be processed first.
    private func imageOnDiskAtOnce(_ plan: LoadPlan) async -> LoadedImage? {
        let options = plan.options
        guard !options.forceRefresh, options.layersToQuery.contains(.disk), !plan.asksServer,
            !options.cacheSerializer.originalDataUsed,
            let cache = options.targetCache, !cache.core.memory.isCached(forKey: plan.computedKey),
            let found = try? await cache.find(plan.key, options, CacheCore.Lookup(layers: .disk)),
            let image = found.image, image.satisfies(options)
        else { return nil }
        return LoadedImage(image, from: found.cacheType)
    }

    /// An animation as one subscriber of a shared load wants it, which was made for one that wants its frames decoded at
    /// another time: made again once for all who want it alike.
    private func remade(
        _ shared: LoadedImage,
        of bytes: Data,
        as options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        guard let images = shared.remade else { return shared.image }
        let made = Promise<Result<KFCrossPlatformImage, KingfisherError>>()
        Task { [self] in
            let image = await images.value(for: ImageIdentity(options)) {
                await Result { () async throws(KingfisherError) in try await decodedAgain(bytes, options) }
            }
            made.fulfil(image)
        }
        let cancelled = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        return try await made.value { made.fulfil(.failure(cancelled)) }.get()
    }

    /// Another image of the bytes of an animation in memory.
    func decodedAgain(
        _ bytes: Data,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        // Frames that were processed, written and read again are not to be processed twice.
        let processor = options.processor.transformsFrames ? DefaultImageProcessor.default : options.processor
        return try await processor.processed(.data(bytes), options)
    }
}

extension LoadPlan {
    /// The plan of a shared load: its first subscriber's, without what is that subscriber's own.
    fileprivate func shared(by task: SharedImageLoad) -> LoadPlan {
        with { options in
            options.loadDiskFileSynchronously = false  // it runs on no caller's thread
            options.downloadPriority = task.priority
            options.onDataReceived = nil  // each subscriber has its own
            options.onStaleImage = nil
            options.countsMemoryMiss = false  // each subscriber has asked memory
            options.observer = task
        }
    }
}

// MARK: - Sources that are refused

extension KingfisherManager {
    /// The URL of a source that has failed for good; nil when it may be tried.
    func blockedURL(_ source: Source, _ options: KingfisherParsedOptionsInfo) -> URL? {
        guard options.skipFailedURLs, !options.retryFailed, case .network(let resource) = source else { return nil }
        let url = resource.downloadURL
        return failedURLs?.contains(url) == true ? url : nil
    }

    /// Throws for a source that is not looked up, let alone loaded: a forbidden file, or a URL that is blocked.
    func checkIsAllowed(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) throws(KingfisherError) {
        if let file = forbiddenFile(source) { throw .requestError(reason: .fileURLNotAllowed(url: file)) }
        if let url = blockedURL(source, options) { throw .requestError(reason: .urlBlocked(url: url)) }
    }

    /// Throws for a download that the delegate refuses.
    func checkDownloadIsAllowed(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) {
        guard case .network = source, delegate != nil else { return }
        let isAllowed = await WorkExecutor.userCode.run { [self] in
            delegate?.manager(self, shouldDownload: source, options: options) ?? true
        }
        guard isAllowed else {
            throw .requestError(reason: .downloadRefused(source: source))
        }
    }

    /// A source was loaded: its URL has not failed for good.
    func didLoad(_ source: Source) {
        if case .network(let resource) = source { failedURLs?.remove(resource.downloadURL) }
    }

    /// A source cannot be loaded; keeps in mind if its URL has failed for good.
    func didFail(_ source: Source, _ options: KingfisherParsedOptionsInfo, with error: KingfisherError) {
        guard options.skipFailedURLs, case .network(let resource) = source,
            shouldBlock(resource.downloadURL, after: error, options)
        else { return }
        madeFailedURLs.insert(resource.downloadURL)
    }

    /// The loader of the URL decides, then the delegate, then the kind of the error.
    private func shouldBlock(
        _ url: URL,
        after error: KingfisherError,
        _ options: KingfisherParsedOptionsInfo
    ) -> Bool {
        switch error {
        case .cacheError, .requestError(.urlBlocked), .requestError(.downloadRefused): return false
        case _ where error.isCancelled: return false
        default:
            let decision = loaders.entry(for: url, options)?.loader.shouldBlock(url, after: error)
            return decision ?? delegate?.manager(self, shouldBlock: url, after: error) ?? error.isPermanent
        }
    }
}
