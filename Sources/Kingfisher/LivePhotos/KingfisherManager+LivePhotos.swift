// Live photos as files: finds those that are missing, downloads them to the disk cache. For the manager.

import Foundation
import KFSupport

extension KingfisherManager {
    /// Finds the files of a live photo: those that are not in the disk cache are downloaded to it, side by side.
    ///
    /// The files are kept as they come, under the extensions of their types; nothing is decoded. Nothing on Linux shows
    /// a live photo, so what to do with the files is the caller's business. Cancelling the calling task cancels the
    /// downloads.
    ///
    /// Of the options those count that are about downloading and about the disk,
    /// ``KingfisherParsedOptionsInfo/forceRefresh`` and ``KingfisherParsedOptionsInfo/onlyFromCache``. There are no
    /// retries and no other sources.
    /// - Parameters:
    ///   - source: Where the files are.
    ///   - options: How they are downloaded and cached; override the manager's default options.
    ///   - progressBlock: Called with the bytes of all files that are downloaded, on the main queue, once the lengths
    ///     of all of them are known.
    ///   - referenceTaskIdentifierChecker: Whether progress still matters; asked on the main queue before each call of
    ///     `progressBlock`.
    /// - Returns: Where the files are.
    /// - Throws: ``KingfisherError``: for a cancelled load
    ///   ``KingfisherError/RequestErrorReason/livePhotoTaskCancelled(source:)``; for a file that was removed from the
    ///   cache at once ``KingfisherError/CacheErrorReason/missingLivePhotoResourceOnDisk(_:)``.
    public func retrieveLivePhoto(
        with source: LivePhotoSource,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        referenceTaskIdentifierChecker: (@Sendable () -> Bool)? = nil
    ) async throws(KingfisherError) -> LivePhotoLoadingInfoResult {
        let relay = progressBlock.flatMap { report in
            ProgressRelay(
                { received, total in if referenceTaskIdentifierChecker?() ?? true { report(received, total) } },
                before: nil
            )
        }
        let result = await Result { () async throws(KingfisherError) in
            guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
            var options = parsed(options)
            options.processor = BytesOnly.livePhoto
            options.lowDataModeSource = nil  // no image source replaces a live photo
            let (handle, settled) = (DownloadTask(), options)
            addRunning(handle)
            defer { removeRunning(handle) }
            return try await handle.value { [self] () async throws(KingfisherError) in
                try await livePhoto(source, settled, progress: relay)
            }
        }
        await relay?.finish(result)
        do throws(KingfisherError) { return try result.get() } catch {
            throw error.isCancelled ? .requestError(reason: .livePhotoTaskCancelled(source: source)) : error
        }
    }

    private func livePhoto(
        _ source: LivePhotoSource,
        _ options: KingfisherParsedOptionsInfo,
        progress: ProgressRelay?
    ) async throws(KingfisherError) -> LivePhotoLoadingInfoResult {
        if let file = source.resources.lazy.compactMap({ self.rules.forbiddenFile($0.dataSource) }).first {
            throw .requestError(reason: .fileURLNotAllowed(url: file))
        }
        let cache = options.targetCache ?? cache
        // Waits for stores and removals that are under way.
        for key in source.resources.map({ $0.cacheKey.computedKey(with: options.processor.identifier) }) {
            await cache.core.operations.ticket(forKey: key).run {}
        }
        let missing = await WorkExecutor.io.run { [self] in missingResources(source, options: options) }
        if options.onlyFromCache, let first = missing.first {
            throw .cacheError(reason: .imageNotExisting(key: first.cacheKey))
        }
        let downloaded = try await downloadAndCache(resources: missing, options: options, progress: progress)
        let found = await WorkExecutor.io.run {
            source.resources.map { cache.possibleCacheFileURLIfOnDisk(resource: $0, options: options) }
        }
        for (resource, file) in zip(source.resources, found) where file == nil {
            throw .cacheError(reason: .missingLivePhotoResourceOnDisk(resource))
        }
        return LivePhotoLoadingInfoResult(
            fileURLs: found.compactMap(\.self),
            cacheType: downloaded.isEmpty ? .disk : .none,
            source: source,
            originalSource: source,
            data: { downloaded.map(\.originalData) }
        )
    }

    /// The files that are not in the disk cache, or all if they are to be loaded again; looks on the caller's thread.
    func missingResources(_ source: LivePhotoSource, options: KingfisherParsedOptionsInfo) -> [LivePhotoResource] {
        let cache = options.targetCache ?? cache
        return source.resources.filter {
            options.forceRefresh || cache.possibleCacheFileURLIfOnDisk(resource: $0, options: options) == nil
        }
    }

    /// Downloads files side by side and keeps each on disk; the first that fails stops the others.
    ///
    /// - Parameters:
    ///   - resources: The files.
    ///   - options: How they are downloaded and cached.
    ///   - progress: Where the progress of all of them together goes.
    /// - Returns: What was downloaded, in the order of the resources; files that have not changed according to the
    ///   server are left out.
    /// - Throws: ``KingfisherError``: of the download, or a cache error when a file cannot be kept.
    func downloadAndCache(
        resources: some Collection<LivePhotoResource>,
        options: KingfisherParsedOptionsInfo,
        progress: ProgressRelay? = nil
    ) async throws(KingfisherError) -> [LivePhotoResourceDownloadingResult] {
        let progress = progress.map { LivePhotoProgress(of: resources, $0) }
        do {
            return try await withThrowingTaskGroup(of: (Int, LivePhotoResourceDownloadingResult?).self) { group in
                for (index, resource) in resources.enumerated() {
                    var options = options
                    options.load.observer = progress?.observer(ofFile: index)
                    group.addTask { [options] in (index, try await self.downloadAndCache(resource, options)) }
                }
                let results = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                return results.sorted { $0.key < $1.key }.map(\.value)
            }
        } catch {
            // The group's type does not say that its tasks throw nothing else.
            throw error as? KingfisherError ?? .requestError(reason: .asyncTaskContextCancelled)
        }
    }

    /// Downloads a file and keeps it on disk; nil when it is there and the server says that it has not changed.
    private func downloadAndCache(
        _ resource: LivePhotoResource,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> LivePhotoResourceDownloadingResult? {
        let cache = options.targetCache ?? cache
        let loaded: DataLoadingResult
        do throws(KingfisherError) {
            loaded = try await data(of: resource.dataSource, options)
        } catch {
            let isThere = await WorkExecutor.io.run {
                cache.possibleCacheFileURLIfOnDisk(resource: resource, options: options) != nil
            }
            guard error.isNotModified, isThere else { throw error }
            return nil
        }
        guard !loaded.data.isEmpty else {
            throw .processorError(reason: .processingFailed(processor: options.processor, item: .data(loaded.data)))
        }
        let type = resource.referenceFileType.fileExtension(for: loaded.data)
        try await cache.storeToDisk(
            loaded.data,
            forKey: resource.cacheKey,
            processorIdentifier: options.processor.identifier,
            forcedExtension: type,
            expiration: options.diskCacheExpiration
        )
        try await cache.removeLivePhotoFile(resource, options: options, exceptOf: type)
        return LivePhotoResourceDownloadingResult(loaded)
    }
}
