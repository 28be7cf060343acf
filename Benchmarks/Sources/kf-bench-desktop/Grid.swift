// A grid of images with recycled cells, scrolled by the program.

import CBaselineGTK
import Foundation
import Kingfisher
import KingfisherGTK

/// A window with a grid of images, each with another JPEG, loaded as it comes into view.
@MainActor
final class Grid {
    static let memoryLimit = 50_000_000

    private let window: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
    private let scrolled: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
    private let cells: Cells

    init(count: Int, isEmpty: Bool) throws {
        cells = try Cells(count: count, isEmpty: isEmpty)
        let names = (0..<count).map { strdup("\($0)") }
        let list = gtk_string_list_new(nil)
        for name in names { gtk_string_list_append(list, name) }
        let selection = gtk_no_selection_new(list)
        let factory: OpaquePointer = gtk_signal_list_item_factory_new()
        cells.connect(to: UnsafeMutableRawPointer(factory))
        let view: UnsafeMutablePointer<GtkWidget> = gtk_grid_view_new(selection, factory)
        gtk_grid_view_set_max_columns(OpaquePointer(view), 5)
        gtk_grid_view_set_min_columns(OpaquePointer(view), 5)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), view)
        gtk_window_set_default_size(cast(window), 700, 500)
        gtk_window_set_child(cast(window), scrolled)
    }

    func present() { gtk_window_present(cast(window)) }

    /// Removes all images.
    func clear() { cells.cache.clearMemoryCache() }

    /// Whether the end is reached.
    var isAtEnd: Bool {
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        return gtk_adjustment_get_value(adjustment) + gtk_adjustment_get_page_size(adjustment)
            >= gtk_adjustment_get_upper(adjustment) - 1
    }

    /// Scrolls on with every frame of the screen.
    func scroll(pointsPerFrame: Double, frames: Int) async {
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        for _ in 0..<frames {
            await Frames.next(of: window)
            gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + pointsPerFrame)
        }
    }
}

/// Waits for frames of a window.
@MainActor
enum Frames {
    static func next(of window: UnsafeMutablePointer<GtkWidget>) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let box = Unmanaged.passRetained(Waiter(continuation)).toOpaque()
            gtk_widget_add_tick_callback(
                window,
                { _, _, box in
                    if let box { Unmanaged<Waiter>.fromOpaque(box).takeRetainedValue().continuation.resume() }
                    return 0
                },
                box,
                nil
            )
        }
    }
}

private final class Waiter {
    let continuation: CheckedContinuation<Void, Never>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
}

func cast<Widget>(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<Widget> {
    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: Widget.self)
}

/// The cells: one view for each visible cell, with another image when it is recycled.
@MainActor
final class Cells {
    let cache: ImageCache
    private let count: Int
    private let isEmpty: Bool
    private let folder: URL
    private let data: [Data]

    init(count: Int, isEmpty: Bool) throws {
        (self.count, self.isEmpty) = (count, isEmpty)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kf-bench-\(UUID().uuidString)")
        cache = try ImageCache(name: "grid", cacheDirectoryURL: folder)
        cache.memoryStorage.config.totalCostLimit = Grid.memoryLimit
        data = (0..<16).compactMap { Self.image($0) }
    }

    private static func image(_ number: Int) -> Data? {
        let bitmap = Bitmap(width: 600, height: 450, hasAlpha: false) { pixels, bytesPerRow in
            for y in 0..<450 {
                for x in 0..<600 {
                    let value = UInt32((x * 255 / 600) << 16 | (y * 255 / 450) << 8 | (number * 16 + (x ^ y) & 15))
                    pixels.storeBytes(of: 0xFF00_0000 | value, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
        return Image(cgImage: bitmap).jpegData(compressionQuality: 0.85)
    }

    /// Connects making and filling cells to a factory of list items.
    func connect(to factory: UnsafeMutableRawPointer) {
        let setUp: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, item, cells in
            guard let item, let cells else { return }
            nonisolated(unsafe) let (cell, owner) = (item, cells)
            MainActor.assumeIsolated { Unmanaged<Cells>.fromOpaque(owner).takeUnretainedValue().setUp(cell) }
        }
        let bind: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, item, cells in
            guard let item, let cells else { return }
            nonisolated(unsafe) let (cell, owner) = (item, cells)
            MainActor.assumeIsolated { Unmanaged<Cells>.fromOpaque(owner).takeUnretainedValue().bind(cell) }
        }
        let this = Unmanaged.passUnretained(self).toOpaque()
        let none = GConnectFlags(rawValue: 0)
        g_signal_connect_data(factory, "setup", unsafeBitCast(setUp, to: GCallback.self), this, nil, none)
        g_signal_connect_data(factory, "bind", unsafeBitCast(bind, to: GCallback.self), this, nil, none)
    }

    private var views: [UnsafeMutableRawPointer: KFCrossPlatformImageView] = [:]

    private func setUp(_ item: OpaquePointer) {
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleAspectFill
        let widget = view.rawWidget
        views[widget] = view
        gtk_widget_set_size_request(widget.assumingMemoryBound(to: GtkWidget.self), 120, 90)
        gtk_list_item_set_child(item, widget.assumingMemoryBound(to: GtkWidget.self))
    }

    private func bind(_ item: OpaquePointer) {
        guard !isEmpty, let widget = gtk_list_item_get_child(item), let view = views[UnsafeMutableRawPointer(widget)]
        else { return }
        let number = Int(gtk_list_item_get_position(item))
        let provider = RawImageDataProvider(data: data[number % data.count], cacheKey: "\(number)")
        let processor = DownsamplingImageProcessor(size: CGSize(width: 140, height: 105))
        view.kf.setImage(
            with: provider,
            options: [.targetCache(cache), .processor(processor), .cacheMemoryOnly]
        )
    }
}
