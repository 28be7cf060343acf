// Widgets of views, and views of widgets; both are for programs.

#if canImport(CKFGTK4)
import CKFGTK4
public import Kingfisher

extension KFCrossPlatformView {
    /// The GTK widget that shows the view, made when it is asked for first; the view owns it.
    ///
    /// It is a `GtkWidget *`, for bindings that import GTK's opaque types: put it into a container, which adds a
    /// reference of its own. As long as the widget is in a container, it keeps the view, too. After ``initialize()``
    /// only, and on the main thread.
    public var widget: OpaquePointer { OpaquePointer(WidgetRenderer.of(self).widget) }

    /// The same widget, for C modules with a pointer type of their own, such as `CKFGTK4`:
    /// `view.rawWidget.assumingMemoryBound(to: GtkWidget.self)`.
    public var rawWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(WidgetRenderer.of(self).widget) }
}

/// A view that shows a GTK widget of yours: as a placeholder, or in an indicator. (Not in Kingfisher.)
@MainActor
public final class KFWidgetView: KFCrossPlatformView, Placeholder {
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
#endif
