// The GTK widget of a button: two images that follow its state.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher

/// The widget of a button: a `GtkButton`, or a `GtkToggleButton` for one that stays checked, with one image over
/// another.
@MainActor
final class ButtonRenderer: WidgetRenderer {
    private unowned let button: KFCrossPlatformButton
    private let front = kf_paintable_new()
    private let back = kf_paintable_new()
    private var frontTexture: Texture?
    private var backTexture: Texture?
    private let layers: OpaquePointer

    init(_ view: KFCrossPlatformButton) {
        button = view
        let stack: UnsafeMutablePointer<GtkWidget> = gtk_overlay_new()
        layers = OpaquePointer(stack)
        let widget: UnsafeMutablePointer<GtkWidget> =
            view.togglesSelection ? gtk_toggle_button_new() : gtk_button_new()
        super.init(view, widget: widget)
        for (index, paintable) in [back, front].enumerated() {
            let picture = gtk_picture_new_for_paintable(paintable)
            gtk_picture_set_content_fit(OpaquePointer(picture), GTK_CONTENT_FIT_FILL)
            if let picture { kf_set_accessible_hidden(picture, 1) }  // the button has the name
            if index == 0 {
                gtk_overlay_set_child(layers, picture)
            } else {
                gtk_overlay_add_overlay(layers, picture)
            }
            // The button is as large as the larger of both.
            if index == 1 { gtk_overlay_set_measure_overlay(layers, picture, 1) }
        }
        gtk_button_set_child(
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self),
            UnsafeMutableRawPointer(layers).assumingMemoryBound(to: GtkWidget.self)
        )
        let object = UnsafeMutableRawPointer(widget)
        KFGTK.connect("clicked", of: object) { [weak self] _ in self?.button.onPress?() }
        KFGTK.connect("state-flags-changed", of: object) { [weak self] _ in self?.stateDidChange() }
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(front))
        g_object_unref(UnsafeMutableRawPointer(back))
    }

    override var overlay: OpaquePointer? { layers }

    override func didMap() {
        for paintable in [front, back] { kf_paintable_set_drawing(paintable, widget) }
    }

    override func contentDidChange() {
        frontTexture = Texture.of(button.currentImage, reusing: frontTexture)
        backTexture = Texture.of(button.currentBackgroundImage, reusing: backTexture)
        kf_paintable_show(front, frontTexture?.drawable ?? KfImage(), KF_FIT_CONTAIN)
        kf_paintable_show(back, backTexture?.drawable ?? KfImage(), KF_FIT_FILL)
    }

    private func stateDidChange() {
        let flags = Int(gtk_widget_get_state_flags(widget).rawValue)
        let pairs: [(Int, KFCrossPlatformButton.ControlState)] = [
            (KF_STATE_ACTIVE, .highlighted), (KF_STATE_INSENSITIVE, .disabled), (KF_STATE_CHECKED, .selected),
            (KF_STATE_SELECTED, .selected), (KF_STATE_FOCUSED, .focused), (KF_STATE_PRELIGHT, .hovered),
        ]
        var state = KFCrossPlatformButton.ControlState.normal
        for (flag, part) in pairs where flags & flag != 0 { state.insert(part) }
        button.state = state
    }
}
#endif
