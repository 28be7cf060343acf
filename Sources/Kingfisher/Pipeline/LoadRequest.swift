// One caller's load: what it tries, one after the other, and what becomes of a shared image for its caller. For the
// manager; the attempts are those of prefetches of bytes, too.

import Foundation
import KFStorage
import KFSupport

/// One caller's load.
final class LoadRequest: LoadObserver {
    private let manager: KingfisherManager
    /// What is wanted: the first that is tried.
    let plan: LoadPlan
    /// The answer of memory when the load began; nil if memory was not asked.
    private let inMemory: MemoryAnswer?
    private let progress: ProgressRelay?
    let previews: Previews?
    /// Cancels the load; if it runs in a task of the caller's, only when all of the manager are.
    let handle: DownloadTask
    /// Called for an attempt that replaces the first one: with its handle once it is known from where it loads, or with
    /// nil when a cache had the image.
    private let updated: DownloadTaskUpdatedBlock?
    private let hasTried = Locked(false)

    /// A load that has yet to begin; its completion handler is called on `queue`, nil for an async function.
    init(
        _ plan: LoadPlan,
        by manager: KingfisherManager,
        inMemory: MemoryAnswer? = nil,
        progress receiver: ProgressRelay.Receiver? = nil,
        before queue: CallbackQueue? = nil,
        previewSetter: Previews.Setter? = nil,
        updated: DownloadTaskUpdatedBlock? = nil
    ) {
        (self.plan, self.manager, self.inMemory, self.updated) = (plan, manager, inMemory, updated)
        progress = ProgressRelay(receiver, before: queue)
        handle = DownloadTask()
        let options = plan.options
        // What arrives encrypted shows nothing before it is complete.
        let mayBeShown =
            options.progressiveJPEG != nil && options.decryptor == nil
            && (options.downloader ?? manager.downloader).decryptor == nil
        previews = mayBeShown ? Previews(options, setter: previewSetter, clock: manager.clock) : nil
    }

    private init(_ load: LoadRequest, _ options: KingfisherParsedOptionsInfo) {
        (manager, inMemory, updated) = (load.manager, nil, load.updated)
        (progress, previews, handle) = (load.progress, load.previews, load.handle)
        plan = LoadPlan(load.plan.source, options)
    }

    /// The same load with other options.
    func with(_ options: KingfisherParsedOptionsInfo) -> LoadRequest { LoadRequest(self, options) }

    // MARK: What it is notified of

    var isCancelled: Bool { handle.isCancelled }
    var isWanted: Bool { !isCancelled && plan.options.load.observer?.isWanted ?? true }
    var hasHandle: Bool { true }

    func didSubscribe(_ subscription: any TaskSubscription) { handle.didSubscribe(subscription) }

    func didStart(from origin: LoadOrigin) {
        handle.didStart(from: origin)
        if case .transfer(let transfer, _) = origin {
            previews?.watch(transfer)
            plan.options.requestModifier?.onDownloadTaskStarted?(handle)
        }
        if !isFirst { updated?(handle) }
    }

    func didReceive(_ piece: ReceivedPiece) {
        guard isWanted else { return }
        plan.options.onDataReceived?(piece.task, piece.data)
        progress?.report(piece)
        previews?.moreDataHasArrived()
    }

    func didProgress(_ received: Int64, of expected: Int64) {
        if isWanted { progress?.report(received: received, expected: expected) }
    }

    // MARK: Running

    /// Finds the image; all progress is reported, or in front of the completion, when this returns.
    func image() async throws(KingfisherError) -> RetrieveImageResult {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        manager.addRunning(handle)
        defer { manager.removeRunning(handle) }
        guard progress != nil || previews != nil else { return try await attempts() }
        return try await imageWithProgress()
    }

    /// The same for a load whose progress is shown.
    private func imageWithProgress() async throws(KingfisherError) -> RetrieveImageResult {
        let result = await withTaskCancellationHandler {
            await Result { () async throws(KingfisherError) in try await attempts() }
        } onCancel: {
            previews?.close()
        }
        previews?.close()
        await progress?.finish(result)
        return try result.get()
    }

    private func attempts() async throws(KingfisherError) -> RetrieveImageResult {
        var attempts = Attempts(plan, for: self, by: manager)
        return try await attempts.run { plan throws(KingfisherError) in try await attempt(plan) }
    }

    /// The attempts that follow take the place of the first one.
    fileprivate func willTryAgain() { hasTried.withLock { $0 = true } }

    /// Whether the attempt that is under way is the first one.
    private var isFirst: Bool { !hasTried.withLock { $0 } }

    /// One attempt at one source: memory, the disk if the caller's thread may wait for it, then the shared load.
    private func attempt(_ plan: LoadPlan) async throws(KingfisherError) -> RetrieveImageResult {
        let isFirst = isFirst
        let answer = isFirst ? inMemory ?? plan.askMemory() : plan.askMemory()
        if case .image(let image) = answer {
            if !isFirst { updated?(nil) }
            return RetrieveImageResult(inMemory: image, of: plan.source, plan.options, requested: self.plan.source)
        }
        if isFirst, plan.options.loadDiskFileSynchronously, case .nothing = answer,
            let found = await imageOnDiskAtOnce(plan)
        {
            return await result(found, from: plan.source, onThisThread: true)
        }
        let identity = plan.identity
        var shared = try await manager.loads.value(for: identity, subscriber(to: plan.source)) { [manager] in
            // A look-up makes nothing: it must not wait for pixels. It goes to the thread that reads the disk at once.
            let threads = plan.options.load.isLookupOnly ? WorkExecutor.io : nil
            return SharedImageLoad(
                identity,
                .load(of: plan.source, unwanted: plan.notExisting),
                in: manager.loads,
                threads: threads
            ) { task throws(KingfisherError) in
                try await ImageLoad(plan, answer, for: task, by: manager).run()
            }
        }
        previews?.close()
        if !isFirst, shared.cacheType.cached, !shared.isConfirmed { updated?(nil) }
        if shared.remade != nil { shared.image = try await shared.image(as: plan.options) }
        var result = await result(shared, from: plan.source)
        if plan.options.waitForCache { result.cacheStoreResult = await shared.storing?.value }
        return result
    }

    /// The image on disk, read without leaving the thread; nil where it has to be processed first.
    private func imageOnDiskAtOnce(_ plan: LoadPlan) async -> LoadedImage? {
        let options = plan.options
        guard !options.forceRefresh, options.layersToQuery.contains(.disk), !plan.asksServer,
            !options.cacheSerializer.originalDataUsed,
            let cache = options.targetCache,
            case .found(let cached)? = try? await cache.find(plan.key, options, CacheCore.Lookup(layers: .disk)),
            cached.image.satisfies(options)
        else { return nil }
        return LoadedImage(cached.image, from: cached.cacheType)
    }

    // MARK: Its place among those that share the work, and its result

    /// The caller as a subscriber of a shared load of one of its sources.
    private func subscriber(to source: Source) -> Subscriber<LoadedImage> {
        var subscriber = Subscriber<LoadedImage>(observer: self, priority: plan.options.downloadPriority)
        if let show = plan.options.onStaleImage {
            subscriber.showStale = { [self] stale in
                let result = await result(stale, from: source)
                plan.options.callbackQueue.execute { if self.isWanted { show(result) } }
            }
        }
        return subscriber
    }

    /// Adapts a result to the caller: its image modifier, which runs on the caller's thread if asked for, its sources.
    private func result(
        _ loaded: LoadedImage,
        from source: Source,
        onThisThread: Bool = false
    ) async -> RetrieveImageResult {
        var image = loaded.image
        if let modifier = plan.options.imageModifier {
            image =
                onThisThread ? modifier.modify(image) : await WorkExecutor.cpu.run { [image] in modifier.modify(image) }
        }
        return result(loaded, as: image, from: source)
    }

    // Not inlined: an async function takes what it works with from the heap, and this takes much.
    @inline(never) private func result(
        _ loaded: LoadedImage,
        as image: KFCrossPlatformImage,
        from source: Source
    ) -> RetrieveImageResult {
        let data: @Sendable () -> Data? =
            if let data = loaded.data { { data } } else { plan.options.encoding(of: image) }
        var result = RetrieveImageResult(
            image: image,
            cacheType: loaded.cacheType,
            source: source,
            originalSource: plan.source,
            data: data
        )
        result.details = loaded.details
        return result
    }
}

/// The attempts of one load: its source, as often as the retry strategy says, then the alternatives.
struct Attempts {
    private let manager: KingfisherManager
    /// Nil for a prefetch of bytes.
    private let load: LoadRequest?
    /// What is tried next.
    private var plan: LoadPlan
    /// Whether it has been tried.
    private var isBegun = false
    private var alternatives: ArraySlice<Source>
    private var failures: [PropagationError] = []
    /// The failures of the source so far.
    private var retried: RetryContext?

    init(_ plan: LoadPlan, for load: LoadRequest? = nil, by manager: KingfisherManager) {
        (self.plan, self.load, self.manager) = (plan, load, manager)
        alternatives = plan.options.alternativeSources?[...] ?? []
    }

    /// Makes attempts until one succeeds or nothing is left to try; keeps in mind which URLs have failed for good.
    mutating func run<Value>(
        _ attempt: (LoadPlan) async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        while true {
            do throws(KingfisherError) {
                try checkSource()
                let value = try await attempt(plan)
                manager.rules.didLoad(plan.source)
                return value
            } catch {
                if try await isRetried(after: error) { continue }
                manager.rules.didFail(plan.source, plan.options, with: error)
                try nextSource(after: error)
            }
        }
    }

    /// Throws for a source that is not tried at all.
    private mutating func checkSource() throws(KingfisherError) {
        guard !isBegun else { return }
        if let refusal = manager.rules.refusal(of: plan.source, plan.options) { throw refusal }
        load?.previews?.begin()
        isBegun = true
    }

    /// Whether the source is tried again, which the retry strategy decides; not when the load is cancelled.
    private mutating func isRetried(after error: KingfisherError) async throws(KingfisherError) -> Bool {
        guard isBegun, !error.isCancelled, load?.isWanted ?? true, let strategy = plan.options.retryStrategy else {
            return false
        }
        let context = retried ?? RetryContext(source: plan.source, error: error)
        retried = context
        context.fail(with: error)
        let decision = await strategy.firstDecision(for: context)
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        guard case .retry(let info) = decision else { return false }
        context.countRetry(userInfo: info)
        load?.willTryAgain()
        return true
    }

    /// Goes on to the next source, or throws the error of the load.
    ///
    /// When the network is one to save data on, the low data mode source is tried in between, once.
    private mutating func nextSource(after error: KingfisherError) throws(KingfisherError) {
        // A load that is cancelled or superseded tries no other source.
        if error.isCancelled { throw error }
        if let load {
            if load.isCancelled { throw .requestError(reason: .asyncTaskContextCancelled) }
            if !load.isWanted { throw error }
            load.willTryAgain()
        }
        (isBegun, retried) = (false, nil)
        if error.isLowDataModeConstrained {
            guard let saving = plan.options.lowDataModeSource else { throw error }
            var options = plan.options
            options.lowDataModeSource = nil
            return plan = LoadPlan(saving, options)
        }
        failures.append(PropagationError(source: plan.source, error: error))
        if let next = alternatives.popFirst() { return plan = LoadPlan(next, plan.options) }
        if failures.count == 1 { throw error }
        throw .imageSettingError(reason: .alternativeSourcesExhausted(failures))
    }
}

extension KingfisherManager {
    /// Counts a load as running, until it is removed.
    func addRunning(_ handle: DownloadTask) { running.withLock { $0[ObjectIdentifier(handle)] = handle } }

    func removeRunning(_ handle: DownloadTask) {
        running.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(handle)) }
    }
}
