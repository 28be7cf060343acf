// A view without a toolkit: what it holds, and where it is in a tree. Draws nothing; a toolkit's renderer follows it.

public import Foundation

/// A view: what is shown of it, and what is shown over it.
///
/// It needs no toolkit and no display, so that what is loaded into views can be tested, and used on servers. With
/// `KingfisherGTK`, its property `widget` is a GTK widget that shows it. All of it belongs to the main actor.
@MainActor
open class KFCrossPlatformView: KingfisherCompatible {
    /// The view's own rectangle, in points, as the toolkit has laid it out; a view without a toolkit has the one it is
    /// given.
    public var bounds: CGRect {
        get { renderer?.bounds ?? ownBounds }
        set {
            ownBounds = newValue
            layoutDidChange()
        }
    }
    private var ownBounds = CGRect.zero
    /// Pixels a point of the screen that shows the view; 1 without a toolkit.
    public var contentScaleFactor: CGFloat { renderer?.scaleFactor ?? 1 }
    /// Whether the view is on a screen, set by the toolkit: animations run, and transitions are shown, only there.
    public var isOnScreen = false {
        didSet {
            guard isOnScreen != oldValue else { return }
            if isOnScreen { didAppear() } else { didDisappear() }
        }
    }
    /// Whether nothing of the view is shown.
    public var isHidden = false { didSet { if isHidden != oldValue { renderer?.visibilityDidChange() } } }
    /// The text that a screen reader reads aloud; nil leaves it to the toolkit.
    public var accessibilityLabel: String? { didSet { renderer?.accessibilityDidChange() } }
    /// Whether the view says nothing to users of a screen reader, which then leaves it out, whatever its
    /// ``accessibilityLabel`` is. (Not in Kingfisher.)
    public var isDecorative = false { didSet { if isDecorative != oldValue { renderer?.accessibilityDidChange() } } }
    /// Whether the loads of the view are cancelled when the window that it is in is closed. (Not in Kingfisher.)
    ///
    /// It is true at first. Their handlers are called with an error that `isTaskCancelled`. A download that others wait
    /// for, too, goes on for them; one without any goes on for the cache if this is false.
    public var cancelsWhenClosed = true

    /// The view this one is shown over.
    public private(set) weak var superview: KFCrossPlatformView?
    /// The views that are shown over this one, the last one on top.
    public private(set) var subviews: [KFCrossPlatformView] = []
    /// How large the view is in its superview.
    public private(set) var sizeStrategy = IndicatorSizeStrategy.full
    /// How far the view is from the middle of its superview, in points.
    public private(set) var centerOffset = CGPoint.zero

    /// The toolkit's side of the view; nil while no toolkit shows it.
    package var renderer: (any ViewRenderer)? {
        didSet {
            hasLayout = false
            rendererDidChange()
            if onLayout != nil { renderer?.watchLayout() }
        }
    }

    /// A view without a toolkit, not on a screen.
    public init() {}

    /// A view without a toolkit, not on a screen.
    ///
    /// - Parameter frame: Its size is that of ``bounds`` until a toolkit lays the view out, in points; where the view
    ///   is depends on its superview.
    public convenience init(frame: CGRect) {
        self.init()
        bounds = CGRect(origin: .zero, size: frame.size)
    }

    /// Shows a view over this one, and over those that are shown over it already.
    ///
    /// - Parameters:
    ///   - view: The view; it leaves the superview it has.
    ///   - size: How large it is; nil for what suits it: spinners and rings keep their own size, others are as large as
    ///     this view.
    ///   - centerOffset: How far it is from the middle, in points.
    public func addSubview(
        _ view: KFCrossPlatformView,
        size: IndicatorSizeStrategy? = nil,
        centerOffset: CGPoint = .zero
    ) {
        view.removeFromSuperview()
        view.superview = self
        (view.sizeStrategy, view.centerOffset) = (size ?? view.ownSizeStrategy, centerOffset)
        subviews.append(view)
        renderer?.didAdd(view)
    }

    /// Takes the view out of its superview.
    public func removeFromSuperview() {
        guard let superview else { return }
        superview.subviews.removeAll { $0 === self }
        self.superview = nil
        superview.renderer?.didRemove(self)
    }

    /// Called when the view comes onto a screen; to be overridden, and to be called by what overrides it.
    open func didAppear() {}

    /// Called when the view leaves the screen; to be overridden, and to be called by what overrides it.
    open func didDisappear() {}

    /// Called when the program's window is hidden or visible again.
    package func windowDidChange(isVisible: Bool) {}

    /// To be called by the toolkit when the window that the view is in has been closed.
    package func windowDidClose() { if cancelsWhenClosed { cancelLoads() } }

    func cancelLoads() { KingfisherWrapper<KFCrossPlatformView>(self).cancel() }

    func rendererDidChange() {}

    /// How large the view is in a superview that does not say so.
    var ownSizeStrategy: IndicatorSizeStrategy { .full }

    /// To be called by the toolkit when it has laid the view out, or the scale of its screen is another.
    package func layoutDidChange() {
        hasLayout = true
        onLayout?()
    }

    /// Whether the view has been laid out, so that its bounds mean something.
    var isLaidOut: Bool { hasLayout || bounds.size != .zero }
    private var hasLayout = false
    /// Whether the latest load had the option `sizedToView`: then the image must not decide about the size of the view.
    package internal(set) var hasSizeForImages = false
    /// Called after each layout, and when an image is zoomed: the load whose image has the size of the view.
    var onLayout: (@MainActor () -> Void)? { didSet { if onLayout != nil { renderer?.watchLayout() } } }
    /// How the view is filled with images; nil for a view that shows none.
    var contentModeOfImages: KFCrossPlatformContentMode? { nil }
    /// The load of the present image with more pixels; without the view it is not wanted.
    var growth: DownloadTask?

    /// From now on, the image is not loaded with more pixels.
    func stopGrowing() {
        onLayout = nil
        growth?.cancel()
        growth = nil
    }

    /// Called before an image is shown that is the present one with more pixels.
    func imageWillGrow() {}

    /// The size that an image is decoded at; nil when it is shown in its own size, or the view has none yet.
    ///
    /// `present` is the image with too few pixels that is shown; nil for the first load.
    package func imageSize(instead present: KFCrossPlatformImage?) -> ViewImageSize? {
        contentModeOfImages.flatMap { ViewImageSize(bounds.size, scale: contentScaleFactor, contentMode: $0) }
    }

    /// Whether an image has fewer pixels than the view can show.
    func isLarger(than image: KFCrossPlatformImage) -> Bool {
        let size = CGSize(width: image.pixelWidth, height: image.pixelHeight)
        let needed = contentModeOfImages?.pixels(of: size, in: bounds.size, scale: contentScaleFactor)
        return needed.map { $0.width > size.width + 0.5 } ?? false
    }

    /// The options of a load for a size; `present` is the image with too few pixels that is shown.
    func sized(
        _ options: KingfisherParsedOptionsInfo,
        of source: Source,
        for size: ViewImageSize,
        instead present: KFCrossPlatformImage?
    ) -> KingfisherParsedOptionsInfo {
        options.sized(for: size, scale: contentScaleFactor)
    }

    /// The clock of animations and transitions, instead of the clock of the screen that shows the view.
    package var clock: (@MainActor () -> any DisplayLinkCompatible)?

    /// A link to the view's clock; a timer without a screen.
    func makeDisplayLink() -> any DisplayLinkCompatible {
        clock?() ?? renderer?.makeDisplayLink() ?? TimerDisplayLink()
    }
}

extension KFCrossPlatformView: Hashable {
    /// Whether these are the same object.
    public nonisolated static func == (one: KFCrossPlatformView, other: KFCrossPlatformView) -> Bool { one === other }

    /// Hashes the object's identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A toolkit's side of a view: follows what the view holds.
@MainActor
package protocol ViewRenderer: AnyObject {
    /// The view's own rectangle, in points.
    var bounds: CGRect { get }

    /// Pixels a point of the screen.
    var scaleFactor: CGFloat { get }

    /// Whether transitions are shown and animations played: the user of the desktop may not want any motion.
    var showsMotion: Bool { get }

    /// From now on, the view's `layoutDidChange` is called after each layout, but not during it.
    func watchLayout()

    /// A link to the clock of the screen that shows the view; paused.
    func makeDisplayLink() -> any DisplayLinkCompatible

    /// The content of the view has changed.
    func contentDidChange()

    /// Whether the view is hidden has changed.
    func visibilityDidChange()

    /// What a screen reader reads aloud has changed.
    func accessibilityDidChange()

    /// A view is shown over this one now.
    func didAdd(_ subview: KFCrossPlatformView)

    /// A view is not shown over this one any more.
    func didRemove(_ subview: KFCrossPlatformView)
}
