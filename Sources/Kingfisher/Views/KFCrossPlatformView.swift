// A view without a toolkit: what it holds, and where it is in a tree. Draws nothing; a toolkit's renderer follows it.

public import Foundation

/// A view: what is shown of it, and what is shown over it.
///
/// It needs no toolkit and no display, so that what is loaded into views can be tested, and used on servers. With
/// `KingfisherGTK`, its property `widget` is a GTK widget that shows it. All of it belongs to the main actor.
@MainActor
open class KFCrossPlatformView: KingfisherCompatible {
    /// The view's place in its superview, in points, set by the toolkit when it has laid the view out; a view without
    /// a toolkit is given one.
    public var bounds = CGRect.zero { didSet { if bounds != oldValue { boundsDidChange() } } }
    /// Pixels a point of the screen that shows the view, set by the toolkit.
    public var contentScaleFactor: CGFloat = 1 { didSet { if contentScaleFactor != oldValue { boundsDidChange() } } }
    /// Whether the view is on a screen, set by the toolkit: animations run, and transitions are shown, only there.
    public var isOnScreen = false {
        didSet {
            guard isOnScreen != oldValue else { return }
            if isOnScreen { didAppear() } else { didDisappear() }
        }
    }
    /// Whether nothing of the view is shown.
    public var isHidden = false { didSet { if isHidden != oldValue { renderer?.visibilityDidChange() } } }
    /// What a screen reader reads aloud; nil leaves it to the toolkit.
    public var accessibilityLabel: String? { didSet { renderer?.accessibilityDidChange() } }

    /// The view this one is shown over.
    public private(set) weak var superview: KFCrossPlatformView?
    /// The views that are shown over this one, the last one on top.
    public private(set) var subviews: [KFCrossPlatformView] = []
    /// How large the view is in its superview.
    public private(set) var sizeStrategy = IndicatorSizeStrategy.full
    /// How far the view is from the middle of its superview, in points.
    public private(set) var centerOffset = CGPoint.zero

    /// What shows the view, if anything does.
    package var renderer: (any ViewRenderer)? { didSet { rendererDidChange() } }

    /// A view without a toolkit, not on a screen.
    public init() {}

    /// Shows a view over this one, and over those that are shown over it already.
    ///
    /// - Parameters:
    ///   - view: The view; it leaves the superview it has.
    ///   - size: How large it is.
    ///   - centerOffset: How far it is from the middle, in points.
    public func addSubview(
        _ view: KFCrossPlatformView,
        size: IndicatorSizeStrategy = .full,
        centerOffset: CGPoint = .zero
    ) {
        view.removeFromSuperview()
        view.superview = self
        (view.sizeStrategy, view.centerOffset) = (size, centerOffset)
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

    func boundsDidChange() {}

    func rendererDidChange() {}

    /// A display link of the screen that shows the view; a timer without a screen.
    func makeDisplayLink() -> any DisplayLinkCompatible { renderer?.makeDisplayLink() ?? TimerDisplayLink() }
}

/// A toolkit's side of a view: follows what the view holds.
@MainActor
package protocol ViewRenderer: AnyObject {
    /// Whether transitions are shown: the user of the desktop may not want any.
    var showsTransitions: Bool { get }

    /// A link to the clock of the screen that shows the view; paused.
    func makeDisplayLink() -> any DisplayLinkCompatible

    /// What the view draws has changed.
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
