// An image view that is zoomed and moved. Where the image lies is ZoomGeometry's; a toolkit draws it and has the input.

public import Foundation
import KFImaging

/// An image view whose image can be zoomed and moved. (Not in Kingfisher.)
///
/// It loads as any image view does, with `zoomView.kf.setImage(with: url)`. A still that no processor changes is
/// decoded no larger than the view shows it, whatever the option `sizedToView` says: when the user zooms in beyond
/// that, the same source is decoded larger, by steps of two up to the original, and the present image stays until
/// then. The original's bytes are kept in the disk cache, except for those of local files, and with
/// ``KingfisherParsedOptionsInfo/cacheMemoryOnly``. A load waits until the view has a size.
///
/// With `KingfisherGTK`, the image is zoomed by pinching, by the wheel and Ctrl, by a double click, and by the keys +,
/// −, 0 (all of the image) and 1 (its own size); it is moved by dragging, scrolling and the arrow keys.
///
/// ``KFCrossPlatformImageView/contentMode`` has no effect; use ``mode-swift.property``.
@MainActor
public final class ZoomView: AnimatedImageView {
    /// How large the image is shown.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Mode: Hashable, Sendable {
        /// All of the image, as large as possible, also when the view's size changes.
        case fit
        /// As small as possible while the view is covered, also when its size changes.
        case fill
        /// A pixel of the original is a pixel of the screen.
        case actualSize
        /// So many pixels of the screen for a pixel of the original, on each axis; within ``ZoomView/zoomLimits``.
        ///
        /// Another image ends it: the mode is ``fit`` then.
        case factor(CGFloat)
    }

    /// How large the image is shown; another mode leaves the middle of the view where it is.
    public var mode: Mode {
        get { geometry.mode }
        set { setMode(newValue, around: middle) }
    }

    /// Pixels of the screen for a pixel of the original, on each axis; 1 without an image or a size of the view.
    ///
    /// What is set is limited by ``zoomLimits``, and becomes a ``Mode/factor(_:)`` around the middle of the view.
    public var zoom: CGFloat {
        get { geometry.zoom }
        set { setMode(.factor(newValue), around: middle) }
    }

    /// The least and the largest ``zoom`` that can be chosen; 0.05 to 16 unless set.
    ///
    /// It is never less than what makes all of the image visible, unless that would enlarge the image. Does not limit
    /// ``Mode/fit``, ``Mode/fill`` and ``Mode/actualSize``.
    public var zoomLimits: ClosedRange<CGFloat> {
        get { stored.limits }
        set { change { $0.limits = newValue } }
    }

    /// Called when ``zoom`` has changed, also by another image or another size of the view.
    public var onZoom: (@MainActor () -> Void)?

    /// The size of the original in pixels, turned as it is displayed; zero without an image.
    public var originalSize: CGSize {
        guard let image, image.cgImage != nil else { return .zero }
        let size = image.metadata.reducedFrom ?? image.displayedPixels
        return CGSize(width: size.width, height: size.height)
    }

    /// A view without an image.
    public override init() {
        super.init()
        needsPrescaling = false
    }

    isolated deinit { link?.invalidate() }

    // MARK: What is shown

    private var stored = ZoomGeometry()
    private var reportedZoom: CGFloat = 1
    private var isGrowing = false
    private var link: (any DisplayLinkCompatible)?

    /// The image, the view and what is seen, as all of it is now.
    package var geometry: ZoomGeometry {
        var geometry = stored
        geometry.image = originalSize
        (geometry.view, geometry.scale) = (bounds.size, contentScaleFactor)
        return geometry
    }

    /// The image that is shown; nil for none.
    public override var image: KFCrossPlatformImage? {
        didSet {
            defer { isGrowing = false }
            guard image !== oldValue else { return }
            if !isGrowing {
                endMovement()
                stored.image = .zero
                if case .factor = stored.mode { stored.mode = .fit }
            }
            stored.image = originalSize
            report()
        }
    }

    override func imageWillGrow() { isGrowing = true }

    package override func layoutDidChange() {
        super.layoutDidChange()
        report()
    }

    override func rendererDidChange() {
        super.rendererDidChange()
        endMovement()
    }

    /// Called when the view leaves the screen: the image does not move any more.
    public override func didDisappear() {
        super.didDisappear()
        endMovement()
    }

    private var middle: CGPoint { CGPoint(x: bounds.width / 2, y: bounds.height / 2) }

    private func change(_ change: (inout ZoomGeometry) -> Void) {
        var geometry = geometry
        change(&geometry)
        guard geometry != self.geometry else { return }
        stored = geometry
        renderer?.contentDidChange()
        onLayout?()
        report()
    }

    private func report() {
        guard zoom != reportedZoom else { return }
        reportedZoom = zoom
        onZoom?()
    }

    // MARK: The size of what is loaded

    override var sizesImages: Bool { true }

    override var contentModeOfImages: KFCrossPlatformContentMode? {
        mode == .fill ? .scaleAspectFill : .scaleAspectFit
    }

    override var isLaidOut: Bool { bounds.width > 0 && bounds.height > 0 }

    override package func imageSize(instead present: KFCrossPlatformImage?) -> ViewImageSize? {
        guard present != nil else { return super.imageSize(instead: nil) }
        return ViewImageSize(geometry.decodedSize)
    }

    override func isLarger(than image: KFCrossPlatformImage) -> Bool {
        let geometry = geometry
        guard image.metadata.reducedFrom != nil, !geometry.isEmpty else { return false }
        let needed = geometry.image.width * min(1, geometry.zoom)
        return CGFloat(image.pixelWidth) + 0.5 < needed
    }

    override func sized(
        _ options: KingfisherParsedOptionsInfo,
        of source: Source,
        for size: ViewImageSize,
        instead present: KFCrossPlatformImage?
    ) -> KingfisherParsedOptionsInfo {
        guard options.processor.identifier.isEmpty else { return options }
        var options = options
        let decoding = ZoomDecoding(size: size)
        options.processor = decoding
        if options.cacheSerializer is DefaultCacheSerializer { options.cacheSerializer = decoding }
        options.cacheOriginalImage = source.localFile == nil && !options.cacheMemoryOnly
        // What was zoomed is large, and is seldom zoomed to the same size again.
        options.storeCacheLayers.formIntersection(present == nil ? .memory : [])
        return options
    }
}

// MARK: Zooming and moving

extension ZoomView {
    /// Zooms; what is at a point stays there, if the edges of the image allow it.
    ///
    /// - Parameters:
    ///   - factor: Pixels of the screen for a pixel of the original, on each axis; see ``zoomLimits``.
    ///   - point: The point in the view, in points; nil for its middle.
    public func zoom(to factor: CGFloat, around point: CGPoint? = nil) {
        setMode(.factor(factor), around: point ?? middle)
    }

    /// Changes how large the image is shown; what is at a point stays there, if the edges of the image allow it.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - point: The point in the view, in points.
    public func setMode(_ mode: Mode, around point: CGPoint) {
        endMovement()
        change { $0.setMode(mode, around: point) }
    }

    /// Shows the image in its own size, or all of it when that is not what is shown.
    ///
    /// - Parameter point: The point in the view that stays where it is, in points.
    public func toggleActualSize(at point: CGPoint) {
        setMode(mode == .fit ? .actualSize : .fit, around: point)
    }

    /// Moves the image as far as its edges allow.
    ///
    /// - Parameter distance: How far to the right and down, in points.
    /// - Returns: Whether it was moved.
    @discardableResult
    public func pan(by distance: CGSize) -> Bool {
        endMovement()
        return move(by: distance) != .zero
    }

    private func move(by distance: CGSize) -> CGSize {
        var moved = CGSize.zero
        change { moved = $0.pan(by: distance) }
        return moved
    }

    /// Lets the image go on moving, slower and slower; not if the user of the desktop does not want animations.
    ///
    /// - Parameter velocity: Points a second.
    package func fling(velocity: CGSize) {
        endMovement()
        var inertia = ZoomInertia(velocity: velocity)
        guard !inertia.isAtRest, isOnScreen, renderer?.showsMotion ?? true else { return }
        let link = makeDisplayLink()
        link.onTick = { [weak self, weak link] in
            guard let self, let link else { return }
            let wanted = inertia.advance(by: link.duration)
            inertia.stop(wanted: wanted, moved: move(by: wanted))
            if inertia.isAtRest { endMovement() }
        }
        self.link = link
        link.isPaused = false
    }

    /// Ends a movement that goes on by itself.
    package func endMovement() {
        link?.invalidate()
        link = nil
    }
}
