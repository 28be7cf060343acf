#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A grid of images that scrolls.
@MainActor func grid(of urls: [URL]) -> UnsafeMutablePointer<GtkWidget> {
    let cells = ImageListFactory<AnimatedImageView>(options: [.sizedToView], view: { AnimatedImageView() }) { view, i in
        (view.contentMode, view.fixedSize) = (.scaleAspectFill, CGSize(width: 200, height: 150))
        view.accessibilityLabel = urls[i].lastPathComponent
    } source: { i in
        urls.indices.contains(i) ? .network(urls[i]) : nil
    }
    let names: OpaquePointer = gtk_string_list_new(nil)
    for url in urls { gtk_string_list_append(names, url.lastPathComponent) }
    let grid: UnsafeMutablePointer<GtkWidget> = gtk_grid_view_new(gtk_no_selection_new(names), nil)
    gtk_grid_view_set_factory(OpaquePointer(grid), cells.pointer)
    let scrolled: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
    gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
    return scrolled
}
#else
// Without GTK 4 there is no grid.
#endif
