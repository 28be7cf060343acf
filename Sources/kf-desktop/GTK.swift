// Helpers for GTK's functions, as a binding would have them, and the style of the window.

import CKFDesktop
import CKFGTK4
import KingfisherGTK

/// A `GtkWidget *`.
typealias Widget = UnsafeMutablePointer<GtkWidget>

extension UnsafeMutablePointer<GtkWidget> {
    /// The pointer for functions of classes whose structure is not public.
    var opaque: OpaquePointer { OpaquePointer(self) }

    /// The pointer for functions of classes whose structure is public.
    func `as`<Class>(_: Class.Type) -> UnsafeMutablePointer<Class> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Class.self)
    }

    /// Sets the text that a screen reader reads aloud.
    @MainActor
    func setAccessibleName(_ name: String) {
        var (property, value) = (GTK_ACCESSIBLE_PROPERTY_LABEL, GValue())
        g_value_init(&value, GType(16 << 2))  // a string
        g_value_set_string(&value, name)
        gtk_accessible_update_property_value(opaque, 1, &property, &value)
        g_value_unset(&value)
    }

    /// A `GtkBox` of widgets.
    @MainActor
    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget] = []) -> Widget {
        let box: Widget = gtk_box_new(orientation, spacing)
        for child in children { gtk_box_append(box.as(GtkBox.self), child) }
        return box
    }

    /// A `GtkLabel` of a style.
    @MainActor
    static func label(_ style: String, text: String = "") -> Widget {
        let label: Widget = gtk_label_new(text)
        gtk_widget_add_css_class(label, style)
        return label
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
        .large { background: alpha(currentColor, 0.07); }
        .details { padding: 18px; }
        .name { font-size: 80%; opacity: 0.6; }
        .value { margin-bottom: 14px; }
        .statistics { padding: 8px 18px; border-top: 1px solid alpha(currentColor, 0.15); }
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
