// A view of one image: which frame it draws, and how one image gives way to the next. Knows no load and no toolkit.

import Foundation
public import KFImaging

/// A view that shows an image.
///
/// An image with frames that are decoded already is played by itself, each frame for its own time; of one whose frames
/// are decoded on demand, the first is shown: use ``AnimatedImageView`` for these.
@MainActor
open class KFCrossPlatformImageView: KFCrossPlatformView {
    /// The image that is shown; nil for none.
    ///
    /// Another image ends a transition that is under way.
    open var image: KFCrossPlatformImage? { didSet { imageDidChange(from: oldValue) } }

    /// How the view is filled with the image.
    public var contentMode = KFCrossPlatformContentMode.scaleAspectFit {
        didSet {
            player?.contentMode = contentMode
            guard contentMode != oldValue else { return }
            renderer?.contentDidChange()
            onLayout?()
        }
    }
    override var contentModeOfImages: KFCrossPlatformContentMode? { contentMode }

    /// The player of animations; nil until there is one.
    private(set) var player: AnimationPlayer?
    /// The transition that is under way.
    package private(set) var transition: RunningTransition?
    /// The placeholder that is shown; what loads images into the view owns it.
    var placeholder: (any Placeholder)?
    /// The indicator; it runs while ``loadCount`` is not 0.
    var indicator: (any Indicator)?
    /// The type that ``indicator`` was made of.
    var indicatorType = IndicatorType.none
    /// How many loads for the view are under way, including those that another load has replaced.
    var loadCount = 0
    /// Whether the load is cancelled when the view leaves the screen; it begins again when the view is back, unless the
    /// image is there. (Not in Kingfisher.)
    ///
    /// It holds for loads that begin after it was set, but for those of a larger image for a view that has grown, which
    /// go on. The handler of a load is still called once, at its end: when the image is shown, when the load fails,
    /// when it is cancelled by the program, or with `notCurrentSourceTask` when another load takes its place or the
    /// view is released. Once the load has begun again, the handle that `setImage` returned does not cancel it any
    /// more; `kf.cancelDownloadTask()` cancels it at all times.
    public var cancelOnDisappear = false
    /// The load that is cancelled and begun again as the view leaves the screen and comes back; nil when it has ended.
    var disappearingLoad: DisappearingViewLoad?
    /// Where the bytes of the newest image that was loaded may be; nil until one was.
    var storedOriginal: StoredOriginal?
    /// That image.
    weak var loadedImage: KFCrossPlatformImage?

    /// A view without an image.
    public override init() { super.init() }

    // The completions of the load and the transition are called, and the indicator is stopped, even if the view goes
    // first.
    isolated deinit {
        disappearingLoad?.supersede()
        transition?.end(finished: false)
        growth?.cancel()
        if loadCount > 0 { indicator?.stopAnimatingView() }
    }

    /// The image to be drawn: the view's, or the current frame of it.
    package var shownImage: KFCrossPlatformImage? { player?.shownImage ?? image }

    /// Whether images whose frames are decoded on demand are played.
    var playsFramesOnDemand: Bool { false }

    /// Whether images that no processor changes are decoded as large as the view shows them, whatever the options say.
    var sizesImages: Bool { false }

    private func imageDidChange(from old: KFCrossPlatformImage?) {
        guard image !== old else { return }
        let isPlayed = image.map { $0.images != nil || playsFramesOnDemand && $0.isAnimated } ?? false
        if isPlayed || player != nil {
            let player = requirePlayer()
            (player.size, player.scaleFactor) = (bounds.size, contentScaleFactor)
            player.image = image
        }
        renderer?.contentDidChange()
        endTransition(finished: false)
    }

    /// The player, made when it is needed first.
    func requirePlayer() -> AnimationPlayer {
        if let player { return player }
        let player = AnimationPlayer(displayLink: makeDisplayLink())
        player.playsFramesOnDemand = playsFramesOnDemand
        player.contentMode = contentMode
        player.reducesMotion = renderer?.showsMotion == false
        player.onFrame = { [weak self] _ in self?.renderer?.contentDidChange() }
        self.player = player
        if isOnScreen { player.attach() }
        return player
    }

    override func rendererDidChange() {
        player?.displayLink = makeDisplayLink()
        motionDidChange()
    }

    /// To be called by the toolkit when the user wants motion, or does not want it any more.
    package func motionDidChange() { player?.reducesMotion = renderer?.showsMotion == false }

    override func cancelLoads() { kf.cancelDownloadTask() }

    /// Called when the view comes onto a screen: the animation goes on, and so does a load that was cancelled before.
    open override func didAppear() {
        player?.attach()
        disappearingLoad?.viewDidAppear()
    }

    /// Called when the view leaves the screen: the animation stops, a transition ends at once, and the load is
    /// cancelled if ``cancelOnDisappear`` says so.
    open override func didDisappear() {
        disappearingLoad?.viewDidDisappear()
        player?.detach()
        endTransition(finished: true)
    }

    package override func windowDidChange(isVisible: Bool) {
        if isVisible { player?.enteredForeground() } else { player?.enteredBackground() }
    }
}

// MARK: Transitions

/// An image that gives way to the next.
@MainActor
package final class RunningTransition {
    /// How.
    package let kind: ImageTransition
    /// The image before; nil for none.
    package let previous: KFCrossPlatformImage?
    /// How much of the time is over, from 0 to 1.
    package fileprivate(set) var progress: Double = 0
    private let link: any DisplayLinkCompatible
    private let completion: (Bool) -> Void

    fileprivate init(
        _ kind: ImageTransition,
        from previous: KFCrossPlatformImage?,
        on link: any DisplayLinkCompatible,
        _ completion: @escaping (Bool) -> Void
    ) {
        (self.kind, self.previous, self.link, self.completion) = (kind, previous, link, completion)
    }

    /// To be called once.
    fileprivate func end(finished: Bool) {
        link.invalidate()
        completion(finished)
    }
}

extension KFCrossPlatformImageView {
    /// Sets the image, which appears by a transition.
    ///
    /// - Parameters:
    ///   - image: The image; it is set at once, and drawn as the transition has it.
    ///   - kind: The transition; nothing to be seen of it where the view is not on a screen.
    ///   - previous: The image it replaces, if that is not the one that is shown.
    ///   - completion: Called once, at the end; with false if another image came before.
    func show(
        _ image: KFCrossPlatformImage,
        by kind: ImageTransition,
        from previous: KFCrossPlatformImage?,
        completion: @escaping (Bool) -> Void
    ) {
        // Handlers come last: a handler may load another image.
        let interrupted = transition
        transition = nil
        if case .custom(_, _, .some(let animations), _) = kind { animations(self, image) } else { self.image = image }
        let isShown = kind.duration > 0 && isOnScreen && renderer?.showsMotion ?? true
        if isShown { begin(kind, from: previous, completion) }
        interrupted?.end(finished: false)
        if !isShown { completion(true) }
    }

    private func begin(
        _ kind: ImageTransition,
        from previous: KFCrossPlatformImage?,
        _ completion: @escaping (Bool) -> Void
    ) {
        let link = makeDisplayLink()
        let running = RunningTransition(kind, from: previous, on: link, completion)
        link.onTick = { [weak self, weak running, weak link] in
            guard let self, let running, let link, running === transition else { return }
            running.progress = min(1, running.progress + link.duration / kind.duration)
            if running.progress < 1 { renderer?.contentDidChange() } else { endTransition(finished: true) }
        }
        transition = running
        link.isPaused = false
        renderer?.contentDidChange()
    }

    /// Ends the transition that is under way, if there is one.
    private func endTransition(finished: Bool) {
        guard let running = transition else { return }
        transition = nil
        renderer?.contentDidChange()
        running.end(finished: finished)
    }
}
