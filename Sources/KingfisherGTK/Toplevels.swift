// The windows that GTK has open. For KFWindow, and for views whose loads end when their window is closed.

#if canImport(CKFGTK4)
import CKFGTK4

/// GTK's list of windows, visible or not: one that is destroyed leaves it, before anything in it is unrealized.
///
/// GTK has no signal for widgets whose window is closed. So a widget that is unrealized in a window that is not in the
/// list is in a closed one, and any other is on its way to another container.
@MainActor
enum Toplevels {
    /// The `GListModel *`; nil before GTK is initialized.
    static var list: OpaquePointer? { gtk_window_get_toplevels() }

    /// Whether one of the windows is such.
    static func contains(where isMeant: (UnsafeMutableRawPointer) -> Bool) -> Bool {
        guard let list else { return false }
        return (0..<g_list_model_get_n_items(list)).contains { index in
            guard let window = g_list_model_get_item(list, index) else { return false }
            defer { g_object_unref(window) }
            return isMeant(window)
        }
    }
}
#endif
