// The GTK widgets of indicators.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher

/// The widget of a spinner: a `GtkSpinner` that spins while it is visible.
@MainActor
final class SpinnerRenderer: WidgetRenderer {
    private unowned let spinner: SpinnerView

    init(_ view: SpinnerView) {
        spinner = view
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_spinner_new()
        super.init(view, widget: widget)
        gtk_widget_set_size_request(widget, 24, 24)
        kf_set_accessible_label(widget, "Loading")
    }

    override func visibilityDidChange() {
        super.visibilityDidChange()
        gtk_spinner_set_spinning(OpaquePointer(widget), spinner.isHidden ? 0 : 1)
    }
}

/// The widget of a progress ring: drawn anew when it changes, and with every tick while the end is unknown.
@MainActor
final class RingRenderer: WidgetRenderer {
    private unowned let ring: ProgressRingView
    private var link: (any DisplayLinkCompatible)?
    private var turn = 0.0

    init(_ view: ProgressRingView) {
        ring = view
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_drawing_area_new()
        super.init(view, widget: widget)
        gtk_widget_set_size_request(widget, 32, 32)
        kf_set_accessible_label(widget, "Loading")
        let area = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkDrawingArea.self)
        let handler = DrawHandler { [weak self] cairo, width, height in self?.draw(cairo, width, height) }
        gtk_drawing_area_set_draw_func(
            area,
            { _, cairo, width, height, handler in
                guard let handler, let cairo else { return }
                // SAFETY: GTK draws on the main thread, and the block is called before this returns.
                nonisolated(unsafe) let context = cairo
                let draw = Unmanaged<DrawHandler>.fromOpaque(handler).takeUnretainedValue()
                MainActor.assumeIsolated { draw.block(context, width, height) }
            },
            Unmanaged.passRetained(handler).toOpaque(),
            { if let handler = $0 { Unmanaged<DrawHandler>.fromOpaque(handler).release() } }
        )
    }

    override func contentDidChange() { update() }

    override func visibilityDidChange() {
        super.visibilityDidChange()
        update()
    }

    override func disconnect() { link?.invalidate() }

    /// Ticks only as long as something turns.
    private func update() {
        gtk_widget_queue_draw(widget)
        guard ring.progress == nil, !ring.isHidden else {
            link?.invalidate()
            link = nil
            return
        }
        guard link == nil else { return }
        let link = makeDisplayLink()
        link.onTick = { [weak self, weak link] in
            guard let self, let link else { return }
            turn = (turn + link.duration).truncatingRemainder(dividingBy: 1)
            gtk_widget_queue_draw(widget)
        }
        link.isPaused = false
        self.link = link
    }

    private func draw(_ cairo: OpaquePointer, _ width: Int32, _ height: Int32) {
        if let progress = ring.progress {
            kf_draw_ring(cairo, width, height, 0, min(1, max(0, progress)))
        } else {
            kf_draw_ring(cairo, width, height, turn, 0.25)
        }
    }
}

/// A block that draws.
private final class DrawHandler: Sendable {
    let block: @MainActor (OpaquePointer, Int32, Int32) -> Void

    init(_ block: @escaping @MainActor (OpaquePointer, Int32, Int32) -> Void) { self.block = block }
}
#endif
