// Whether a widget can be seen. For clocks, which stop where nothing is seen, and for lists, which load what is.

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
}
