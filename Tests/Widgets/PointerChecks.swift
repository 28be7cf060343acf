// Checks of what programs use beside views: properties, signals with several arguments, names of widgets.

#if canImport(CKFGTK4)
import CKFGTK4
import KingfisherGTK

@MainActor
let pointerChecks: [Check] = [
    Check(name: "properties") { stage in
        let label = OpaquePointer(gtk_label_new("a text"))
        g_object_ref_sink(label.map { UnsafeMutableRawPointer($0) })
        defer { g_object_unref(label.map { UnsafeMutableRawPointer($0) }) }
        guard let label else { return }
        let properties = KFProperties(of: label)
        stage.expect(properties["label"] == "a text", "a text is read")
        properties["label"] = "another"
        stage.expect(String(cString: gtk_label_get_text(label)) == "another", "a text is written")
        properties["wrap"] = true
        stage.expect(gtk_label_get_wrap(label) != 0 && properties["wrap"] == true, "true and false")
        properties["width-chars"] = 12
        stage.expect(gtk_label_get_width_chars(label) == 12 && properties["width-chars"] == 12, "whole numbers")
        properties["xalign"] = 0.25
        stage.expect(gtk_label_get_xalign(label) == 0.25 && properties["xalign"] == 0.25, "numbers with a fraction")
        gtk_label_set_ellipsize(label, PANGO_ELLIPSIZE_END)
        stage.expect(properties["ellipsize"] == Int(PANGO_ELLIPSIZE_END.rawValue), "an enumeration is a number")
        gtk_widget_set_tooltip_text(KFGTK.cast(label, to: GtkWidget.self), nil)
        stage.expect(properties["tooltip-text"] == String?.none, "a text that is not there is nil")
    },
    Check(name: "signalArguments") { stage in
        guard let list = gtk_string_list_new(nil) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(list)) }
        var changes: [[UInt32]] = []
        let handler = KFGTK.handle("items-changed", of: list) { arguments in
            changes.append((0..<4).map { arguments.uint($0) })
            return false
        }
        gtk_string_list_append(list, "one")
        gtk_string_list_append(list, "two")
        gtk_string_list_remove(list, 0)
        stage.expect(changes == [[0, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 0]], "\(changes)")
        KFGTK.disconnect(handler, of: list)
        gtk_string_list_append(list, "three")
        stage.expect(changes.count == 3, "a block that is disconnected is not called")
    },
    Check(name: "signalResults") { stage in
        guard let window = gtk_window_new() else { return }
        gtk_widget_realize(window)
        var requests = 0
        KFGTK.handle("close-request", of: window) { _ in
            requests += 1
            return requests == 1
        }
        gtk_window_close(KFGTK.cast(window, to: GtkWindow.self))
        stage.expect(isOpen(window), "a signal that is handled goes no further")
        gtk_window_close(KFGTK.cast(window, to: GtkWindow.self))
        stage.expect(!isOpen(window), "one that is not goes on")
    },
    Check(name: "namesOfWidgets") { stage in
        guard let image = gtk_image_new() else { return }
        g_object_ref_sink(UnsafeMutableRawPointer(image))
        defer { g_object_unref(UnsafeMutableRawPointer(image)) }
        func isNamed() -> Bool {
            gtk_test_accessible_has_property(image.opaque, GTK_ACCESSIBLE_PROPERTY_LABEL) != 0
        }
        KFGTK.setAccessibleName("a cat", of: image)
        stage.expect(isNamed(), "the name is set")
        KFGTK.setAccessibleName(nil, of: image.opaque)
        stage.expect(!isNamed(), "the name is gone")
    },
]

/// Whether GTK has a window among those that are open; it may be gone.
@MainActor
private func isOpen(_ window: UnsafeMutablePointer<GtkWidget>) -> Bool {
    guard let windows = gtk_window_get_toplevels() else { return false }
    return (0..<g_list_model_get_n_items(windows)).contains { index in
        let other = g_list_model_get_item(windows, index)
        defer { g_object_unref(other) }
        return other == UnsafeMutableRawPointer(window)
    }
}
#endif
