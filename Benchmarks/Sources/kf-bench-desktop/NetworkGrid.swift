// A grid of images of a server, made by an ImageListFactory, or by a factory as a program would write it without one.

import CBaselineGTK
import Foundation
import Kingfisher
import KingfisherGTK

/// How the grid is filled.
enum Filling: String {
    /// By an `ImageListFactory`.
    case factory
    /// By `setImage` in "bind", and `cancelDownloadTask` in "unbind".
    case plain
}

/// A window with a grid of images of a server, which has one at each number.
@MainActor
final class NetworkGrid {
    private let window: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
    private let scrolled: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
    private let folder: URL
    private var views: [OpaquePointer: KFCrossPlatformImageView] = [:]
    /// All views, by their widgets.
    private var known: [KFCrossPlatformImageView] = []
    let cache: ImageCache

    /// - Parameters:
    ///   - server: The URL below which the images are.
    ///   - count: How many.
    ///   - filling: How.
    ///   - size: The size of an image in the grid, in points.
    ///   - columns: How many columns.
    /// - Throws: An error of the file system when there can be no cache.
    init(of server: URL, count: Int, filling: Filling, size: (width: Int32, height: Int32), columns: guint) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kf-bench-\(UUID().uuidString)")
        cache = try ImageCache(name: "grid", cacheDirectoryURL: folder)
        let options: KingfisherOptionsInfo = [
            .targetCache(cache), .downloader(ImageDownloader(name: "grid")), .sizedToView,
        ]
        let list = gtk_string_list_new(nil)
        for _ in 0..<count { gtk_string_list_append(list, "") }
        let view: UnsafeMutablePointer<GtkWidget> = gtk_grid_view_new(gtk_no_selection_new(list), nil)
        gtk_grid_view_set_min_columns(OpaquePointer(view), columns)
        gtk_grid_view_set_max_columns(OpaquePointer(view), columns)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), view)
        gtk_window_set_default_size(cast(window), Int32(columns) * (size.width + 20), 500)
        gtk_window_set_child(cast(window), scrolled)
        let urls = (0..<count).map { server.appendingPathComponent("\($0)") }
        func makeView() -> KFCrossPlatformImageView {
            let view = KFCrossPlatformImageView()
            view.contentMode = .scaleAspectFill
            gtk_widget_set_size_request(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), size.width, size.height)
            known.append(view)
            return view
        }
        switch filling {
        case .factory:
            let factory = ImageListFactory(options: options, view: makeView) {
                $0 < count ? urls[$0].convertToSource() : nil
            }
            gtk_grid_view_set_factory(OpaquePointer(view), factory.pointer)
        case .plain:
            let factory: OpaquePointer = gtk_signal_list_item_factory_new()
            connect(UnsafeMutableRawPointer(factory), makeView) { $0.kf.setImage(with: urls[$1], options: options) }
            gtk_grid_view_set_factory(OpaquePointer(view), factory)
        }
    }

    private func connect(
        _ factory: UnsafeMutableRawPointer,
        _ makeView: @escaping @MainActor () -> KFCrossPlatformImageView,
        _ load: @escaping @MainActor (KFCrossPlatformImageView, Int) -> Void
    ) {
        connectSignal("setup", of: factory) { argument in
            guard let item = OpaquePointer(bitPattern: argument) else { return }
            let view = makeView()
            self.views[item] = view
            gtk_list_item_set_child(item, view.rawWidget.assumingMemoryBound(to: GtkWidget.self))
        }
        connectSignal("bind", of: factory) { argument in
            guard let item = OpaquePointer(bitPattern: argument), let view = self.views[item] else { return }
            load(view, Int(gtk_list_item_get_position(item)))
        }
        connectSignal("unbind", of: factory) { argument in
            guard let item = OpaquePointer(bitPattern: argument), let view = self.views[item] else { return }
            view.kf.cancelDownloadTask()
            view.image = nil
        }
    }

    func present() { gtk_window_present(cast(window)) }

    /// Removes what was stored.
    func removeFiles() { try? FileManager.default.removeItem(at: folder) }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment> {
        gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
    }

    /// Whether the end is reached.
    var isAtEnd: Bool {
        gtk_adjustment_get_value(adjustment) + gtk_adjustment_get_page_size(adjustment)
            >= gtk_adjustment_get_upper(adjustment) - 1
    }

    /// Scrolls down, or up.
    func scroll(by points: Double) {
        gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + points)
    }

    /// How many cells can be seen, and how many of these show no image.
    var visible: (all: Int, blank: Int) {
        var result = (all: 0, blank: 0)
        let (width, height) = (Float(gtk_widget_get_width(scrolled)), Float(gtk_widget_get_height(scrolled)))
        for view in known where view.isOnScreen {
            var place = graphene_rect_t()
            let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
            guard gtk_widget_compute_bounds(widget, scrolled, &place) != 0 else { continue }
            let isInView = place.origin.y < height && place.origin.y + place.size.height > 0
            guard isInView, place.origin.x < width else { continue }
            result.all += 1
            if view.image == nil { result.blank += 1 }
        }
        return result
    }

    /// Calls a block when a frame has been drawn.
    func onFrame(_ block: @escaping @MainActor () -> Void) {
        guard let clock = gtk_widget_get_frame_clock(window) else { return }
        connectSignal("after-paint", of: UnsafeMutableRawPointer(clock)) { _ in block() }
    }

    /// Waits for the next frame.
    func nextFrame() async { await Frames.next(of: window) }
}

/// What a scrolled grid costs, and what is seen of it.
@MainActor
final class ScrollLog {
    private var frames: [Double] = []
    private var (all, blank) = (0, 0)
    private var last = threadSeconds()
    var isOn = false

    /// A frame has been drawn.
    func add(_ visible: @autoclosure () -> (all: Int, blank: Int)) {
        if isOn {
            frames.append(threadSeconds() - last)
            let now = visible()
            all += now.all
            blank += now.blank
        }
        last = threadSeconds()
    }

    /// The part of the visible cells that was blank.
    var blankPart: Double { all == 0 ? 1 : Double(blank) / Double(all) }

    /// The seconds of the main thread a frame, of which 99 of 100 frames take less.
    var cost: Double { frames.isEmpty ? 1 : frames.sorted()[frames.count * 99 / 100] }

    /// The median of the same.
    var usualCost: Double { frames.isEmpty ? 1 : frames.sorted()[frames.count / 2] }
}

/// The processor time of this thread.
func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
