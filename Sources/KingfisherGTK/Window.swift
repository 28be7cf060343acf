// A window for small programs, and what its closing means.

import CKFGTK4
public import Foundation
public import Kingfisher

/// A window with one view in it, for small programs. (Not in Kingfisher.)
///
/// A window and its object keep each other until the window is closed: a program needs no variable for it.
@MainActor
public final class KFWindow {
    /// The `GtkWindow *`; the object keeps it, also when it is closed.
    public let widget: OpaquePointer

    /// Called once, when the user or ``close()`` closes the window.
    ///
    /// Nil ends ``KFMainLoop/run()`` if no other window of the program is shown.
    public var onClose: (@MainActor () -> Void)?

    private var closeHandler: UInt?

    private var window: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
    }

    /// A window that is not shown yet.
    ///
    /// - Parameters:
    ///   - title: Its title.
    ///   - content: The view in it.
    ///   - size: Its size in points.
    public init(title: String, content: KFCrossPlatformView, size: CGSize = CGSize(width: 640, height: 480)) {
        widget = OpaquePointer(gtk_window_new())
        g_object_ref(UnsafeMutableRawPointer(widget))
        gtk_window_set_title(window, title)
        gtk_window_set_default_size(window, Int32(clamping: size.width), Int32(clamping: size.height))
        gtk_window_set_child(window, content.rawWidget.assumingMemoryBound(to: GtkWidget.self))
        // The handler keeps the object until the window is closed.
        closeHandler = connectSignal("close-request", of: UnsafeMutableRawPointer(widget)) { _ in self.didClose() }
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

    /// Shows the window.
    public func present() { gtk_window_present(window) }

    /// Closes the window and releases what is in it; does nothing once it is closed.
    public func close() {
        gtk_window_destroy(window)
        didClose()
    }

    private func didClose() {
        guard let handler = closeHandler else { return }
        closeHandler = nil
        // The handler may have been the object's last owner.
        withExtendedLifetime(self) {
            g_signal_handler_disconnect(UnsafeMutableRawPointer(widget), gulong(handler))
            if let onClose { onClose() } else if !isAnotherShown { KFMainLoop.quit() }
        }
    }

    /// Whether GTK shows a window beside this one.
    private var isAnotherShown: Bool {
        guard let windows = gtk_window_get_toplevels() else { return false }
        return (0..<g_list_model_get_n_items(windows)).contains { index in
            guard let other = g_list_model_get_item(windows, index) else { return false }
            defer { g_object_unref(other) }
            let isVisible = gtk_widget_get_visible(other.assumingMemoryBound(to: GtkWidget.self)) != 0
            return isVisible && other != UnsafeMutableRawPointer(widget)
        }
    }
}
