// The statistics of the cache at the bottom of the window.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFDemoSupport
import Kingfisher
import KingfisherGTK

/// The figures at the bottom of the window.
@MainActor
final class StatisticsPanel {
    /// A `GtkFlowBox`: several lines in a narrow window.
    let widget: Widget = gtk_flow_box_new()
    private let cache: ImageCache
    private let figures: [Widget]
    private var server: DemoServer?

    init(_ cache: ImageCache) {
        self.cache = cache
        let names = ["memory hits", "memory misses", "disk hits", "disk misses", "in memory", "on disk", "requests"]
        let columns = names.map { name in
            (figure: Widget.label("figure", text: "–"), name: Widget.label("name", text: name))
        }
        figures = columns.map(\.figure)
        for column in columns {
            let box = Widget.box(GTK_ORIENTATION_VERTICAL, [column.figure, column.name])
            gtk_flow_box_insert(widget.opaque, box, -1)
            gtk_widget_get_parent(box).map { gtk_widget_set_focusable($0, 0) }
        }
        gtk_flow_box_set_max_children_per_line(widget.opaque, guint(columns.count))
        gtk_flow_box_set_selection_mode(widget.opaque, GTK_SELECTION_NONE)
        gtk_flow_box_set_homogeneous(widget.opaque, 1)
        gtk_widget_add_css_class(widget, "statistics")
    }

    /// Keeps the figures up to date for as long as the window exists.
    ///
    /// - Parameter server: The server whose requests are counted.
    func refreshEverySecond(_ server: DemoServer?) {
        self.server = server
        // The files are counted once; from then on the statistics have their size.
        cache.calculateDiskStorageSize { _ in }
        Task { [weak self] in
            while let self {
                refresh()
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Writes the current figures.
    func refresh() {
        let (memory, disk) = (cache.statistics.memory, cache.statistics.disk)
        let values: [String] = [
            "\(memory.hits)", "\(memory.misses)", "\(disk.hits)", "\(disk.misses)",
            Self.size(memory.bytes), disk.bytes.map(Self.size) ?? "–", server.map { "\($0.requestCount)" } ?? "–",
        ]
        for (figure, value) in zip(figures, values) { gtk_label_set_text(figure.opaque, value) }
    }

    private static func size(_ bytes: Int) -> String { String(format: "%.1f MB", Double(bytes) / 1e6) }
}
#endif
