// The grid that scrolls: GTK makes as many cells as it needs and passes them from image to image.

#if canImport(CKFGTK4)
import CKFGTK4
import Kingfisher
import KingfisherGTK

/// A `GtkGridView` of images in a `GtkScrolledWindow`.
@MainActor
final class GridView {
    let widget: Widget = gtk_scrolled_window_new()
    private(set) var images: [GalleryImage] = []
    /// Called with the index of an image that is to be shown alone.
    var onOpen: (@MainActor (Int) -> Void)?

    private let loading: Loading
    private let grid: Widget = gtk_grid_view_new(nil, nil)
    private var factory: ImageListFactory<GridCell>?
    /// Whether any image was loaded, or has failed, since the images were replaced.
    private var hasBegun = false

    init(_ loading: Loading) {
        self.loading = loading
        gtk_grid_view_set_single_click_activate(grid.opaque, 1)
        KFGTK.setAccessibleName("Images", of: grid)
        gtk_scrolled_window_set_child(widget.opaque, grid)
        gtk_scrolled_window_set_policy(widget.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(widget, 1)
        let factory = makeFactory()
        gtk_grid_view_set_factory(grid.opaque, factory.pointer)
        self.factory = factory
        KFGTK.connect("activate", of: UnsafeMutableRawPointer(grid)) { [weak self] argument in
            self?.onOpen?(Int(UInt32(truncatingIfNeeded: argument)))
        }
    }

    /// Replaces the images that are shown.
    func show(_ images: [GalleryImage]) {
        self.images = images
        hasBegun = false
        // The list has the titles; a cell finds the rest by its index.
        let list: OpaquePointer = gtk_string_list_new(nil)
        for image in images { gtk_string_list_append(list, image.title) }
        let model: OpaquePointer = gtk_no_selection_new(list)
        gtk_grid_view_set_model(grid.opaque, model)
        g_object_unref(UnsafeMutableRawPointer(model))
    }

    /// Has as many columns as a window of some width has room for: cells are of about the same size in all of them.
    func fit(_ width: Int) { gtk_grid_view_set_max_columns(grid.opaque, guint(max(1, (width + 110) / 220))) }

    /// Gives the focus to the cell of an image; the grid is where it was, unless that cell is out of view.
    func focus(_ index: Int) {
        let position = g_variant_ref_sink(g_variant_new_uint32(guint32(index)))
        gtk_widget_activate_action_variant(grid, "list.scroll-to-item", position)
        g_variant_unref(position)
        guard let cell = factory?.view(at: index), let item = gtk_widget_get_parent(cell.box) else {
            return
        }
        gtk_widget_grab_focus(item)
    }

    /// Loads the images of all cells again, with the present settings.
    func reload() {
        factory?.options = loading.thumbnails()
        factory?.reload()
    }

    /// The image that the cell at an index shows; nil when there is no such cell.
    func image(at index: Int) -> KFCrossPlatformImage? { factory?.view(at: index)?.image }

    /// Whether all visible images are loaded, or have failed.
    var isComplete: Bool { hasBegun && factory?.isLoading == false }

    private func makeFactory() -> ImageListFactory<GridCell> {
        let factory = ImageListFactory<GridCell>(options: loading.thumbnails()) { [weak self] in
            let cell = GridCell()
            cell.onAgain = { self?.factory?.reload($0) }
            return cell
        } bind: { [weak self] cell, index in
            guard let self, images.indices.contains(index) else { return }
            cell.show(images[index], at: index)
        } source: { [weak self] index in
            guard let self, images.indices.contains(index) else { return nil }
            return images[index].source
        }
        factory.cell = { $0.box.opaque }
        factory.placeholder = { [weak self] index in
            guard let self, images.indices.contains(index) else { return nil }
            return images[index].placeholder
        }
        factory.onResult = { [weak self] cell, _, result in
            guard let self else { return }
            hasBegun = true
            cell.show(result, isOffline: loading.isOffline)
        }
        return factory
    }
}
#endif
