// A window for small programs, and what its closing means; and the windows that GTK has open.

#if canImport(CKFGTK4)
import CKFGTK4
import Dispatch
public import Foundation
public import Kingfisher

/// A window with one view in it, for small programs. (Not in Kingfisher.)
///
/// From when it is shown until it is closed, a window keeps its object: a program needs no variable for it. A window
/// that is never shown goes with its object, in the main loop's next turn. It does not matter what closes a window: the
/// user, ``close()``, `gtk_window_destroy`, or the end of the window it belongs to. In each case what is in it is
/// released, and loads for it end.
@MainActor
public final class KFWindow {
    /// The `GtkWindow *`; the object keeps it, also when it is closed.
    public let widget: OpaquePointer

    /// Called once, when the window is closed, whatever has closed it; not when the object of one that was never shown
    /// goes.
    ///
    /// Nil ends ``KFMainLoop/run()`` if the window was shown, and no other window of the program is.
    public var onClose: (@MainActor () -> Void)?

    private enum State {
        case new
        /// The object keeps itself.
        case shown(KFWindow)
        case closed
    }

    private var state = State.new
    private var handler: UInt = 0

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
        KFGTK.connect("show", of: widget) { [weak self] _ in self?.didShow() }
        // GTK has no signal for a window that is destroyed while something has a reference of it.
        guard let windows = Toplevels.list else { return }
        handler = KFGTK.connect("items-changed", of: windows) { [weak self] _ in self?.closeIfDestroyed() }
    }

    isolated deinit {
        stopWatching()
        guard case .new = state else { return g_object_unref(UnsafeMutableRawPointer(widget)) }
        // Not at once: the object of `KFWindow(…).widget` is gone before the pointer is used.
        let address = UInt(bitPattern: widget)
        DispatchQueue.main.async {
            guard let window = UnsafeMutablePointer<GtkWindow>(bitPattern: address) else { return }
            if gtk_widget_get_visible(UnsafeMutablePointer<GtkWidget>(OpaquePointer(window))) == 0 {
                gtk_window_destroy(window)
            }
            g_object_unref(UnsafeMutableRawPointer(window))
        }
    }

    /// Shows the window; does nothing once it is closed.
    public func present() {
        if case .closed = state { return }
        gtk_window_present(window)
    }

    /// Closes the window and releases its content; does nothing once it is closed.
    public func close() {
        if case .closed = state { return }
        gtk_window_destroy(window)
    }

    private func didShow() {
        if case .new = state { state = .shown(self) }
    }

    private func closeIfDestroyed() {
        let own = UnsafeMutableRawPointer(widget)
        guard handler != 0, !Toplevels.contains(where: { $0 == own }) else { return }
        stopWatching()
        let wasShown = if case .shown = state { true } else { false }
        state = .closed
        if let onClose { onClose() } else if wasShown, !isAnotherShown { KFMainLoop.quit() }
        // GTK does this with the last reference, which the program may have.
        g_object_run_dispose(own.assumingMemoryBound(to: GObject.self))
    }

    private func stopWatching() {
        if let windows = Toplevels.list { KFGTK.disconnect(handler, of: windows) }
        handler = 0
    }

    /// Whether GTK shows a window beside this one.
    private var isAnotherShown: Bool {
        Toplevels.contains { gtk_widget_get_visible($0.assumingMemoryBound(to: GtkWidget.self)) != 0 }
    }
}

/// GTK's list of windows, visible or not: one that is destroyed leaves it, before anything in it is unrealized.
///
/// GTK has no signal for widgets whose window is closed. So a widget that is unrealized in a window that is not in the
/// list is in a closed one, and any other is on its way to another container.
@MainActor
enum Toplevels {
    /// The `GListModel *`; nil before GTK is initialized.
    static var list: OpaquePointer? { gtk_window_get_toplevels() }

    /// Whether one of the windows is such.
    static func contains(where isMeant: (UnsafeMutableRawPointer) -> Bool) -> Bool {
        guard let list else { return false }
        return (0..<g_list_model_get_n_items(list)).contains { index in
            guard let window = g_list_model_get_item(list, index) else { return false }
            defer { g_object_unref(window) }
            return isMeant(window)
        }
    }
}

#endif
