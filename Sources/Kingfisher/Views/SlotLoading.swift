// Loads an image and shows it in a slot: the one implementation behind every `setImage`.

import Foundation
import KFImaging

/// One load for a slot.
@MainActor
final class SlotLoad<Slot: ImageSlot> {
    /// The handler that is called at the end.
    typealias Completion = @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void

    private(set) weak var owner: Slot.Owner?
    let slot: Slot
    let state: SlotState
    private let identifier: Source.Identifier.Value
    let source: Source
    private(set) var options: KingfisherParsedOptionsInfo
    /// The size that the image is decoded at; nil for its own size, and as long as the size of the view is not known.
    var size: ViewImageSize?
    /// The image of the same source that is shown and has too few pixels; nil for a load that was asked for.
    let present: KFCrossPlatformImage?
    private let showsProgress: Bool
    private let completion: Completion?

    /// Loads an image and shows it in a slot.
    ///
    /// An indicator shows that the load is under way, unless an image of the source is `present`.
    ///
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    static func start(
        _ source: Source?,
        _ slot: Slot,
        of owner: Slot.Owner,
        options: consuming KingfisherParsedOptionsInfo,
        manager: KingfisherManager,
        instead present: KFCrossPlatformImage? = nil,
        progressBlock: DownloadProgressBlock?,
        completion: Completion?
    ) -> DownloadTask? {
        let state = SlotStates.state(of: slot.place, in: owner)
        slot.view(of: owner)?.stopGrowing()
        guard let source else {
            state.supersede()
            slot.showPlaceholder(owner)
            completion?(.failure(.imageSettingError(reason: .emptySource)))
            return nil
        }
        manager.process(&options, for: source)
        if !options.keepCurrentImageWhileLoading || slot.isEmpty(owner) { slot.showPlaceholder(owner) }
        let load = SlotLoad(source, slot, of: owner, state, options, instead: present, completion)
        return load.start(manager, progressBlock)
    }

    private let observer: SlotLoadObserver

    private init(
        _ source: Source,
        _ slot: Slot,
        of owner: Slot.Owner,
        _ state: SlotState,
        _ options: consuming KingfisherParsedOptionsInfo,
        instead present: KFCrossPlatformImage?,
        _ completion: Completion?
    ) {
        (self.source, self.slot, self.owner, self.state) = (source, slot, owner, state)
        (self.options, self.completion) = (options, completion)
        self.present = present
        showsProgress = present == nil && slot.loadDidBegin(owner)
        (identifier, observer) = state.begin()
    }

    /// Whether there is something to be shown: no other load has replaced this one, and the owner is there.
    private var isCurrent: Bool { state.identifier == identifier && owner != nil }

    private func start(_ manager: KingfisherManager, _ progressBlock: DownloadProgressBlock?) -> DownloadTask? {
        options.callbackQueue = .mainCurrentOrAsync
        (options.load.isForView, options.load.observer) = (true, observer)
        if options.refreshCached, present == nil { options.onStaleImage = staleImageSetter() }
        var (progress, previewSetter): (DownloadProgressBlock?, Previews.Setter?)
        if progressBlock != nil || showsProgress { progress = { [self] in report($0, $1, to: progressBlock) } }
        if options.progressiveJPEG != nil { previewSetter = { [self] in showPreview($0) } }
        if present == nil, let owner { slot.view(of: owner)?.hasSizeForImages = options.sizedToView }
        let sized = sizedOptions()
        let task = manager.retrieveImage(
            with: source,
            parsed: sized ?? options,
            prepared: sized == nil ? optionsAfterLayout() : nil,
            progressBlock: progress,
            previewSetter: previewSetter
        ) { [self] result in
            MainActor.assumeIsolated { end(result, manager) }
        }
        if isCurrent {
            state.task = task
            showLargerImage(in: manager)
        }
        return task
    }

    private func report(_ received: Int64, _ total: Int64, to progressBlock: DownloadProgressBlock?) {
        guard let owner, isCurrent else { return }
        if total > 0 { slot.loadDidProceed(owner, to: Double(received) / Double(total)) }
        progressBlock?(received, total)
    }

    /// Shows the cached image while the server is asked about it, and calls the user's block.
    private func staleImageSetter() -> @Sendable (RetrieveImageResult) -> Void {
        let block = options.onStaleImage
        return { [self] stale in
            MainActor.assumeIsolated { showPreview(stale.image) }
            block?(stale)
        }
    }

    private func showPreview(_ image: KFCrossPlatformImage?) {
        guard let owner, isCurrent else { return }
        slot.show(image, owner, options)
    }

    private func end(_ result: Result<RetrieveImageResult, KingfisherError>, _ manager: KingfisherManager) {
        let isLatest = state.identifier == identifier
        if isLatest { (state.identifier, state.task) = (nil, nil) }
        if let owner, present == nil { slot.loadDidEnd(owner) }
        guard isLatest, let owner else { return complete(replaced(result)) }
        switch result {
        case .success(let value):
            if let present {
                // Another image may have been set since.
                guard slot.isShowing(present, owner) else { return complete(result) }
                slot.view(of: owner)?.imageWillGrow()
            }
            slot.show(value, owner, options) { [self] in
                watchLayout(of: value.image, manager)
                complete(result)
            }
        case .failure:
            if let image = options.onFailureImage { slot.show(image, owner, options) }
            if let present { loadAgain(manager, whenTooSmall: present) }
            complete(result)
        }
    }

    private func complete(_ result: Result<RetrieveImageResult, KingfisherError>) { completion?(result) }

    /// The result of a load that another one has replaced, or whose owner is gone.
    private func replaced(
        _ result: Result<RetrieveImageResult, KingfisherError>
    ) -> Result<RetrieveImageResult, KingfisherError> {
        switch result {
        case .success(let value):
            .failure(.imageSettingError(reason: .notCurrentSourceTask(result: value, error: nil, source: source)))
        case .failure(let error):
            .failure(.imageSettingError(reason: .notCurrentSourceTask(result: nil, error: error, source: source)))
        }
    }
}

extension KingfisherWrapper where Base: AnyObject & Sendable {
    /// Loads an image and shows it in a slot of the object.
    @MainActor
    func load(
        _ source: (any SourceConvertible)?,
        into slot: some ImageSlot<Base>,
        _ options: KingfisherOptionsInfo?,
        _ manager: KingfisherManager,
        _ progressBlock: DownloadProgressBlock?,
        _ completion: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        load(
            source?.convertToSource(),
            into: slot,
            parsed: manager.parsed(options),
            manager: manager,
            progressBlock,
            completion
        )
    }

    /// The same with options that have been read already.
    @MainActor
    func load<Slot: ImageSlot<Base>>(
        _ source: Source?,
        into slot: Slot,
        parsed options: consuming KingfisherParsedOptionsInfo,
        manager: KingfisherManager,
        _ progressBlock: DownloadProgressBlock?,
        _ completion: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        SlotLoad<Slot>.start(
            source,
            slot,
            of: base,
            options: options,
            manager: manager,
            progressBlock: progressBlock,
            completion: completion
        )
    }

    /// The identifier of the load under way for a place; nil when there is none.
    @MainActor
    func identifier(of place: ImagePlace) -> Source.Identifier.Value? {
        SlotStates.of(base)?.byPlace[place]?.identifier
    }

    /// Cancels the loads under way for places.
    @MainActor
    func cancel(_ isMeant: (ImagePlace) -> Bool = { _ in true }) {
        for (place, state) in SlotStates.of(base)?.byPlace ?? [:] where isMeant(place) { state.task?.cancel() }
    }
}
