// The GTK widget of an image view: a paintable that follows the view's image and transition.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher

/// The widget of an image view: a `GtkOverlay` with a `GtkPicture` in it.
@MainActor
class ImageRenderer: WidgetRenderer {
    private unowned let imageView: KFCrossPlatformImageView
    let paintable: OpaquePointer = kf_paintable_new()
    private let picture: UnsafeMutablePointer<GtkWidget>
    /// The texture of the image that is shown, so that it is made once.
    private var shown: Texture?
    private var previous: Texture?
    private var motion: Motion?
    /// What is drawn instead of the pixels of an image that is larger than it is drawn.
    private var copy: DrawnCopy?
    /// Whether the widget has its size from the list that it is in.
    var isInList = false { didSet { showImage() } }
    /// The size of the widget, in points; nil when its image says it.
    var fixedSize: CGSize? {
        didSet {
            gtk_widget_set_size_request(
                widget,
                fixedSize.map { Int32(clamping: $0.width) } ?? -1,
                fixedSize.map { Int32(clamping: $0.height) } ?? -1
            )
            showImage()
        }
    }
    /// The `GtkDragSource *` of an image that may be dragged out; the widget owns it.
    var dragSource: OpaquePointer?

    init(_ view: KFCrossPlatformImageView) {
        imageView = view
        let overlay: UnsafeMutablePointer<GtkWidget> = gtk_overlay_new()
        picture = gtk_picture_new_for_paintable(paintable)
        super.init(view, widget: overlay)
        gtk_picture_set_content_fit(OpaquePointer(picture), GTK_CONTENT_FIT_FILL)  // the paintable fits the image
        gtk_overlay_set_child(OpaquePointer(overlay), picture)
        motion = Motion { [weak view] in view?.motionDidChange() }
        copy = DrawnCopy { [weak self] in self?.showImage() }
        KFGTK.connect("drawn", of: UnsafeMutableRawPointer(paintable)) { [weak self] _ in self?.didDraw() }
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(paintable)) }

    override var overlay: OpaquePointer? { OpaquePointer(widget) }

    override func didMap() { kf_paintable_set_drawing(paintable, widget) }

    // On the picture, which has the role of an image. Its alternative text would be the description, not the name.
    override func accessibilityDidChange() {
        kf_set_accessible_label(picture, imageView.accessibilityLabel)
        kf_set_accessible_hidden(widget, imageView.isDecorative ? 1 : 0)
        nameCell()
    }

    override func contentDidChange() {
        shown = Texture.of(imageView.shownImage, reusing: shown)
        showImage()
        guard let transition = imageView.transition else {
            if previous != nil || isInTransition {
                kf_paintable_set_transition(paintable, KfImage(), KF_TRANSITION_NONE, 1)
            }
            (previous, isInTransition) = (nil, false)
            return
        }
        isInTransition = true
        previous = Texture.of(transition.previous, reusing: previous)
        kf_paintable_set_transition(
            paintable,
            previous?.drawable ?? KfImage(),
            transition.kind.kind,
            transition.progress
        )
    }

    private var isInTransition = false

    // MARK: The size of the image

    /// How the image fills the widget.
    var fit: KfFit { imageView.contentMode.fit }

    /// The size of the image that the widget wants to have, in points.
    var naturalSize: CGSize { shown?.image.size ?? .zero }

    /// The size that all of the image is drawn in, in points; nil when that is about to change.
    var drawnSize: CGSize? { shown.map { imageView.contentMode.drawnSize(of: $0.image.size, in: bounds.size) } }

    /// Whether the widget wants the same size whatever the image.
    private var holdsSize: Bool {
        if isInList || fixedSize != nil || imageView.hasSizeForImages { return true }
        guard imageView.contentMode == .scaleAspectFill || imageView.contentMode == .scaleToFill else { return false }
        var (width, height): (Int32, Int32) = (0, 0)
        gtk_widget_get_size_request(widget, &width, &height)
        return width > 0 && height > 0
    }

    private func showImage() {
        kf_paintable_set_holds_size(paintable, holdsSize ? 1 : 0)
        guard let shown else { return kf_paintable_show(paintable, KfImage(), fit) }
        let reduced = drawnPixels(of: shown.image).flatMap { copy?.texture(of: shown.image, for: $0) }
        var drawable = (reduced ?? shown).drawable
        (drawable.width, drawable.height) = (naturalSize.width, naturalSize.height)
        kf_paintable_show(paintable, drawable, fit)
    }

    private func didDraw() {
        let isStill = imageView.image?.isAnimated == false && !isInTransition
        guard isStill, let image = shown?.image, image === imageView.image else {
            copy?.didDraw(nil, in: nil)
            return
        }
        copy?.didDraw(image, in: drawnPixels(of: image))
    }

    /// The size that all of an image is drawn in, in pixels, of the image as it is stored.
    private func drawnPixels(of image: KFCrossPlatformImage) -> PixelSize? {
        guard let size = drawnSize else { return nil }
        let (width, height) = (Int(clamping: size.width * scaleFactor), Int(clamping: size.height * scaleFactor))
        let displayed = PixelSize(width, height)
        return image.imageOrientation.isTransposing ? displayed.transposed : displayed
    }
}

extension Int {
    /// The nearest number of whole pixels; 0 for NaN.
    fileprivate init(clamping value: CGFloat) {
        self = value.isNaN ? 0 : Int(Swift.max(0, Swift.min(1e9, value.rounded())))
    }
}

extension KFCrossPlatformContentMode {
    var fit: KfFit {
        switch self {
        case .scaleToFill: KF_FIT_FILL
        case .scaleAspectFit: KF_FIT_CONTAIN
        case .scaleAspectFill: KF_FIT_COVER
        case .center: KF_FIT_SCALE_DOWN
        }
    }

    /// The size that an image is drawn in, as the paintable has it.
    fileprivate func drawnSize(of image: CGSize, in view: CGSize) -> CGSize {
        guard image.width > 0, image.height > 0 else { return .zero }
        let (across, down) = (view.width / image.width, view.height / image.height)
        let factor: CGFloat =
            switch self {
            case .scaleToFill: 0
            case .scaleAspectFit: min(across, down)
            case .scaleAspectFill: max(across, down)
            case .center: min(1, across, down)
            }
        guard factor > 0 else { return view }
        return CGSize(width: image.width * factor, height: image.height * factor)
    }
}

extension ImageTransition {
    fileprivate var kind: KfTransition {
        switch self {
        case .none, .custom: KF_TRANSITION_NONE
        case .fade: KF_TRANSITION_FADE
        case .flipFromLeft: KF_TRANSITION_FLIP_FROM_LEFT
        case .flipFromRight: KF_TRANSITION_FLIP_FROM_RIGHT
        case .flipFromTop: KF_TRANSITION_FLIP_FROM_TOP
        case .flipFromBottom: KF_TRANSITION_FLIP_FROM_BOTTOM
        }
    }
}
#endif
