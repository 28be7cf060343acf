// One load from the outside in: alternative sources around retries around one attempt. Knows no cache and no download.

import Foundation
import KFStorage
import KFSupport

extension KingfisherManager {
    /// Tries to find the image; no progress is reported once this returns.
    func image(_ load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        defer { load.progress?.settle() }
        guard let previews = load.previews else { return try await attempts(load) }
        defer { previews.close() }
        return try await withTaskCancellationHandler {
            await Result { () async throws(KingfisherError) in try await attempts(load) }
        } onCancel: {
            previews.close()
        }.get()
    }

    /// Tries the source, then each alternative; a cancelled load tries nothing more.
    ///
    /// When the network is one to save data on, the low data mode source is tried in between, once.
    private func attempts(_ load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        var (load, isFirst) = (load, true)
        var failures: [PropagationError] = []
        var sources = [load.source] + (load.options.alternativeSources ?? [])
        while !sources.isEmpty {
            let source = sources.removeFirst()
            do throws(KingfisherError) {
                return try await retrying(source, of: load, isFirst: isFirst)
            } catch {
                // For a caller that does not want the image, no other source is tried.
                if error.isCancelled || !load.isWanted { throw error }
                isFirst = false
                if error.isLowDataModeConstrained {
                    guard let saving = load.options.lowDataModeSource else { throw error }
                    load.options.lowDataModeSource = nil
                    sources.insert(saving, at: 0)
                } else {
                    failures.append(PropagationError(source: source, error: error))
                }
            }
        }
        if failures.count == 1, let only = failures.first { throw only.error }
        throw .imageSettingError(reason: .alternativeSourcesExhausted(failures))
    }

    /// Tries one source, as often as the retry strategy allows; a file that is forbidden is not tried.
    private func retrying(_ source: Source, of load: Load, isFirst: Bool)
        async throws(KingfisherError) -> RetrieveImageResult
    {
        if let file = forbiddenFile(source) { throw .requestError(reason: .fileURLNotAllowed(url: file)) }
        load.previews?.begin()
        var retries = 0
        var userInfo: (any Sendable)?
        while true {
            do throws(KingfisherError) {
                let isReplacement = !isFirst || retries > 0
                return try await attempt(KeyedSource(source, load.options), of: load, isReplacement: isReplacement)
            } catch {
                guard !error.isCancelled, load.isWanted, let strategy = load.options.retryStrategy else { throw error }
                let context = RetryContext(source: source, error: error, retriedCount: retries, userInfo: userInfo)
                let decision = await strategy.decision(for: context)
                guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
                guard case .retry(let info) = decision else { throw error }
                userInfo = info
                retries += 1
            }
        }
    }

    /// One attempt at one source: memory, or the work shared by all callers that want the same.
    private func attempt(
        _ wanted: KeyedSource,
        of load: Load,
        isReplacement: Bool
    ) async throws(KingfisherError) -> RetrieveImageResult {
        // Notified of what replaces the first attempt: with its task once it starts, or with nil when a cache had the
        // image.
        let updated = isReplacement ? load.updated : nil
        var look = load.look
        if isReplacement {
            let cached = lookInMemory(wanted.query.key, wanted.options)
            if let cached, cached.satisfies(wanted.options) {
                updated?(nil)
                return found(cached, wanted.source, wanted.options, requested: load.source)
            }
            look = self.look(cached, wanted)
        }
        // What replaces a first attempt does not run on the caller's thread, and must not read on the thread it runs
        // on.
        var readsOnThisThread = load.options.loadDiskFileSynchronously && !isReplacement
        if case .madeWithOtherOptions = look { readsOnThisThread = false }
        let diskLookup = readsOnThisThread ? await lookOnDiskOnThisThread(wanted) : .undetermined
        if case .found(let loaded) = diskLookup {
            updated?(nil)
            return await result(loaded, from: wanted.source, for: load)
        }
        let notOnDisk = if case .nothing(let since) = diskLookup { since } else { nil as MemoryGeneration? }
        let loaded = try await shared(wanted, of: load, look, notOnDisk, updated)
        load.previews?.close()
        if loaded.cacheType.cached, !loaded.isConfirmed { updated?(nil) }
        return await result(loaded, from: wanted.source, for: load)
    }

    /// The result of the shared load; it is begun again if it was abandoned before this caller, which wants it, joined.
    private func shared(
        _ wanted: KeyedSource,
        of load: Load,
        _ look: MemoryLookup,
        _ notOnDisk: MemoryGeneration?,
        _ updated: DownloadTaskUpdatedBlock?
    ) async throws(KingfisherError) -> LoadResult {
        var options = load.options
        options.loadDiskFileSynchronously = false  // the shared work runs on no caller's thread
        let priority = options.downloadPriority
        let key = LoadKey(KeyedSource(wanted.source, options))
        while true {
            var joined: (channel: LoadChannel, listener: Int)?
            defer { if let joined { joined.channel.remove(joined.listener) } }
            do throws(KingfisherError) {
                return try await loads.value(
                    for: key,
                    priority: TaskPriority(downloadPriority: priority),
                    joined: { channel in
                        joined = (channel, join(channel, load, updated))
                        channel.raisePriority(to: priority)
                    },
                    cancelled: { [self] in cancellation(of: wanted.source, $0) },
                    operation: { [self, options] channel in
                        var options = options
                        options.sourceTaskIdentifierChecker = { channel.isWanted }
                        let wanted = KeyedSource(wanted.source, options)
                        return await Result { () async throws(KingfisherError) in
                            try await loadImage(wanted, look, channel, notOnDisk: notOnDisk)
                        }
                    }
                )
            } catch {
                guard joined?.channel.isAbandoned == true, load.isWanted, !Task.isCancelled else { throw error }
            }
        }
    }

    /// Adds a caller to the listeners, and returns the number to remove it by.
    private func join(_ channel: LoadChannel, _ load: Load, _ updated: DownloadTaskUpdatedBlock?) -> Int {
        let (progress, previews, handle) = (load.progress, load.previews, load.handle)
        return channel.add(
            LoadChannel.Listener(
                isWanted: load.options.sourceTaskIdentifierChecker,
                progress: { received, expected in
                    progress?.report(received, of: expected)
                    previews?.moreDataHasArrived()
                },
                linked: { task, token in
                    handle?.link(to: task, token: token)
                    previews?.follow(task)
                },
                started: { byProvider in
                    if byProvider { handle?.linkToProvider() }
                    updated?(handle)
                }
            )
        )
    }

    private func cancellation(of source: Source, _ channel: LoadChannel) -> KingfisherError {
        if case .provider(let provider) = source {
            return .requestError(reason: .dataProviderCancelled(provider: provider))
        }
        guard let transfer = channel.transfer else { return .requestError(reason: .asyncTaskContextCancelled) }
        return .requestError(reason: .taskCancelled(task: transfer.task, token: transfer.token))
    }

    /// Adapts the shared result to one caller: its modifier, its sources, whether it waits for the cache.
    private func result(_ loaded: LoadResult, from source: Source, for load: Load) async -> RetrieveImageResult {
        var image = loaded.image
        if let modifier = load.options.imageModifier {
            image = await WorkExecutor.cpu.run { [image] in modifier.modify(image) }
        }
        let data = loaded.data
        let bytes: @Sendable () -> Data? = if data == nil { encoding(of: image, load.options) } else { { data } }
        var result = RetrieveImageResult(
            image: image,
            cacheType: loaded.cacheType,
            source: source,
            originalSource: load.source,
            data: bytes,
            metrics: loaded.metrics
        )
        if load.options.waitForCache { result.cacheStoreResult = await loaded.storing?.value }
        return result
    }
}
