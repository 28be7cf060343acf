// Ticks with the frame clock of a widget, for animations and transitions.

#if canImport(CKFGTK4)
import CKFGTK4
package import Foundation
import Kingfisher

/// Ticks with the frame clock of the window that a widget is in.
///
/// While the link is paused, no callback is registered. While the widget cannot be seen, there are no ticks either: the
/// link looks for it when its window has been laid out, as that is after scrolling, and when it is mapped.
@MainActor
package final class FrameClockLink: DisplayLinkCompatible {
    /// When the last tick was, in seconds on the frame clock.
    package private(set) var timestamp: TimeInterval = 0
    /// How much time the last tick stands for, in seconds.
    package private(set) var duration: TimeInterval = 1 / 60
    /// How many ticks a second are wanted; 0 means as many as the screen shows.
    package var preferredFramesPerSecond = 0
    package var onTick: (@MainActor () -> Void)?

    /// The widget; nil when it is gone: GObject clears it.
    private let widget: UnsafeMutablePointer<gpointer?>
    private var phase = Phase.paused
    private var previous: TimeInterval?
    private var isInvalid = false

    private enum Phase {
        case paused
        /// A callback is registered, under this number.
        case ticking(guint)
        /// The widget cannot be seen: the signals that tell when it may be.
        case waiting(LayoutSignal, mapping: UInt)
    }

    package init(_ widget: UnsafeMutableRawPointer) {
        self.widget = .allocate(capacity: 1)
        self.widget.initialize(to: widget)
        g_object_add_weak_pointer(widget.assumingMemoryBound(to: GObject.self), self.widget)
    }

    convenience init(_ widget: UnsafeMutablePointer<GtkWidget>) { self.init(UnsafeMutableRawPointer(widget)) }

    isolated deinit {
        stop()
        if let object = widget.pointee {
            g_object_remove_weak_pointer(object.assumingMemoryBound(to: GObject.self), widget)
        }
        widget.deallocate()
    }

    /// Whether there are no ticks.
    package var isPaused: Bool {
        get { if case .paused = phase { true } else { false } }
        set {
            guard newValue != isPaused else { return }
            if newValue { stop() } else { start() }
        }
    }

    /// Ends all ticks for good.
    package func invalidate() {
        isInvalid = true
        onTick = nil
        stop()
    }

    private var target: UnsafeMutablePointer<GtkWidget>? { widget.pointee?.assumingMemoryBound(to: GtkWidget.self) }

    private func start() {
        guard !isInvalid, let target else { return }
        previous = nil
        let handler = LinkReference(self)
        let callback = gtk_widget_add_tick_callback(
            target,
            { _, clock, handler in
                guard let handler, let clock else { return 0 }
                let time = TimeInterval(gdk_frame_clock_get_frame_time(clock)) / 1e6
                var interval: gint64 = 0
                gdk_frame_clock_get_refresh_info(clock, 0, &interval, nil)
                let link = Unmanaged<LinkReference>.fromOpaque(handler).takeUnretainedValue()
                let usual = interval > 0 ? TimeInterval(interval) / 1e6 : 1 / 60
                return MainActor.assumeIsolated { link.link?.tick(at: time, usual: usual) } ?? 0
            },
            Unmanaged.passRetained(handler).toOpaque(),
            { if let handler = $0 { Unmanaged<LinkReference>.fromOpaque(handler).release() } }
        )
        phase = .ticking(callback)
    }

    private func stop() {
        let former = phase
        phase = .paused
        guard let target else { return }
        switch former {
        case .paused: break
        case .ticking(let callback): gtk_widget_remove_tick_callback(target, callback)
        case .waiting(_, let mapping): KFGTK.disconnect(mapping, of: UnsafeMutableRawPointer(target))
        }
    }

    private func tick(at time: TimeInterval, usual: TimeInterval) -> gboolean {
        guard let target, case .ticking = phase else { return 0 }
        guard canBeSeen(target) else {
            wait(for: target)
            return 0
        }
        let elapsed = previous.map { time - $0 } ?? usual
        if preferredFramesPerSecond > 0, previous != nil, elapsed < 0.9 / TimeInterval(preferredFramesPerSecond) {
            return 1
        }
        (timestamp, previous, duration) = (time, time, elapsed)
        onTick?()
        return 1
    }

    private func canBeSeen(_ target: UnsafeMutablePointer<GtkWidget>) -> Bool {
        gtk_widget_get_mapped(target) != 0 && target.isInView
    }

    private func wait(for target: UnsafeMutablePointer<GtkWidget>) {
        let layouts = LayoutSignal()
        layouts.onLayout = { [weak self] in self?.resumeIfSeen() }
        layouts.watch(target)
        // It may be in another window then.
        let mapping = KFGTK.connect("map", of: UnsafeMutableRawPointer(target)) { [weak self] _ in self?.resume() }
        phase = .waiting(layouts, mapping: mapping)
    }

    private func resumeIfSeen() { if let target, canBeSeen(target) { resume() } }

    private func resume() {
        guard case .waiting = phase else { return }
        stop()
        start()
    }
}

/// Does not keep the link, as its callbacks are there for as long as it wants.
private final class LinkReference: Sendable {
    // SAFETY: set once, and a weak reference may be read from any thread.
    private nonisolated(unsafe) weak var weakLink: FrameClockLink?
    @MainActor var link: FrameClockLink? { weakLink }

    init(_ link: FrameClockLink) { weakLink = link }
}
#endif
