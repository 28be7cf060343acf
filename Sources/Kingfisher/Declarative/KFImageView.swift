// The view of a description: shows its binder's content, one view at a time.

import Foundation
import KFImaging

/// A view that loads the image of a ``KFImage`` or a ``KFAnimatedImage``, and shows it.
///
/// It begins to load when it comes onto a screen, that is, when ``KFCrossPlatformView/isOnScreen`` is set. Its only
/// subview is what it shows: the image view, the failure view or the placeholder, so that a placeholder alone decides
/// how large the view wants to be until the image is there.
///
/// The progress handler is called during the load, those of success and failure once, on a later turn of the main queue
/// than the one that shows the outcome; only a missing source is reported at once. A load that has failed or was
/// cancelled is begun again when the view comes onto a screen the next time.
@MainActor
public final class KFImageView: KFCrossPlatformView {
    /// The view of the image, made for the description that is shown; it is a subview once there is an image.
    public private(set) var imageView: KFCrossPlatformImageView

    private var context: KFImageContext
    private var binder: KFImageBinder
    /// The only subview.
    private var shown: KFCrossPlatformView?
    /// Whether what was shown of the description before stays until there is an image.
    private var keepsFormer = false

    /// A view of a description, not on a screen.
    ///
    /// - Parameter description: The description of the image.
    public init(_ description: some KFImageProtocol) {
        let imageView = description.makeConfiguredView()
        (context, self.imageView) = (description.context, imageView)
        binder = KFImageBinder(description.context, playsFramesOnDemand: imageView.playsFramesOnDemand)
        super.init()
        bind()
    }

    /// Shows another description, as a cell of a list does that is used again.
    ///
    /// The last description wins. The image of the one before is not shown, and its handler is called with
    /// `notCurrentSourceTask`. Its load is cancelled if ``KFImageProtocol/cancelOnDisappear(_:)`` says so. Otherwise it
    /// ends without a download if it has not begun one; a download that is under way goes on for the cache. The content
    /// gives way to the placeholder at once, unless the option `keepCurrentImageWhileLoading` is set.
    ///
    /// - Parameter description: The description of the image that is shown from now on, in an image view of its own.
    public func show(_ description: some KFImageProtocol) {
        binder.supersede()
        (context, imageView) = (description.context, description.makeConfiguredView())
        binder = KFImageBinder(context, playsFramesOnDemand: imageView.playsFramesOnDemand)
        keepsFormer = context.options.keepCurrentImageWhileLoading && shown != nil
        bind()
    }

    /// Begins to load if it is time, and follows the binder.
    private func bind() {
        let binder = binder
        binder.view = self
        if isOnScreen {
            binder.start()
        } else if context.startsBeforeAppearing {
            CallbackQueue.mainAsync.execute { [weak binder] in MainActor.assumeIsolated { binder?.start() } }
        }
        // An image in memory is there already; and a handler may have called `show(_:)`.
        guard binder === self.binder else { return }
        render()
        binder.onChange = { [weak self] in self?.render() }
        binder.onProgress = { [weak self] in
            if let self, case .progressView = context.placeholder { render() }
        }
    }

    /// Called when the view comes onto a screen: the load begins, or has its priority back.
    public override func didAppear() {
        super.didAppear()
        if binder.isLoading { binder.setPriority(isLow: false) } else { binder.start() }
    }

    /// Called when the view leaves the screen: the load is cancelled or becomes less urgent, if that was asked for.
    public override func didDisappear() {
        super.didDisappear()
        if context.cancelsOnDisappear {
            binder.cancel()
        } else if context.reducesPriorityOnDisappear {
            binder.setPriority(isLow: true)
        }
    }

    override func cancelLoads() { binder.cancel() }

    override var contentModeOfImages: KFCrossPlatformContentMode? { imageView.contentMode }

    // MARK: Showing

    private func render() {
        switch binder.content {
        case .placeholder: if !keepsFormer { replaceShown(by: makePlaceholder()) }
        case .failureView: replaceShown(by: context.failureView?())
        case .image(let image, let transition): show(image, by: transition)
        }
    }

    private func show(_ image: KFCrossPlatformImage?, by transition: ImageTransition) {
        let former = (shown as? KFCrossPlatformImageView)?.shownImage
        replaceShown(by: imageView)
        guard let image, !transition.isNone else { return imageView.image = image }
        imageView.show(image, by: transition, from: former) { finished in
            if case .custom(_, _, _, let ended) = transition { ended?(finished) }
        }
    }

    private func makePlaceholder() -> KFCrossPlatformView? {
        switch context.placeholder {
        case .none: return nil
        case .image(let image):
            let view = KFCrossPlatformImageView()
            view.contentMode = imageView.contentMode
            view.image = image
            return view
        case .view(let make): return make()
        case .progressView(let make): return make(binder.progress)
        }
    }

    private func replaceShown(by view: KFCrossPlatformView?) {
        keepsFormer = false
        guard view !== shown else { return }
        shown?.removeFromSuperview()
        shown = view
        if let view { addSubview(view) }
    }
}
