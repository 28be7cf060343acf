// The names that programs use: widgets of views, views of widgets, a window.

import CKFGTK4
public import Foundation
public import Kingfisher

/// An image view; its ``Kingfisher/KFCrossPlatformView/widget`` is a GTK widget.
public typealias ImageView = KFCrossPlatformImageView

/// A button with images; its ``Kingfisher/KFCrossPlatformView/widget`` is a `GtkButton`.
public typealias Button = KFCrossPlatformButton

extension KFCrossPlatformView {
    /// The GTK widget that shows the view, made when it is asked for first; the view owns it.
    ///
    /// It is a `GtkWidget *`, for bindings that import GTK's opaque types: put it into a container, which adds a
    /// reference of its own. As long as the widget is in a container, it keeps the view, too. After ``initialize()``
    /// only, and on the main thread.
    public var widget: OpaquePointer { OpaquePointer(WidgetRenderer.of(self).widget) }

    /// The same widget, for bindings with a pointer type of their own:
    /// `view.rawWidget.assumingMemoryBound(to: GtkWidget.self)`.
    public var rawWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(WidgetRenderer.of(self).widget) }
}

/// A view that shows a GTK widget of yours: as a placeholder, or in an indicator.
@MainActor
public final class WidgetView: KFCrossPlatformView, Placeholder {
    let wrapped: UnsafeMutablePointer<GtkWidget>

    /// A view of a widget.
    ///
    /// - Parameter widget: A `GtkWidget *`; a floating reference is taken.
    public init(_ widget: OpaquePointer) {
        wrapped = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWidget.self)
        super.init()
    }

    /// A view of a widget.
    ///
    /// - Parameter widget: A `GtkWidget *`; a floating reference is taken.
    public convenience init(_ widget: UnsafeMutableRawPointer) { self.init(OpaquePointer(widget)) }
}

/// A window with one view in it, for small programs; closing it ends ``MainLoop/run()``.
@MainActor
public final class Window {
    /// The `GtkWindow *`; the object keeps it, also when the user has closed it.
    public let widget: OpaquePointer

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
        connectSignal(UnsafeMutableRawPointer(widget), "close-request") { _ in MainLoop.quit() }
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

    /// Shows the window.
    public func present() { gtk_window_present(window) }

    /// Closes the window and releases what is in it; does nothing once it is closed.
    public func close() { gtk_window_destroy(window) }
}
