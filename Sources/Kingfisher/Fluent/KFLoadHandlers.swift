// The handlers of a load that is described by chained methods, for `KF.Builder`, `KFImage` and `KFAnimatedImage`.

/// The handlers that are called while an image is loaded, and at the end; all of them on the main actor.
///
/// Set by ``KFOptionSetter/onProgress(_:)``, ``KFOptionSetter/onSuccess(_:)`` and ``KFOptionSetter/onFailure(_:)``.
public struct KFLoadHandlers: Sendable {
    var progressDelegate = Delegate<(Int64, Int64), Void>()
    var successDelegate = Delegate<RetrieveImageResult, Void>()
    var failureDelegate = Delegate<KingfisherError, Void>()

    /// No handlers.
    public init() {}

    /// The same handlers; setting another one in the copy changes nothing here.
    func copy() -> KFLoadHandlers {
        var copy = self
        copy.progressDelegate = progressDelegate.copy()
        copy.successDelegate = successDelegate.copy()
        copy.failureDelegate = failureDelegate.copy()
        return copy
    }

    /// The handler of the progress; nil when there is none.
    var progress: DownloadProgressBlock? {
        guard progressDelegate.isSet else { return nil }
        return { [progressDelegate] in progressDelegate.call(($0, $1)) }
    }

    /// Calls the handler for an outcome.
    @MainActor func call(_ result: Result<RetrieveImageResult, KingfisherError>) {
        switch result {
        case .success(let value): successDelegate.call(value)
        case .failure(let error): failureDelegate.call(error)
        }
    }
}

extension KFOptionSetter {
    /// Is called with the download's progress, bytes received and expected, when its length is known; on the main
    /// actor.
    public var onProgressDelegate: Delegate<(Int64, Int64), Void> { handlers.progressDelegate }

    /// Is called once with the image, on the main actor.
    public var onSuccessDelegate: Delegate<RetrieveImageResult, Void> { handlers.successDelegate }

    /// Is called once with the error, on the main actor.
    public var onFailureDelegate: Delegate<KingfisherError, Void> { handlers.failureDelegate }

    /// Sets the block called with the download's progress, when its length is known; it replaces an earlier one, nil is
    /// none.
    public func onProgress(_ block: DownloadProgressBlock?) -> Self {
        let copy = copyForMutation()
        copy.onProgressDelegate.set(
            block.map { block in { progress in MainActor.assumeIsolated { block(progress.0, progress.1) } } }
        )
        return copy
    }

    /// Sets the block called once with the image; it replaces an earlier block, and nil removes it.
    public func onSuccess(_ block: (@MainActor (RetrieveImageResult) -> Void)?) -> Self {
        let copy = copyForMutation()
        copy.onSuccessDelegate.set(
            block.map { block in { result in MainActor.assumeIsolated { block(result) } } }
        )
        return copy
    }

    /// Sets the block called once with the error; it replaces an earlier block, and nil removes it.
    public func onFailure(_ block: (@MainActor (KingfisherError) -> Void)?) -> Self {
        let copy = copyForMutation()
        copy.onFailureDelegate.set(
            block.map { block in { error in MainActor.assumeIsolated { block(error) } } }
        )
        return copy
    }
}
