// Widgets of views, views of widgets, and the size of a view that its image does not change. For programs.

#if canImport(CKFGTK4)
import CKFGTK4
public import Foundation
public import Kingfisher

extension KFCrossPlatformView {
    /// The GTK widget that shows the view, made when it is asked for first; the view owns it.
    ///
    /// It is a `GtkWidget *`, for bindings that import GTK's opaque types: put it into a container, which adds a
    /// reference of its own. As long as the widget is in a container, it keeps the view, too. After
    /// ``KFGTK/initialize()`` only, and on the main thread.
    public var widget: OpaquePointer { OpaquePointer(WidgetRenderer.of(self).widget) }

    /// The same widget, for C modules with a pointer type of their own, such as `CKFGTK4`:
    /// `KFGTK.cast(view.rawWidget, to: GtkWidget.self)`.
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

extension KFCrossPlatformImageView {
    /// The size of the view, in points (GTK's application pixels), whatever image it shows; nil, as at first, for that
    /// of its image. (Not in Kingfisher.)
    ///
    ///     view.fixedSize = CGSize(width: 64, height: 64)
    ///
    /// It is the minimum and the natural size of the widget, so that nothing around it moves when the image comes. As
    /// any widget, it is given more where it fills or expands: `gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)` and
    /// `valign` have it keep its size there.
    ///
    /// Other views hold their size by themselves: those of an ``ImageListFactory``, those whose image is loaded with
    /// the option `sizedToView`, and those that are filled (`scaleAspectFill`, `scaleToFill`) when
    /// `gtk_widget_set_size_request` has given their widget a width and a height. All others want to be as large as
    /// their image. After ``KFGTK/initialize()`` only, on the main thread.
    public var fixedSize: CGSize? {
        get { (renderer as? ImageRenderer)?.fixedSize }
        set { (WidgetRenderer.of(self) as? ImageRenderer)?.fixedSize = newValue }
    }
}

#endif
