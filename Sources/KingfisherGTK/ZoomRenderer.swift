// The GTK widget of a zoom view: an image view's, which places the image as the view says, and has its input.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher

/// The widget of a zoom view.
@MainActor
final class ZoomRenderer: ImageRenderer {
    private unowned let view: ZoomView
    /// Where the pointer is, in points; nil when it is elsewhere.
    private var pointer: CGPoint?
    /// How far the image has been dragged; nil before it is.
    private var dragged: CGSize?
    /// The factor when the fingers of a pinch came down.
    private var pinched: CGFloat = 1

    init(_ view: ZoomView) {
        self.view = view
        super.init(view)
        gtk_widget_set_focusable(widget, 1)
        KFGTK.connect("drawing", of: UnsafeMutableRawPointer(paintable)) { [weak self] _ in self?.place() }
        watchLayout()
        handleDragging()
        handlePinching()
        handlePointer()
        handleScrolling()
        handleKeys()
    }

    override var fit: KfFit { KF_FIT_PLACED }

    /// The factor of the original at its own size, so that it stays the same when more of its pixels are decoded.
    override var naturalSize: CGSize {
        let size = view.originalSize
        return CGSize(width: size.width / scaleFactor, height: size.height / scaleFactor)
    }

    override var drawnSize: CGSize? {
        switch view.mode {
        case .fit, .fill: view.geometry.frame.size
        case .actualSize, .factor: nil
        }
    }

    private func place() {
        let frame = view.geometry.frame
        kf_paintable_place(paintable, frame.minX, frame.minY, frame.width, frame.height)
    }

    private var middle: CGPoint { CGPoint(x: bounds.width / 2, y: bounds.height / 2) }

    private func add(_ controller: OpaquePointer) { gtk_widget_add_controller(widget, controller) }

    /// Calls a block with a signal of a controller, which belongs to the widget.
    private func handle(
        _ signal: String,
        of controller: OpaquePointer,
        _ block: @escaping @MainActor (ZoomRenderer, SignalArguments) -> Bool
    ) {
        KFGTK.connect(
            signal,
            of: UnsafeMutableRawPointer(controller),
            handling: { [weak self] arguments in self.map { block($0, arguments) } ?? false }
        )
    }

    // MARK: Dragging

    /// So far the pointer has to move before it drags, in points.
    private static let threshold = 6.0

    /// An image that is not larger than the view is not dragged, so that others can have the gesture.
    private func handleDragging() {
        guard let drag = gtk_gesture_drag_new(), let swipe = gtk_gesture_swipe_new() else { return }
        handle("drag-begin", of: drag) { renderer, _ in
            renderer.dragged = nil
            renderer.view.endMovement()
            gtk_widget_grab_focus(renderer.widget)
            if !renderer.view.geometry.isPannable { gtk_gesture_set_state(drag, GTK_EVENT_SEQUENCE_DENIED) }
            return false
        }
        handle("drag-update", of: drag) { renderer, arguments in
            renderer.drag(to: CGSize(width: arguments.double(0), height: arguments.double(1)), by: drag)
            return false
        }
        handle("swipe", of: swipe) { renderer, arguments in
            guard renderer.dragged != nil else { return false }
            renderer.view.fling(velocity: CGSize(width: arguments.double(0), height: arguments.double(1)))
            return false
        }
        gtk_gesture_group(drag, swipe)
        add(drag)
        add(swipe)
    }

    private func drag(to offset: CGSize, by gesture: OpaquePointer) {
        if dragged == nil {
            guard hypot(offset.width, offset.height) >= Self.threshold else { return }
            gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_CLAIMED)
        }
        let before = dragged ?? .zero
        dragged = offset
        view.pan(by: CGSize(width: offset.width - before.width, height: offset.height - before.height))
    }

    // MARK: Zooming

    private func handlePinching() {
        guard let pinch = gtk_gesture_zoom_new() else { return }
        handle("begin", of: pinch) { renderer, _ in
            renderer.pinched = renderer.view.zoom
            return false
        }
        handle("scale-changed", of: pinch) { renderer, arguments in
            var (x, y) = (0.0, 0.0)
            let isKnown = gtk_gesture_get_bounding_box_center(pinch, &x, &y) != 0
            let point = isKnown ? CGPoint(x: x, y: y) : renderer.pointer
            renderer.view.zoom(to: renderer.pinched * arguments.double(0), around: point)
            return false
        }
        add(pinch)
    }

    private func handlePointer() {
        guard let motion = gtk_event_controller_motion_new(), let click = gtk_gesture_click_new() else { return }
        for signal in ["enter", "motion"] {
            handle(signal, of: motion) { renderer, arguments in
                renderer.pointer = CGPoint(x: arguments.double(0), y: arguments.double(1))
                return false
            }
        }
        handle("leave", of: motion) { renderer, _ in
            renderer.pointer = nil
            return false
        }
        handle("pressed", of: click) { renderer, arguments in
            guard arguments.int(0) == 2 else { return false }
            renderer.view.toggleActualSize(at: CGPoint(x: arguments.double(1), y: arguments.double(2)))
            return false
        }
        add(motion)
        add(click)
    }

    /// With Ctrl, scrolling zooms; else it moves the image, and what is around the widget when there is nothing to
    /// move.
    private func handleScrolling() {
        let flags = GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES.rawValue | GTK_EVENT_CONTROLLER_SCROLL_KINETIC.rawValue
        guard let scroll = gtk_event_controller_scroll_new(GtkEventControllerScrollFlags(rawValue: flags))
        else { return }
        handle("scroll", of: scroll) { renderer, arguments in
            let unit = kf_scroll_unit(scroll)
            let distance = CGSize(width: -arguments.double(0) * unit, height: -arguments.double(1) * unit)
            guard Self.hasControl(scroll) else { return renderer.view.pan(by: distance) }
            renderer.view.zoom(to: renderer.view.zoom * exp(distance.height / 180), around: renderer.pointer)
            return true
        }
        handle("decelerate", of: scroll) { renderer, arguments in
            guard !Self.hasControl(scroll) else { return false }
            // Points a millisecond.
            let factor = -1_000 * kf_scroll_unit(scroll)
            let velocity = CGSize(width: arguments.double(0) * factor, height: arguments.double(1) * factor)
            renderer.view.fling(velocity: velocity)
            return false
        }
        add(scroll)
    }

    private static func hasControl(_ controller: OpaquePointer) -> Bool {
        Int(gtk_event_controller_get_current_event_state(controller).rawValue) & KF_CONTROL_MASK != 0
    }

    // MARK: Keys

    private func handleKeys() {
        guard let keys = gtk_event_controller_key_new() else { return }
        handle("key-pressed", of: keys) { renderer, arguments in
            let modifiers = Int(arguments.flags(2))
            guard modifiers & (KF_ALT_MASK | KF_SUPER_MASK | KF_META_MASK) == 0 else { return false }
            let hasControl = modifiers & KF_CONTROL_MASK != 0
            let key = Int32(bitPattern: arguments.uint(0))
            return renderer.zoom(by: key) || !hasControl && renderer.pan(by: key)
        }
        add(keys)
    }

    private func zoom(by key: Int32) -> Bool {
        switch key {
        case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: view.zoom *= 1.25
        case GDK_KEY_minus, GDK_KEY_KP_Subtract: view.zoom /= 1.25
        case GDK_KEY_0, GDK_KEY_KP_0: view.mode = .fit
        case GDK_KEY_1, GDK_KEY_KP_1: view.mode = .actualSize
        default: return false
        }
        return true
    }

    /// Moves what is seen by a part of the view; at the edge of the image, the key is for others.
    private func pan(by key: Int32) -> Bool {
        let (x, y) = (bounds.width / 8, bounds.height / 8)
        return switch key {
        case GDK_KEY_Left, GDK_KEY_KP_Left: view.pan(by: CGSize(width: x, height: 0))
        case GDK_KEY_Right, GDK_KEY_KP_Right: view.pan(by: CGSize(width: -x, height: 0))
        case GDK_KEY_Up, GDK_KEY_KP_Up: view.pan(by: CGSize(width: 0, height: y))
        case GDK_KEY_Down, GDK_KEY_KP_Down: view.pan(by: CGSize(width: 0, height: -y))
        default: false
        }
    }
}
#endif
