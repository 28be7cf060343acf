// One caller's load from the outside in: alternative sources around retries around one attempt. For the manager.

import Foundation
import KFSupport

extension KingfisherManager {
    /// Finds the image for one caller; all progress is reported, or in front of the completion, when this returns.
    func image(for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        return try await whileRunning(load.handle) { () async throws(KingfisherError) in
            let result = await Result { () async throws(KingfisherError) in
                try await alternativesWithPreviews(for: load)
            }
            await load.progress?.finish(result)
            return try result.get()
        }
    }

    private func alternativesWithPreviews(for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        guard let previews = load.previews else { return try await alternatives(for: load) }
        defer { previews.close() }
        return try await withTaskCancellationHandler {
            await Result { () async throws(KingfisherError) in try await alternatives(for: load) }
        } onCancel: {
            previews.close()
        }.get()
    }

    /// Tries the source, then each alternative; a cancelled load tries nothing more.
    ///
    /// When the network is one to save data on, the low data mode source is tried in between, once.
    private func alternatives(for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        var load = load
        var failures: [PropagationError] = []
        var sources = [load.source] + (load.options.alternativeSources ?? [])
        while !sources.isEmpty {
            let source = sources.removeFirst()
            do throws(KingfisherError) {
                let current = load
                return try await remembering(source, load.options) { () async throws(KingfisherError) in
                    try await retries(of: source, for: current)
                }
            } catch {
                // For a caller that does not want the image, no other source is tried; a cancelled load ends as such.
                if error.isCancelled { throw error }
                if load.handle.isCancelled { throw .requestError(reason: .asyncTaskContextCancelled) }
                if !load.isWanted { throw error }
                load.willTryAgain()
                if error.isLowDataModeConstrained {
                    guard let saving = load.options.lowDataModeSource else { throw error }
                    var options = load.options
                    options.lowDataModeSource = nil
                    load = load.with(options)
                    load.willTryAgain()
                    sources.insert(saving, at: 0)
                } else {
                    failures.append(PropagationError(source: source, error: error))
                }
            }
        }
        if failures.count == 1, let only = failures.first { throw only.error }
        throw .imageSettingError(reason: .alternativeSourcesExhausted(failures))
    }

    /// Tries one source, as often as the retry strategy allows; what is forbidden or blocked is not.
    private func retries(
        of source: Source,
        for load: Load
    ) async throws(KingfisherError) -> RetrieveImageResult {
        try checkMayBeTried(source, load.options)
        load.previews?.begin()
        let wanted = KeyedSource(source, load.options)
        return try await retrying(source, load.options) { isFirstAttempt throws(KingfisherError) in
            if !isFirstAttempt { load.willTryAgain() }
            return try await attempt(wanted, for: load)
        } isWanted: {
            load.isWanted
        }
    }

    /// Does something as often as the retry strategy allows; a load that is cancelled or not wanted is not retried.
    func retrying<Value>(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo,
        _ attempt: (_ isFirst: Bool) async throws(KingfisherError) -> Value,
        isWanted: () -> Bool = { true }
    ) async throws(KingfisherError) -> Value {
        var retried: RetryContext?
        while true {
            do throws(KingfisherError) {
                return try await attempt(retried == nil)
            } catch {
                guard !error.isCancelled, isWanted(), let strategy = options.retryStrategy else { throw error }
                let context = retried ?? RetryContext(source: source, error: error)
                retried = context
                context.fail(with: error)
                let decision = await strategy.firstDecision(for: context)
                guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
                guard case .retry(let info) = decision else { throw error }
                context.countRetry(userInfo: info)
            }
        }
    }

    /// One attempt at one source: memory, the disk if the caller's thread may wait for it, then the shared load.
    private func attempt(_ wanted: KeyedSource, for load: Load) async throws(KingfisherError) -> RetrieveImageResult {
        let updated = load.isFirst ? nil : load.updated
        if load.isFirst {
            // Memory was asked when the load began.
            if load.options.loadDiskFileSynchronously, let found = await imageOnDiskAtOnce(wanted) {
                return await load.result(found, from: wanted.source, onThisThread: true)
            }
        } else if let hit = imageInMemory(wanted.source, wanted.options, requested: load.source) {
            updated?(nil)
            return hit
        }
        let key = LoadKey(wanted)
        let shared = try await loads.value(for: key, load.subscriber(to: wanted.source)) {
            ImageLoad(key, .load(of: wanted.source, unwanted: wanted.notExisting), in: loads) {
                [self] task throws(KingfisherError) in
                try await image(KeyedSource(wanted.source, options(of: wanted, in: task)), for: task)
            }
        } use: { result, _ in
            result
        }
        load.previews?.close()
        if shared.cacheType.cached, !shared.isConfirmed { updated?(nil) }
        let loaded = try await remade(shared, as: wanted)
        var result = await load.result(loaded, from: wanted.source)
        if load.options.waitForCache { result.cacheStoreResult = await loaded.storing?.value }
        return result
    }

    /// The result of a shared load as one of its subscribers wants it.
    ///
    /// An animation may have been made for one that wants its frames decoded at another time. It is made again once for
    /// all who want it alike.
    private func remade(_ shared: LoadResult, as wanted: KeyedSource) async throws(KingfisherError) -> LoadResult {
        let options = wanted.options
        guard let bytes = shared.image.bytes(toDecodeAgainFor: options) else { return shared }
        var own = shared
        let made = Promise<Result<KFCrossPlatformImage, KingfisherError>>()
        Task { [self] in
            let image = await shared.remade.value(for: ProcessingKey(options)) {
                await Result { () async throws(KingfisherError) in try await decodedAgain(bytes, options) }
            }
            made.fulfil(image)
        }
        let cancelled = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        own.image = try await made.value { made.fulfil(.failure(cancelled)) }.get()
        return own
    }

    /// The options of a shared load: those of its first subscriber, without what is that subscriber's own.
    private func options(of wanted: KeyedSource, in task: ImageLoad) -> KingfisherParsedOptionsInfo {
        var shared = wanted.options
        shared.loadDiskFileSynchronously = false  // it runs on no caller's thread
        shared.downloadPriority = task.priority
        shared.onDataReceived = nil  // each subscriber has its own
        shared.onStaleImage = nil
        shared.countsMemoryMiss = false  // each subscriber has asked memory
        shared.observer = task
        return shared
    }
}
