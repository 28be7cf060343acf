// What a widget is in: whether it can be seen there, for clocks, which stop where nothing is seen, and for lists, which
// load what is; and the cell of a list, for the names that screen readers read.

#if canImport(CKFGTK4)
import CKFGTK4

extension UnsafeMutablePointer<GtkWidget> {
    /// Whether some of the widget is inside everything around it that cuts off what is outside, as scrolled windows do.
    ///
    /// A widget without a width or a height counts where it is.
    @MainActor
    var isInView: Bool {
        var ancestor = gtk_widget_get_parent(self)
        while let around = ancestor {
            ancestor = gtk_widget_get_parent(around)
            guard ancestor == nil || gtk_widget_get_overflow(around) == GTK_OVERFLOW_HIDDEN else { continue }
            var rect = graphene_rect_t()
            guard gtk_widget_compute_bounds(self, around, &rect) != 0 else { return true }
            let (left, width) = (rect.origin.x, rect.size.width)
            let (top, height) = (rect.origin.y, rect.size.height)
            guard left < Float(gtk_widget_get_width(around)), top < Float(gtk_widget_get_height(around)) else {
                return false
            }
            guard left + width > 0 || width == 0 && left == 0, top + height > 0 || height == 0 && top == 0 else {
                return false
            }
        }
        return true
    }

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
#endif
