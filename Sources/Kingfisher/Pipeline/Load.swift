// One caller's request, and what becomes of a shared image for that caller. For the manager.

import Foundation
import KFStorage
import KFSupport

/// One caller's request.
final class Load: LoadObserver {
    /// What is wanted: the first that is tried.
    let plan: LoadPlan
    let progress: ProgressRelay?
    let previews: Previews?
    /// Cancels the load; if it runs in a task of the caller's, only when all of the manager are.
    let handle: DownloadTask
    /// Called for what replaces the first attempt: with its handle once it is known from where it loads, or with nil
    /// when a cache had the image.
    let updated: DownloadTaskUpdatedBlock?
    private let hasTried = Locked(false)

    init(
        _ plan: LoadPlan,
        progress: ProgressRelay?,
        previews: Previews?,
        handle: DownloadTask,
        updated: DownloadTaskUpdatedBlock?
    ) {
        (self.plan, self.progress, self.previews) = (plan, progress, previews)
        (self.handle, self.updated) = (handle, updated)
    }

    /// The same request with other options.
    func with(_ options: KingfisherParsedOptionsInfo) -> Load {
        Load(LoadPlan(plan.source, options), progress: progress, previews: previews, handle: handle, updated: updated)
    }

    /// The attempts that follow take the place of the first one.
    func willTryAgain() { hasTried.withLock { $0 = true } }

    /// Whether the attempt that is under way is the first one.
    var isFirst: Bool { !hasTried.withLock { $0 } }

    // MARK: What it is notified of

    var isCancelled: Bool { handle.isCancelled }
    var isWanted: Bool { !isCancelled && plan.options.observer?.isWanted ?? true }
    var hasHandle: Bool { true }

    func didSubscribe(_ subscription: any TaskSubscription) { handle.didSubscribe(subscription) }

    func didStart(from origin: LoadOrigin) {
        handle.didStart(from: origin)
        if case .transfer(let transfer, _) = origin {
            previews?.follow(transfer)
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

    // MARK: Its place among those that share the work, and its result

    /// The caller as a subscriber of a shared load of one of its sources.
    func subscriber(to source: Source) -> Subscriber<LoadedImage> {
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
    func result(
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

extension KingfisherParsedOptionsInfo {
    /// The serializer's encoding of a cached image, made when it is needed.
    func encoding(of image: KFCrossPlatformImage) -> @Sendable () -> Data? {
        { [cacheSerializer] in cacheSerializer.data(with: image, original: nil) }
    }
}
