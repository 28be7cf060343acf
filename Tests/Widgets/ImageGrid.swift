// A grid of images in a window, made by an image list factory. For the checks of lists.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

/// A `GtkGridView` of cells of 90 × 90 points, two in a row, in a scrolled window.
@MainActor
final class ImageGrid {
    /// The view around the scrolled window.
    let view: KFWidgetView
    let factory: ImageListFactory<KFCrossPlatformImageView>
    /// The sources of the items.
    var sources: [Source]
    /// The views of the cells that were made, and the indices that were bound.
    private(set) var views: [KFCrossPlatformImageView] = []
    private(set) var bound: [Int] = []
    /// Called with each of the views.
    var onMake: ((KFCrossPlatformImageView) -> Void)?
    /// The results of the loads, by index.
    private(set) var results: [Int: [Result<RetrieveImageResult, KingfisherError>]] = [:]
    /// The indices that were asked for beyond the end.
    private(set) var beyond = 0
    private let model: OpaquePointer = gtk_string_list_new(nil)
    private let adjustment: UnsafeMutablePointer<GtkAdjustment>

    init(_ sources: [Source], _ options: KingfisherOptionsInfo, cellSize: Int32 = 90, prefetching window: Int = 0) {
        self.sources = sources
        let scrolled: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
        view = KFWidgetView(UnsafeMutableRawPointer(scrolled))
        adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        let box = Weak()
        factory = ImageListFactory(
            options: options,
            view: { box.grid?.makeView(cellSize) ?? KFCrossPlatformImageView() },
            bind: { box.grid?.bound.append($1) },
            source: { box.grid?.source($0) }
        )
        box.grid = self
        factory.prefetchWindow = window
        factory.onResult = { box.grid?.results[$1, default: []].append($2) }
        for _ in sources { gtk_string_list_append(model, "") }
        let grid: UnsafeMutablePointer<GtkWidget> = gtk_grid_view_new(gtk_no_selection_new(model), nil)
        g_object_ref(UnsafeMutableRawPointer(model))
        gtk_grid_view_set_factory(OpaquePointer(grid), factory.pointer)
        gtk_grid_view_set_min_columns(OpaquePointer(grid), 2)
        gtk_grid_view_set_max_columns(OpaquePointer(grid), 2)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(model)) }

    /// What the factory's functions use: they must not keep the grid, which has the factory.
    private final class Weak { weak var grid: ImageGrid? }

    private func makeView(_ size: Int32) -> KFCrossPlatformImageView {
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        gtk_widget_set_size_request(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), size, size)
        views.append(view)
        onMake?(view)
        return view
    }

    private func source(_ index: Int) -> Source? {
        if !sources.indices.contains(index) { beyond += 1 }
        return sources.indices.contains(index) ? sources[index] : nil
    }

    /// Removes items from the end.
    func shorten(to count: Int) {
        let removed = sources.count - count
        sources.removeLast(removed)
        gtk_string_list_splice(model, guint(count), guint(removed), nil)
    }

    /// Scrolls to a place, from 0, the beginning, to 1.
    ///
    /// GTK 4.8 binds the cells of a place far away only when the next step has followed.
    func scroll(to place: Double, _ stage: Stage) async {
        let range = gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment)
        gtk_adjustment_set_value(adjustment, abs(place * range - 1))
        await stage.frames(of: view)
        gtk_adjustment_set_value(adjustment, place * range)
        await stage.frames(of: view)
    }

    /// Scrolls by some points.
    func scroll(by points: Double) {
        gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + points)
    }

    /// How many results of an item were images.
    func successes(_ index: Int) -> Int { results[index, default: []].count { (try? $0.get()) != nil } }
}
#endif
