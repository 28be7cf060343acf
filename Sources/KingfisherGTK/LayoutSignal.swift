// Tells when a window has been laid out. For lists and display links, which look then what can be seen.

#if canImport(CKFGTK4)
import CKFGTK4

/// Calls a block after each layout of the window that a widget is in, before the window is drawn.
///
/// What the block changes is laid out and drawn in the same frame.
@MainActor
final class LayoutSignal {
    var onLayout: (@MainActor () -> Void)?
    /// The `GdkFrameClock *` of the window, which is kept, and the handler of its signal.
    private var connection: (clock: OpaquePointer, handler: UInt)?

    isolated deinit { disconnect() }

    /// Follows the window that a widget is in, instead of the one before.
    func watch(_ widget: UnsafeMutablePointer<GtkWidget>) {
        guard let clock = gtk_widget_get_frame_clock(widget), clock != connection?.clock else { return }
        disconnect()
        let object = UnsafeMutableRawPointer(clock)
        g_object_ref(object)
        // GTK's own handler lays the window out.
        let handler = KFGTK.connect("layout", of: object, afterOthers: true) { [weak self] _ in self?.onLayout?() }
        connection = (clock, handler)
        // The widget may have come during a layout.
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_LAYOUT)
    }

    private func disconnect() {
        guard let (clock, handler) = connection else { return }
        connection = nil
        KFGTK.disconnect(handler, of: clock)
        g_object_unref(UnsafeMutableRawPointer(clock))
    }
}
#endif
