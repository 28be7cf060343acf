// Loads the image of one description, and holds the content to be shown. For KFImageView.

import Foundation
import KFImaging

/// The load of one view for one description: begun, cancelled and begun again as the view comes and goes.
@MainActor
final class KFImageBinder {
    /// The kinds of content a view shows.
    enum Content {
        case placeholder
        case failureView
        /// An image, maybe none, and how it appears.
        case image(KFCrossPlatformImage?, ImageTransition)
    }

    /// The content to be shown now.
    private(set) var content = Content.placeholder { didSet { onChange?() } }
    /// How many bytes there are.
    let progress = Progress.discreteProgress(totalUnitCount: 0)
    private var load = LoadWhileVisible()
    /// Whether a load is under way.
    var isLoading: Bool { load.isLoading }
    /// Whether there is nothing to load any more: the image is there, or there is no source.
    var isDone: Bool { load.phase == .done }
    /// Called when ``content`` has changed.
    var onChange: (() -> Void)?
    /// Called when ``progress`` has grown by a percent.
    var onProgress: (() -> Void)?

    /// The view that shows the content; it has the size that an image is decoded at where that is asked for.
    weak var view: KFCrossPlatformView?

    private let context: KFImageContext
    private let options: KingfisherParsedOptionsInfo
    private var task: DownloadTask?

    /// A binder that has not begun.
    ///
    /// - Parameters:
    ///   - context: The contents of the description.
    ///   - playsFramesOnDemand: Whether an animation can be shown without all of its frames.
    init(_ context: KFImageContext, playsFramesOnDemand: Bool) {
        self.context = context
        var options = context.options
        if !playsFramesOnDemand { options.preloadAllAnimationData = true }
        if let transition = context.loadTransition { options.transition = transition }
        options.onFailureImage = nil  // shown by `fail()`
        self.options = options
    }

    /// Begins to load, unless that is under way or over; a load that has failed is begun again.
    func start() {
        guard !isLoading, !isDone else { return }
        let handlers = context.handlers
        guard let source = context.source else {
            load.finish()
            handlers.call(.failure(.imageSettingError(reason: .emptySource)))
            return fail()
        }
        let number = load.begin()
        (progress.completedUnitCount, progress.totalUnitCount) = (0, 0)
        task = SlotLoad.start(
            source,
            BinderSlot(),
            of: self,
            options: options,
            manager: context.manager,
            progressBlock: { [weak self] in self?.proceed($0, of: $1) },
            completion: { [weak self] result in
                self?.end(result, number)
                // Later, so that no handler runs while a view is being made or laid out.
                CallbackQueue.mainAsync.execute { MainActor.assumeIsolated { handlers.call(result) } }
            }
        )
    }

    /// Cancels the load that is under way, if there is one; what is shown stays.
    func cancel() {
        guard load.leave() else { return }
        task?.cancel()
        task = nil
    }

    /// The load that is under way is no longer wanted.
    ///
    /// It is cancelled if it would be by the view's leaving the screen. Otherwise it ends without a download if it has
    /// not begun one; a download that is under way goes on for the cache.
    func supersede() {
        (onChange, onProgress) = (nil, nil)
        if context.cancelsOnDisappear { cancel() }
        SlotStates.of(self)?.byPlace[BinderSlot().place]?.supersede()
    }

    /// Sets the priority of a download that is under way.
    func setPriority(isLow: Bool) {
        task?.setPriority(isLow ? min(0.25, options.downloadPriority) : options.downloadPriority)
    }

    private func proceed(_ received: Int64, of total: Int64) {
        guard isLoading else { return }
        let before = percent
        (progress.totalUnitCount, progress.completedUnitCount) = (total, received)
        if percent != before { onProgress?() }
        context.handlers.progress?(received, total)
    }

    private var percent: Double {
        let (completed, total) = (Double(progress.completedUnitCount), Double(progress.totalUnitCount))
        return total > 0 ? (100 * completed / total).rounded(.down) : 0
    }

    private func end(_ result: Result<RetrieveImageResult, KingfisherError>, _ number: Int) {
        guard case .failure(let error) = result, !error.isNotCurrentTask, load.end(number, isFailed: true) else {
            return
        }
        task = nil
        fail()
    }

    private func fail() {
        if context.failureView != nil {
            content = .failureView
        } else if let image = context.options.onFailureImage {
            content = .image(image, .none)
        }
    }
}

/// The binder's image, as a place to load into.
private struct BinderSlot: ImageSlot {
    var place: ImagePlace { .image() }

    func isEmpty(_ binder: KFImageBinder) -> Bool { if case .placeholder = binder.content { true } else { false } }

    func view(of binder: KFImageBinder) -> KFCrossPlatformView? { binder.view }

    func isShowing(_ image: KFCrossPlatformImage, _ binder: KFImageBinder) -> Bool {
        if case .image(let shown, _) = binder.content { shown === image } else { false }
    }

    func showPlaceholder(_ binder: KFImageBinder) { binder.begin(isEmpty: isEmpty(binder)) }

    func show(_ image: KFCrossPlatformImage?, _ binder: KFImageBinder, _ options: KingfisherParsedOptionsInfo) {
        binder.preview(image)
    }

    func show(
        _ result: RetrieveImageResult,
        _ binder: KFImageBinder,
        _ options: KingfisherParsedOptionsInfo,
        completion: @escaping @MainActor () -> Void
    ) {
        let isAnimated = options.forceTransition || result.cacheType == .none
        binder.succeed(result.image, isAnimated ? options.transition : .none)
        completion()
    }
}

extension KFImageBinder {
    fileprivate func begin(isEmpty: Bool) { if !isEmpty { content = .placeholder } }

    fileprivate func preview(_ image: KFCrossPlatformImage?) { if isLoading { content = .image(image, .none) } }

    fileprivate func succeed(_ image: KFCrossPlatformImage, _ transition: ImageTransition) {
        load.finish()
        task = nil
        progress.completedUnitCount = progress.totalUnitCount
        content = .image(image, transition)
    }
}
