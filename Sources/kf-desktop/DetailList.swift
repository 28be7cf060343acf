// What is known about the image that is shown alone. For DetailView.

#if canImport(CKFGTK4)
import CKFGTK4
import KingfisherGTK

/// A `GtkBox` of names and values.
@MainActor
final class DetailList {
    let widget = Widget.box(GTK_ORIENTATION_VERTICAL)
    private let rows: [(box: Widget, name: String, value: Widget)]

    init() {
        rows = ["Source", "Size", "Format", "Frames", "Came from", "Took"].map { name in
            let (label, value) = (Widget.label("name", text: name), Widget.label("value"))
            return (Widget.box(GTK_ORIENTATION_VERTICAL, [label, value]), name, value)
        }
        gtk_widget_set_hexpand(widget, 0)  // although the values in it take what room there is
        for row in rows {
            gtk_box_append(KFGTK.cast(widget, to: GtkBox.self), row.box)
            for label in [gtk_widget_get_first_child(row.box), row.value].compactMap(\.self) {
                gtk_label_set_xalign(label.opaque, 0)
                gtk_label_set_width_chars(label.opaque, 10)  // those of the names stand below each other
            }
            gtk_widget_set_hexpand(row.value, 1)
            gtk_label_set_wrap(row.value.opaque, 1)
            gtk_label_set_wrap_mode(row.value.opaque, PANGO_WRAP_WORD_CHAR)
            gtk_label_set_selectable(row.value.opaque, 1)
        }
        layOut()
    }

    /// Whether the list is wide and low: the values are beside their names instead of below.
    var isNarrow = false { didSet { layOut() } }

    /// Shows values by their names; a dash for those that are not there.
    func show(_ known: [String: String]) {
        for row in rows { gtk_label_set_text(row.value.opaque, known[row.name] ?? "–") }
    }

    // Margins of the widgets, not of the style sheet: when a style changes, GTK 4.18 keeps heights it has measured
    // before.
    private func layOut() {
        let orientation = isNarrow ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL
        for row in rows {
            gtk_orientable_set_orientation(row.box.opaque, orientation)
            gtk_widget_set_margin_bottom(row.value, isNarrow ? 2 : 14)
        }
        gtk_widget_set_size_request(widget, isNarrow ? -1 : 260, -1)
        let (above, beside): (Int32, Int32) = isNarrow ? (6, 12) : (18, 18)
        gtk_widget_set_margin_top(widget, above)
        gtk_widget_set_margin_bottom(widget, above)
        gtk_widget_set_margin_start(widget, beside)
        gtk_widget_set_margin_end(widget, beside)
    }
}
#endif
