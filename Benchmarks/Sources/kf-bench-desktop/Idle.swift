// Animations that are scrolled out of sight, and how often the main thread wakes up for them.

import CBaselineGTK
import Foundation
import Kingfisher
import KingfisherGTK

/// A window with animations at the top of what can be scrolled.
@MainActor
final class Idle {
    private let views = (0..<8).map { _ in AnimatedImageView() }
    private let scrolled: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()

    init() throws {
        let window: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
        let box: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let room: UnsafeMutablePointer<GtkWidget> = gtk_label_new("")
        gtk_widget_set_size_request(room, 100, 10_000)
        for view in views { append(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), to: box, height: 40) }
        append(room, to: box, height: 10_000)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), box)
        gtk_window_set_default_size(cast(window), 700, 500)
        gtk_window_set_child(cast(window), scrolled)
        gtk_window_present(cast(window))
        let colors: [UInt32] = [0xFFFF_0000, 0xFF00_FF00, 0xFF00_00FF, 0xFFFF_FFFF]
        let frames = colors.map { color in
            Image(
                cgImage: Bitmap(width: 60, height: 40, hasAlpha: false) { pixels, _ in
                    pixels.bindMemory(to: UInt32.self).update(repeating: color)
                }
            )
        }
        for view in views { view.image = Image.animatedImage(with: frames, duration: 0.4) }
    }

    private func append(
        _ widget: UnsafeMutablePointer<GtkWidget>,
        to box: UnsafeMutablePointer<GtkWidget>,
        height: Int32
    ) {
        gtk_widget_set_size_request(widget, 60, height)
        gtk_box_append(cast(box), widget)
    }

    /// Counts how often the main thread wakes up in a time, without the end of the measurement.
    ///
    /// It begins when as much time is over, and with it what GTK shows for a while after scrolling.
    ///
    /// - Parameters:
    ///   - isInSight: Whether the animations can be seen.
    ///   - duration: The time, in seconds.
    /// - Returns: The number.
    /// - Throws: An error if the animations do not play while they can be seen.
    func wakeUps(isInSight: Bool, duration: guint) async throws(IdleError) -> Int {
        _ = await sleepsAtTicks(of: 1)
        guard views.allSatisfy({ $0.isAnimating }) else { throw .standsStill }
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        if !isInSight { gtk_adjustment_set_value(adjustment, 5_000) }
        let sleeps = await sleepsAtTicks(of: duration)
        return sleeps[1] - sleeps[0] - 1
    }

    /// How often the main thread had gone to sleep at two ticks of a timer; it does nothing for them in between.
    private func sleepsAtTicks(of seconds: guint) async -> [Int] {
        await withCheckedContinuation { (continuation: CheckedContinuation<[Int], Never>) in
            let ticks = Unmanaged.passRetained(Ticks(continuation)).toOpaque()
            g_timeout_add_seconds(
                seconds,
                { ticks in
                    guard let ticks else { return 0 }
                    let object = Unmanaged<Ticks>.fromOpaque(ticks)
                    let isFirst = MainActor.assumeIsolated { object.takeUnretainedValue().tick(Idle.sleeps) }
                    if !isFirst { object.release() }
                    return isFirst ? 1 : 0
                },
                ticks
            )
        }
    }

    /// How often the main thread has gone to sleep; a wake-up follows each time.
    ///
    /// Other threads are woken up by the main thread only, apart from the one by which Dispatch watches its threads.
    fileprivate static var sleeps: Int {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }
}

enum IdleError: Error { case standsStill }

@MainActor
private final class Ticks {
    private var sleeps: [Int] = []
    private let continuation: CheckedContinuation<[Int], Never>

    init(_ continuation: CheckedContinuation<[Int], Never>) { self.continuation = continuation }

    /// Records a number, and returns whether another is to come.
    func tick(_ count: Int) -> Bool {
        sleeps.append(count)
        if sleeps.count == 2 { continuation.resume(returning: sleeps) }
        return sleeps.count < 2
    }
}
