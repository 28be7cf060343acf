// The GTK widget of an image view: a paintable that follows the view's image and transition.

import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher

/// The widget of an image view: a `GtkOverlay` with a `GtkPicture` in it.
@MainActor
final class ImageRenderer: WidgetRenderer {
    private unowned let imageView: KFCrossPlatformImageView
    private let paintable = kf_paintable_new()
    private let picture: UnsafeMutablePointer<GtkWidget>
    /// The texture of the image that is shown, so that it is made once.
    private var shown: Texture?
    private var previous: Texture?
    private var motion: Motion?
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
        kf_paintable_show(paintable, shown?.drawable ?? KfImage(), imageView.contentMode.fit)
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
