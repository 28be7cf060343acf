// The GTK widget of one view: how long each of them lives, where the view is, and what is shown over it. The base class
// of all renderers; WidgetRenderer+Choice.swift chooses among them.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher

/// The widget that shows a view.
///
/// The view owns its renderer, and the renderer its widget. As long as something else has a reference of the widget,
/// such as the container it is in, the widget keeps the view, too, so that loads and animations go on: a toggle
/// reference of GObject. When the last of both is released, both are gone.
@MainActor
class WidgetRenderer: ViewRenderer {
    let widget: UnsafeMutablePointer<GtkWidget>
    private unowned let view: KFCrossPlatformView
    /// The view's address, which the toggle reference is known by.
    private let address: UnsafeMutableRawPointer
    private static let toggle: @convention(c) (gpointer?, UnsafeMutablePointer<GObject>?, gboolean) -> Void = {
        view,
        _,
        isLast in
        guard let view else { return }
        let reference = Unmanaged<KFCrossPlatformView>.fromOpaque(view)
        if isLast != 0 { reference.release() } else { _ = reference.retain() }
    }

    /// The widget of a view.
    ///
    /// - Parameters:
    ///   - view: The view; the caller makes this its renderer.
    ///   - widget: The widget; a floating reference is taken.
    init(_ view: KFCrossPlatformView, widget: UnsafeMutablePointer<GtkWidget>) {
        (self.view, self.widget) = (view, widget)
        let object = UnsafeMutableRawPointer(widget)
        g_object_ref_sink(object)
        // Counts for the references that others have; the toggle releases it again if there are none.
        address = Unmanaged.passRetained(view).toOpaque()
        g_object_add_toggle_ref(object.assumingMemoryBound(to: GObject.self), Self.toggle, address)
        g_object_unref(object)
        connectVisibility()
    }

    isolated deinit {
        let object = UnsafeMutableRawPointer(widget)
        disconnect()
        g_object_remove_toggle_ref(object.assumingMemoryBound(to: GObject.self), Self.toggle, address)
    }

    // MARK: The content of the view

    /// The overlay that shows what is over the view; nil when nothing can be.
    var overlay: OpaquePointer? { nil }

    /// Whether the widget wants to be as large as what is over the view.
    var isAsLargeAsSubviews: Bool { false }

    func contentDidChange() {}

    func visibilityDidChange() { gtk_widget_set_visible(widget, view.isHidden ? 0 : 1) }

    func accessibilityDidChange() {
        kf_set_accessible_hidden(widget, view.isDecorative ? 1 : 0)
        nameCell()
        guard let label = view.accessibilityLabel else { return }
        kf_set_accessible_label(widget, label)
    }

    /// Gives the name of the view to the cell of a list or a grid that it is in: a screen reader reads that of the
    /// cell, which has the keyboard focus.
    final func nameCell() {
        let label = view.isDecorative ? nil : view.accessibilityLabel
        guard label != nil || namedCell != nil, let cell = widget.cell else { return }
        guard namedCell?.cell != cell || namedCell?.label != label else { return }
        kf_set_accessible_label(cell, label)
        namedCell = label.map { (cell, $0) }
    }

    /// The cell that has the view's name; to be compared only.
    private var namedCell: (cell: UnsafeMutablePointer<GtkWidget>, label: String)?

    func didAdd(_ subview: KFCrossPlatformView) {
        guard let overlay else { return }
        let child = Self.of(subview).widget
        Self.place(child, subview)
        gtk_overlay_add_overlay(overlay, child)
        gtk_overlay_set_measure_overlay(overlay, child, isAsLargeAsSubviews ? 1 : 0)
    }

    func didRemove(_ subview: KFCrossPlatformView) {
        guard let overlay, let child = (subview.renderer as? WidgetRenderer)?.widget else { return }
        gtk_overlay_remove_overlay(overlay, child)
    }

    /// In the middle, moved by the offset: a margin on one side moves the middle by half of it.
    private static func place(_ child: UnsafeMutablePointer<GtkWidget>, _ view: KFCrossPlatformView) {
        let alignment = view.sizeStrategy == .full ? GTK_ALIGN_FILL : GTK_ALIGN_CENTER
        gtk_widget_set_halign(child, alignment)
        gtk_widget_set_valign(child, alignment)
        if case .size(let size) = view.sizeStrategy {
            gtk_widget_set_size_request(child, Int32(clamping: size.width), Int32(clamping: size.height))
        }
        gtk_widget_set_can_target(child, 0)
        let offset = view.centerOffset
        gtk_widget_set_margin_start(child, Int32(clamping: 2 * max(0, offset.x)))
        gtk_widget_set_margin_end(child, Int32(clamping: 2 * max(0, -offset.x)))
        gtk_widget_set_margin_top(child, Int32(clamping: 2 * max(0, offset.y)))
        gtk_widget_set_margin_bottom(child, Int32(clamping: 2 * max(0, -offset.y)))
    }

    // MARK: The screen

    var bounds: CGRect {
        CGRect(x: 0, y: 0, width: Int(gtk_widget_get_width(widget)), height: Int(gtk_widget_get_height(widget)))
    }

    var scaleFactor: CGFloat { CGFloat(gtk_widget_get_scale_factor(widget)) }

    var showsMotion: Bool { Motion.isWanted }

    /// Follows the layout of the widget by that of one that is laid over it, draws nothing and has a signal for it.
    func watchLayout() {
        guard !watchesLayout, let overlay else { return }
        watchesLayout = true
        let area: UnsafeMutablePointer<GtkWidget> = gtk_drawing_area_new()
        gtk_widget_set_can_target(area, 0)
        gtk_overlay_add_overlay(overlay, area)
        KFGTK.connect("resize", of: UnsafeMutableRawPointer(area)) { [weak self] _ in self?.layoutDidChange() }
    }

    private func scaleDidChange() {
        if gtk_widget_get_mapped(widget) != 0 { didMap() }
        if watchesLayout { layoutDidChange() }
    }

    /// Later: an image that is set during a layout would want another.
    private func layoutDidChange() {
        CallbackQueue.mainAsync.execute { [weak view] in MainActor.assumeIsolated { view?.layoutDidChange() } }
    }

    private var watchesLayout = false

    func makeDisplayLink() -> any DisplayLinkCompatible { FrameClockLink(widget) }

    private func connectVisibility() {
        let object = UnsafeMutableRawPointer(widget)
        KFGTK.connect("map", of: object) { [weak self] _ in self?.visibilityOnScreenDidChange() }
        KFGTK.connect("unmap", of: object) { [weak self] _ in self?.visibilityOnScreenDidChange() }
        KFGTK.connect("unrealize", of: object) { [weak self] _ in self?.widgetWillUnrealize() }
        KFGTK.connect("notify::scale-factor", of: object) { [weak self] _ in self?.scaleDidChange() }
    }

    private func visibilityOnScreenDidChange() {
        let isMapped = gtk_widget_get_mapped(widget) != 0
        let root = gtk_widget_get_root(widget).map { UnsafeMutableRawPointer($0) }
        let window = root?.assumingMemoryBound(to: GtkWidget.self)
        if isMapped {
            didMap()
            nameCell()
            view.windowDidChange(isVisible: true)
            view.isOnScreen = true
        } else {
            view.isOnScreen = false
            if let window, gtk_widget_get_visible(window) == 0 { view.windowDidChange(isVisible: false) }
        }
    }

    /// The widget leaves its container, or its window is closed: GTK forgets a window before its widgets.
    private func widgetWillUnrealize() {
        guard let root = gtk_widget_get_root(widget) else { return }
        let window = UnsafeMutableRawPointer(root)
        guard g_type_check_instance_is_a(window.assumingMemoryBound(to: GTypeInstance.self), gtk_window_get_type()) != 0
        else { return }
        if !Toplevels.contains(where: { $0 == window }) { view.windowDidClose() }
    }

    /// Called when the widget comes onto a screen, or that has another scale.
    func didMap() {}

    /// To be overridden by what has to be undone before the widget goes.
    func disconnect() {}
}

extension Int32 {
    /// The nearest number of whole points; 0 for NaN.
    init(clamping value: CGFloat) {
        self = value.isNaN ? 0 : Int32(Swift.max(-32_768, Swift.min(32_767, value.rounded())))
    }
}
#endif
