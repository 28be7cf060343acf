// The grid that scrolls: GTK makes as many cells as it needs and passes them from image to image.

import CKFGTK
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
    /// The cells by list item, from "setup" to "teardown".
    private var cells: [OpaquePointer: GridCell] = [:]
    /// The cells by index, from "bind" to "unbind".
    private var bound: [Int: GridCell] = [:]
    private let grid: Widget

    init(_ loading: Loading) {
        self.loading = loading
        let factory: OpaquePointer = gtk_signal_list_item_factory_new()
        grid = gtk_grid_view_new(nil, factory)
        gtk_grid_view_set_max_columns(grid.opaque, 8)
        gtk_grid_view_set_single_click_activate(grid.opaque, 1)
        kf_set_accessible_label(grid, "Images")
        gtk_scrolled_window_set_child(widget.opaque, grid)
        gtk_scrolled_window_set_policy(widget.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(widget, 1)
        connect(UnsafeMutableRawPointer(factory))
    }

    /// Replaces the images that are shown.
    func show(_ images: [GalleryImage]) {
        self.images = images
        // The list has the titles; a cell finds the rest by its index.
        let list: OpaquePointer = gtk_string_list_new(nil)
        for image in images { gtk_string_list_append(list, image.title) }
        let model: OpaquePointer = gtk_no_selection_new(list)
        gtk_grid_view_set_model(grid.opaque, model)
        g_object_unref(UnsafeMutableRawPointer(model))
    }

    /// Gives the focus to the cell that had it last.
    func focus() { gtk_widget_grab_focus(grid) }

    /// Loads the images of all cells again.
    func reload() { for cell in bound.values { cell.reload() } }

    /// The image that the cell at an index shows; nil when there is no such cell.
    func image(at index: Int) -> KFCrossPlatformImage? { bound[index]?.view.image }

    /// Whether all visible images are loaded, or have failed.
    var isComplete: Bool { !bound.isEmpty && bound.values.allSatisfy { !$0.isLoading || !isInView($0) } }

    /// A cell that has no place yet counts as visible.
    private func isInView(_ cell: GridCell) -> Bool {
        var place = graphene_rect_t()
        guard gtk_widget_compute_bounds(cell.widget, widget, &place) != 0 else { return false }
        guard place.size.height > 0 else { return true }
        return place.origin.y < Float(gtk_widget_get_height(widget)) && place.origin.y + place.size.height > 0
    }

    private func connect(_ factory: UnsafeMutableRawPointer) {
        connectSignal("setup", of: factory) { [weak self] argument in
            guard let self, let item = OpaquePointer(bitPattern: argument) else { return }
            let cell = GridCell(loading)
            cells[item] = cell
            gtk_list_item_set_child(item, cell.widget)
        }
        connectSignal("bind", of: factory) { [weak self] argument in
            guard let self, let item = OpaquePointer(bitPattern: argument), let cell = cells[item] else { return }
            let index = Int(gtk_list_item_get_position(item))
            bound[index] = cell
            cell.show(images[index])
        }
        connectSignal("unbind", of: factory) { [weak self] argument in
            guard let self, let item = OpaquePointer(bitPattern: argument), let cell = cells[item] else { return }
            bound[Int(gtk_list_item_get_position(item))] = nil
            cell.clear()
        }
        connectSignal("teardown", of: factory) { [weak self] argument in
            guard let self, let item = OpaquePointer(bitPattern: argument) else { return }
            gtk_list_item_set_child(item, nil)
            cells[item] = nil
        }
        connectSignal("activate", of: UnsafeMutableRawPointer(grid)) { [weak self] argument in
            self?.onOpen?(Int(UInt32(truncatingIfNeeded: argument)))
        }
    }
}
