// An image view that plays animations whose frames are decoded on demand: a player, under the names Kingfisher has.

public import Foundation

/// An image view that plays animated images frame by frame, a handful of frames in memory however many there are.
///
/// Views that show one image at the same time decode each of its frames once.
@MainActor
open class AnimatedImageView: KFCrossPlatformImageView {
    /// How often an animation is played.
    public typealias RepeatCount = AnimationRepeatCount
    /// The player of one animation.
    public typealias Animator = FrameAnimator

    /// Is notified of the animation's progress; held weakly.
    public weak var delegate: (any AnimatedImageViewDelegate)?

    private var observer: Observer?

    /// A view without an image.
    public override init() {
        super.init()
        let observer = Observer(view: self)
        requirePlayer().delegate = observer
        self.observer = observer
    }

    override var playsFramesOnDemand: Bool { true }

    /// Whether the animation starts when the view comes onto a screen, and stops when it leaves it.
    public var autoPlayAnimatedImage: Bool {
        get { requirePlayer().autoPlayAnimatedImage }
        set { requirePlayer().autoPlayAnimatedImage = newValue }
    }

    /// How many frames after the current one are decoded ahead; holds from the next image on.
    public var framePreloadCount: Int {
        get { requirePlayer().framePreloadCount }
        set { requirePlayer().framePreloadCount = newValue }
    }

    /// Whether frames are decoded no larger than the view needs; holds from the next image on.
    public var needsPrescaling: Bool {
        get { requirePlayer().needsPrescaling }
        set { requirePlayer().needsPrescaling = newValue }
    }

    /// Without effect: frames are always decoded off the main thread.
    @available(*, deprecated, message: "Frames are always decoded off the main thread.")
    public var backgroundDecode: Bool {
        get { true }
        set {}  // swift-format-ignore: UseSingleLinePropertyGetter
    }

    /// Without effect: there are no run loop modes.
    public var runLoopMode = RunLoop.Mode.common

    /// How often the animation is played; another value starts it from the beginning.
    public var repeatCount: RepeatCount {
        get { requirePlayer().repeatCount }
        set { requirePlayer().repeatCount = newValue }
    }

    /// Whether an image is played as often as its file says while ``repeatCount`` is `infinite`. (Not in Kingfisher.)
    public var respectsImageLoopCount: Bool {
        get { requirePlayer().respectsImageLoopCount }
        set { requirePlayer().respectsImageLoopCount = newValue }
    }

    /// Whether all frames but the current one are forgotten while the window is hidden.
    public var purgeFramesOnBackground: Bool {
        get { requirePlayer().purgeFramesOnBackground }
        set { requirePlayer().purgeFramesOnBackground = newValue }
    }

    /// The player of the image; nil when it is not animated.
    public var animator: Animator? { player?.animator }

    /// Whether the animation goes on.
    public var isAnimating: Bool { player?.isAnimating ?? false }

    /// Lets the animation go on, unless it has been played as often as it was to be.
    public func startAnimating() { player?.startAnimating() }

    /// Lets the animation stand still on its current frame.
    public func stopAnimating() { player?.stopAnimating() }

    /// Forgets the frames that have been decoded; they are decoded again when they are needed.
    ///
    /// - Parameter keepCurrentFrame: Whether the current one is left alone.
    public func purgeFrames(keepCurrentFrame: Bool = true) { player?.purgeFrames(keepCurrentFrame: keepCurrentFrame) }

    /// Passes on what the player reports.
    private final class Observer: AnimationPlayerDelegate {
        weak var view: AnimatedImageView?

        init(view: AnimatedImageView) { self.view = view }

        func animationPlayer(_ player: AnimationPlayer, didPlayAnimationLoops count: UInt) {
            guard let view else { return }
            view.delegate?.animatedImageView(view, didPlayAnimationLoops: count)
        }

        func animationPlayerDidFinishAnimating(_ player: AnimationPlayer) {
            guard let view else { return }
            view.delegate?.animatedImageViewDidFinishAnimating(view)
        }
    }
}

/// Is notified of an animation's progress, on the main actor, after the frame that is the reason is shown.
///
/// Both methods may be left out.
@MainActor
public protocol AnimatedImageViewDelegate: AnyObject {
    /// Called whenever all frames have been played once.
    ///
    /// - Parameters:
    ///   - imageView: The view.
    ///   - count: How often they have been played by now.
    func animatedImageView(_ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt)

    /// Called once, when the animation has been played as often as it was to be, and stays on its last frame.
    ///
    /// - Parameter imageView: The view.
    func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView)
}

extension AnimatedImageViewDelegate {
    /// Does nothing.
    public func animatedImageView(_ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt) {}

    /// Does nothing.
    public func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView) {}
}
