// Ticks with the frame clock of a widget, for animations and transitions.

import CKFGTK4
package import Foundation
import Kingfisher

/// Ticks with the frame clock of the window that a widget is in.
///
/// While the link is paused, no callback is registered. While the widget is scrolled out of view, there are no ticks:
/// a timer checks four times a second whether it is in view again.
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
    private var callback: guint = 0
    private var timer: guint = 0
    private var previous: TimeInterval?
    private var isInvalid = false

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
        get { callback == 0 && timer == 0 }
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
        callback = gtk_widget_add_tick_callback(
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
    }

    private func stop() {
        if callback != 0, let target { gtk_widget_remove_tick_callback(target, callback) }
        if timer != 0 { g_source_remove(timer) }
        (callback, timer) = (0, 0)
    }

    private func tick(at time: TimeInterval, usual: TimeInterval) -> gboolean {
        guard let target, callback != 0 else { return 0 }
        guard target.isInView else {
            callback = 0
            waitUntilInView()
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

    private func waitUntilInView() {
        let handler = LinkReference(self)
        timer = g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            250,
            { handler in
                guard let handler else { return 0 }
                let link = Unmanaged<LinkReference>.fromOpaque(handler).takeUnretainedValue()
                return MainActor.assumeIsolated { link.link?.resumeIfInView() } ?? 0
            },
            Unmanaged.passRetained(handler).toOpaque(),
            { if let handler = $0 { Unmanaged<LinkReference>.fromOpaque(handler).release() } }
        )
    }

    private func resumeIfInView() -> gboolean {
        guard let target, timer != 0 else { return 0 }
        guard target.isInView else { return 1 }
        timer = 0
        start()
        return 0
    }
}

/// Does not keep the link, as its callbacks are there for as long as it wants.
private final class LinkReference: Sendable {
    // SAFETY: set once, and a weak reference may be read from any thread.
    private nonisolated(unsafe) weak var weakLink: FrameClockLink?
    @MainActor var link: FrameClockLink? { weakLink }

    init(_ link: FrameClockLink) { weakLink = link }
}
