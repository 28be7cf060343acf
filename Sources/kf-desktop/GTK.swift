// Helpers for GTK's functions, as a binding would have them, and the style of the window.

#if canImport(CKFGTK4)
import CKFDesktop
import CKFGTK4
import KingfisherGTK

/// A `GtkWidget *`.
typealias Widget = UnsafeMutablePointer<GtkWidget>

extension UnsafeMutablePointer<GtkWidget> {
    /// A `GtkBox` of widgets.
    @MainActor
    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget] = []) -> Widget {
        let box: Widget = gtk_box_new(orientation, spacing)
        for child in children { gtk_box_append(KFGTK.cast(box, to: GtkBox.self), child) }
        return box
    }

    /// A `GtkLabel` of a style.
    @MainActor
    static func label(_ style: String, text: String = "") -> Widget {
        let label: Widget = gtk_label_new(text)
        gtk_widget_add_css_class(label, style)
        return label
    }

    /// A `GtkButton` with a symbol, which activates an action.
    @MainActor
    static func button(icon: String, name: String, _ action: Action) -> Widget {
        let button: Widget = gtk_button_new_from_icon_name(icon)
        gtk_widget_set_tooltip_text(button, name)
        KFGTK.setAccessibleName(name, of: button)
        gtk_actionable_set_action_name(button.opaque, action.name)
        return button
    }

    /// The symbol of an image that could not be loaded.
    @MainActor
    static func failureSymbol() -> Widget {
        let symbol: Widget = gtk_image_new_from_icon_name("dialog-warning-symbolic")
        gtk_image_set_pixel_size(symbol.opaque, 48)
        gtk_widget_add_css_class(symbol, "failure-symbol")
        KFGTK.setAccessibleName("Not loaded", of: symbol)
        return symbol
    }

    /// A `GtkOverlay` with a widget in the middle of another, which the pointer reaches.
    @MainActor
    static func overlay(_ middle: Widget, on widget: Widget) -> Widget {
        let overlay: Widget = gtk_overlay_new()
        gtk_overlay_set_child(overlay.opaque, widget)
        gtk_overlay_add_overlay(overlay.opaque, middle)
        gtk_widget_set_halign(middle, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(middle, GTK_ALIGN_CENTER)
        gtk_widget_set_can_target(middle, 0)
        return overlay
    }
}

/// The style sheet of the window.
@MainActor
enum Style {
    private static let text = """
        gridview > child box { margin: 0; border-spacing: 0; }
        gridview { padding: 10px; background: none; }
        gridview > child { padding: 8px; border-radius: 12px; }
        .cell-image { border-radius: 10px; background: alpha(currentColor, 0.07); }
        .caption-title { font-size: 90%; }
        .origin { font-size: 75%; font-weight: bold; padding: 1px 7px; border-radius: 99px; color: #ffffff; }
        .network { background: #b5651d; }
        .file { background: #7a5c99; }
        .disk { background: #2f6ea5; }
        .memory { background: #2f8f5b; }
        .try-again { font-size: 75%; padding: 0 8px; min-height: 0; }
        .offline, .failed { background: #8a8a8a; }
        .failure-symbol { color: #e0454d; }
        .failure { padding: 18px; border-spacing: 12px; border-radius: 12px; background: alpha(@theme_bg_color, 0.9); }
        .large { background: alpha(currentColor, 0.07); }
        .name { font-size: 80%; opacity: 0.6; }
        .actions { padding: 6px; border-spacing: 4px; }
        .statistics { padding: 6px; border-top: 1px solid alpha(currentColor, 0.15); }
        .menu { border-spacing: 6px; }
        .figure { font-size: 130%; font-weight: bold; }
        """

    /// Sets the style of all windows.
    static func apply() {
        guard let provider = gtk_css_provider_new() else { return }
        kf_css_load(provider, text)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(),
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
        g_object_unref(provider)
    }
}
#endif
