// The grid of docs/gtk-lists.md, word for word. For a check of lists, and for the test that compares both.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A grid of images that scrolls.
@MainActor func grid(of urls: [URL]) -> UnsafeMutablePointer<GtkWidget> {
    let factory = ImageListFactory(options: [.sizedToView]) {
        let view = AnimatedImageView()
        view.contentMode = .scaleAspectFill
        gtk_widget_set_size_request(KFGTK.cast(view.rawWidget, to: GtkWidget.self), 200, 150)
        return view
    } bind: { view, index in
        view.accessibilityLabel = urls[index].lastPathComponent
    } source: { index in
        urls.indices.contains(index) ? .network(urls[index]) : nil
    }
    let names: OpaquePointer = gtk_string_list_new(nil)
    for url in urls { gtk_string_list_append(names, url.lastPathComponent) }
    let grid: UnsafeMutablePointer<GtkWidget> = gtk_grid_view_new(gtk_no_selection_new(names), nil)
    gtk_grid_view_set_factory(OpaquePointer(grid), factory.pointer)
    let scrolled: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
    gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
    return scrolled
}
#endif
