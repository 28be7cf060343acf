// Writes the window into a PNG file, for `--screenshot`.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KingfisherGTK

/// An image of a window.
@MainActor
struct Screenshot {
    /// The path of the PNG file.
    let path: String

    /// The reason why there is no screenshot.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Writes the window when it is complete, or after half a minute.
    ///
    /// - Parameters:
    ///   - window: A window that is shown.
    ///   - isComplete: Whether everything is loaded.
    /// - Throws: ``Failure``.
    func write(_ window: KFWindow, when isComplete: @MainActor () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while !isComplete(), .now < end { try await Task.sleep(for: .milliseconds(100)) }
        // Images fade in, and the figures are updated every second.
        try await Task.sleep(for: .milliseconds(1500))
        guard let texture = texture(of: KFGTK.cast(window.widget, to: GtkWidget.self)) else {
            throw Failure(description: "The window cannot be drawn.")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        guard gdk_texture_save_to_png(texture, path) != 0 else {
            throw Failure(description: "\(path) cannot be written.")
        }
    }

    /// A texture of a widget as it looks, which the caller owns; nil when it is not on a screen.
    private func texture(of widget: Widget) -> OpaquePointer? {
        let (width, height) = (gtk_widget_get_width(widget), gtk_widget_get_height(widget))
        let scale = Float(gtk_widget_get_scale_factor(widget))
        guard let native = gtk_widget_get_native(widget), let renderer = gtk_native_get_renderer(native), width > 0,
            height > 0
        else { return nil }
        let (paintable, snapshot) = (gtk_widget_paintable_new(widget), gtk_snapshot_new())
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        gtk_snapshot_scale(snapshot, scale, scale)
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return nil }
        defer { gsk_render_node_unref(node) }
        var area = graphene_rect_t()
        area.size = graphene_size_t(width: Float(width) * scale, height: Float(height) * scale)
        return gsk_renderer_render_texture(renderer, node, &area)
    }
}
#endif
