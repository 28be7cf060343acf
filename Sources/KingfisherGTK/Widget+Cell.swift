// The cell of a list or a grid that a widget is in. For the names that screen readers read.

import CKFGTK4

extension UnsafeMutablePointer<GtkWidget> {
    /// The nearest widget around this one that GTK presents as an item of a list or a cell of a grid; nil for none.
    @MainActor
    var cell: UnsafeMutablePointer<GtkWidget>? {
        let roles = [GTK_ACCESSIBLE_ROLE_LIST_ITEM, GTK_ACCESSIBLE_ROLE_GRID_CELL, GTK_ACCESSIBLE_ROLE_OPTION]
        var ancestor = gtk_widget_get_parent(self)
        while let around = ancestor {
            if roles.contains(gtk_accessible_get_accessible_role(OpaquePointer(around))) { return around }
            ancestor = gtk_widget_get_parent(around)
        }
        return nil
    }
}
