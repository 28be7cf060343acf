// Plays an animated image for its owner: a widget, a terminal, a test. It depends on no toolkit; frames are decoded by
// a `FrameAnimator`, and ticks come from a display link.

import Dispatch
public import Foundation
public import KFImaging

/// Plays an animated image: decides which frame is shown, and when.
///
/// It is an animated image view without a view. Its owner gives it the image and a display link, notifies it of changes
/// in its own life cycle (``attach()``, ``enteredBackground()``), and draws the images that ``onFrame`` is called with:
///
/// ```swift
/// let player = AnimationPlayer()
/// player.onFrame = { image in canvas.draw(image) }
/// player.image = image
/// player.attach()
/// ```
/// Images whose frames are decoded on demand have an ``animator``. Those whose frames are all decoded already are
/// played too, each frame for its own time. Other images are shown, and need no ticks.
@MainActor
public final class AnimationPlayer {
    /// Whether the animation starts when it is attached, and stops when it is detached.
    ///
    /// Otherwise both are up to ``startAnimating()`` and ``stopAnimating()``.
    public var autoPlayAnimatedImage = true
    /// How many frames after the current one are to be decoded ahead; 0 and less mean the next one alone.
    ///
    /// Holds from the next reset on: the next image, or another ``repeatCount``.
    public var framePreloadCount = 10
    /// Whether frames are decoded no larger than ``size`` needs; holds from the next reset on.
    public var needsPrescaling = true
    /// The size the image is shown in, in points; zero when it is not known, and then frames are decoded at their full
    /// size.
    ///
    /// Holds from the next reset on.
    public var size = CGSize.zero
    /// Pixels a point where the image is shown; holds from the next reset on.
    public var scaleFactor: CGFloat = 1
    /// How the image fills ``size``; holds from the next reset on.
    public var contentMode = KFCrossPlatformContentMode.scaleAspectFit
    /// Without effect: frames are always decoded off the main thread.
    @available(*, deprecated, message: "Frames are always decoded off the main thread.")
    public var backgroundDecode: Bool {
        get { true }
        set {}  // swift-format-ignore: UseSingleLinePropertyGetter
    }
    /// Whether frames whose time is over are skipped when ticks come late; otherwise the animation takes longer.
    public var catchUp = false
    /// Whether the user wants no motion: an animation shows its first frame, and plays after ``startAnimating()`` only.
    ///
    /// Another value resets: an animation that was stopped plays again if it plays by itself.
    public var reducesMotion = false {
        didSet { if reducesMotion != oldValue { reset() } }
    }
    /// Whether all frames but the current one are forgotten while the program is in the background.
    public var purgeFramesOnBackground = false
    /// The delegate, which is notified of the animation's progress; held weakly.
    public weak var delegate: (any AnimationPlayerDelegate)?
    /// Called with every image that is to be shown instead of the one before: first the image itself, then its frames.
    ///
    /// It is not called when the image is set to nil.
    public var onFrame: ((KFCrossPlatformImage) -> Void)?

    /// The image that is shown and played; a different one, in the sense of `==`, resets.
    public var image: KFCrossPlatformImage? {
        didSet { if image != oldValue { reset() } }
    }
    /// How often the animation is played; another value resets.
    public var repeatCount = AnimationRepeatCount.infinite {
        didSet { if repeatCount != oldValue { reset() } }
    }
    /// Whether an image is played as often as its file says while ``repeatCount`` is `infinite`; another value resets
    /// if that makes a difference.
    public var respectsImageLoopCount = false {
        didSet {
            guard respectsImageLoopCount != oldValue, repeatCount == .infinite, imageLoopCount > 0 else { return }
            reset()
        }
    }

    /// Whether the player's owner is on a screen.
    public private(set) var isAttached = false
    /// The image or frame that is shown; nil when there is no image.
    public private(set) var shownImage: KFCrossPlatformImage?
    /// The animator of an image whose frames are decoded on demand; nil otherwise.
    public var animator: FrameAnimator? { image?.frameSource == nil ? nil : playback }

    /// Whether images whose frames are decoded on demand are played; otherwise their first frame is shown.
    var playsFramesOnDemand = true
    /// The source of ticks; for this player alone.
    var displayLink: any DisplayLinkCompatible {
        didSet {
            let isPaused = oldValue.isPaused
            oldValue.invalidate()
            connect()
            displayLink.isPaused = isPaused
        }
    }
    private var link: any DisplayLinkCompatible { displayLink }
    /// The queue where frames are decoded; nil is one that is shared by all players of the same image.
    private let queue: DispatchQueue?
    /// The animator, or one whose frames are all decoded already; nil for stills.
    private var playback: FrameAnimator?
    /// Where other players of the image are; nil for stills.
    private var phase: AnimationPhase?
    /// When the last tick was, in the link's seconds; nil when the animation has not gone on since it was started, and
    /// has to find its phase.
    private var lastTick: TimeInterval?
    /// In the background, whether the animation goes on afterwards; nil in the foreground.
    private var resumes: Bool?

    /// A player without an image, not attached.
    public convenience init(displayLink: any DisplayLinkCompatible = TimerDisplayLink()) {
        self.init(displayLink: displayLink, preloadQueue: nil)
    }

    /// A player whose frames are decoded on the given serial queue.
    init(displayLink: any DisplayLinkCompatible, preloadQueue: DispatchQueue?) {
        (self.displayLink, queue) = (displayLink, preloadQueue)
        connect()
    }

    private func connect() {
        link.isPaused = true
        link.onTick = { [weak self] in self?.tick() }
    }

    isolated deinit { link.invalidate() }
}

// MARK: Starting and stopping

extension AnimationPlayer {
    /// Whether the animation goes on.
    public var isAnimating: Bool { !link.isPaused }

    /// Lets the animation go on.
    ///
    /// Nothing happens when there is nothing to be played: no animation, a single frame without end, or an animation
    /// that has been played as often as it was to be. In the background, it goes on as soon as that is over.
    public func startAnimating() {
        guard let playback, !playback.isStill, !isAnimating else { return }
        guard resumes == nil else {
            resumes = true
            return
        }
        playback.prepareFramesAsynchronously()
        lastTick = nil
        link.isPaused = false
    }

    /// Stops the animation on its current frame.
    public func stopAnimating() {
        if resumes != nil { resumes = false }
        link.isPaused = true
        showCurrentFrame()
    }

    /// To be called when the player's owner appears on a screen.
    public func attach() {
        isAttached = true
        if autoPlayAnimatedImage, !reducesMotion { startAnimating() }
    }

    /// To be called when the player's owner leaves the screen.
    public func detach() {
        isAttached = false
        if autoPlayAnimatedImage { stopAnimating() }
    }

    /// Starts from the beginning.
    private func reset() {
        let wasAnimating = resumes ?? isAnimating
        link.isPaused = true
        if resumes != nil { resumes = false }
        playback = image.flatMap(makePlayback)
        phase = playback == nil ? nil : image.map(AnimationPhase.of)
        shownImage = nil
        if !reducesMotion {
            playback?.prepareFramesAsynchronously()
            if wasAnimating || autoPlayAnimatedImage && isAttached { startAnimating() }
        }
        if let image { show(image) }
    }

    private func makePlayback(of image: Image) -> FrameAnimator? {
        let fileCount = respectsImageLoopCount && repeatCount == .infinite ? imageLoopCount : 0
        let repeatCount = fileCount > 0 ? .finite(count: fileCount) : repeatCount
        if let frames = image.metadata.preloaded {
            let queue = queue ?? FrameQueues.makeQueue()
            return FrameAnimator(preloaded: frames, repeatCount: repeatCount, preloadQueue: queue)
        }
        guard playsFramesOnDemand, let source = image.frameSource, source.frameCount > 0 else { return nil }
        return FrameAnimator(
            frameSource: source,
            contentMode: contentMode,
            size: needsPrescaling ? size : .zero,
            imageSize: image.size,
            imageScale: image.scale,
            viewScale: scaleFactor,
            framePreloadCount: framePreloadCount,
            repeatCount: repeatCount,
            preloadQueue: queue
        )
    }

    /// How often the image's file is to be played; 0 means without end.
    private var imageLoopCount: UInt { image?.frames?.loopCount ?? 0 }
}

// MARK: Memory

extension AnimationPlayer {
    /// Forgets the frames that have been decoded; they are decoded again when they are needed.
    ///
    /// - Parameter keepCurrentFrame: Whether the current one is left alone.
    public func purgeFrames(keepCurrentFrame: Bool = true) {
        animator?.purgeFrames(keepCurrentFrame: keepCurrentFrame)
    }

    /// To be called when the program is hidden.
    ///
    /// With ``purgeFramesOnBackground`` the animation stops, and all frames but the current one are forgotten.
    public func enteredBackground() {
        guard purgeFramesOnBackground, resumes == nil else { return }
        resumes = isAnimating
        link.isPaused = true
        showCurrentFrame()
        purgeFrames(keepCurrentFrame: true)
    }

    /// To be called when the program is visible again: an animation that ``enteredBackground()`` has stopped goes on if
    /// it is still attached.
    public func enteredForeground() {
        let goesOn = resumes ?? false
        resumes = nil
        if goesOn, isAttached { startAnimating() }
    }
}

// MARK: Ticks

extension AnimationPlayer {
    private func tick() {
        guard isAnimating, let playback else { return }
        let (step, image) = advance(playback)
        if let image { show(image) }
        // The delegate may change the player, for instance give it another image.
        for count in step.loopsPlayed where playback === self.playback {
            delegate?.animationPlayer(self, didPlayAnimationLoops: count)
        }
        guard step.hasEnded, playback === self.playback else { return }
        stopAnimating()
        delegate?.animationPlayerDidFinishAnimating(self)
    }

    /// Advances the animation by a tick; the first one after a pause takes it to where other players of the image are.
    private func advance(_ playback: FrameAnimator) -> (step: AnimationStep, image: Image?) {
        let (rate, now) = (link.preferredFramesPerSecond, link.timestamp)
        let seconds = rate > 0 ? 1 / TimeInterval(rate) : link.duration
        guard playback.position != nil else {
            lastTick = nil
            return playback.tick(seconds, catchUp: catchUp)
        }
        // A link stands still while its widget cannot be seen, and then ticks as if there had been no pause.
        let isAfterPause = lastTick.map { now - $0 > link.duration + 0.001 } ?? true
        lastTick = now
        defer { if let position = playback.position { phase?.record(position, of: self, at: now) } }
        guard isAfterPause, let other = phase?.position(beside: self, at: now) else {
            return playback.tick(seconds, catchUp: catchUp)
        }
        return playback.tick(other.ago, catchUp: true, from: other.position)
    }

    private func show(_ frame: Image) {
        guard frame !== shownImage else { return }
        shownImage = frame
        onFrame?(frame)
    }

    /// Shows the current frame of an animation that has stopped, even if it is not decoded yet.
    private func showCurrentFrame() {
        // At the beginning, the image itself stands for the first frame.
        guard let playback, playback.currentFrameIndex > 0 || shownImage !== image else { return }
        if let frame = playback.currentFrameImage { return show(frame) }
        playback.afterDecoding { [weak self, weak playback] in
            Task { @MainActor [weak self, weak playback] in
                guard let self, let playback, playback === self.playback, !isAnimating else { return }
                if let frame = playback.currentFrameImage { show(frame) }
            }
        }
    }
}
