// Animations that are scrolled out of sight, and how often the process wakes up for them.

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

    /// Counts how often a thread of the process wakes up, without the end of the measurement.
    ///
    /// - Parameters:
    ///   - isInSight: Whether the animations can be seen.
    ///   - duration: For how long, in seconds.
    /// - Returns: The number.
    /// - Throws: An error if the animations do not play while they can be seen.
    func wakeUps(isInSight: Bool, duration: guint) async throws -> Int {
        try await Task.sleep(for: .seconds(1))
        guard views.allSatisfy({ $0.isAnimating && $0.shownImage !== $0.image }) else { throw IdleError.standsStill }
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        if !isInSight { gtk_adjustment_set_value(adjustment, 5_000) }
        // What GTK shows while it scrolls is over then: scroll bars that fade.
        try await Task.sleep(for: .seconds(3))
        await pass(1)
        let before = Self.sleeps
        await pass(duration)
        return Self.sleeps - before - 1
    }

    private func pass(_ seconds: guint) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let box = Unmanaged.passRetained(Box(continuation)).toOpaque()
            g_timeout_add_seconds(
                seconds,
                { box in
                    if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().continuation.resume() }
                    return 0
                },
                box
            )
        }
    }

    /// How often the threads of the process have gone to sleep, each of which is followed by a wake-up.
    private static var sleeps: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.reduce(0) { sum, thread in
            let path = "/proc/self/task/\(thread)/status"
            let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
            let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}

enum IdleError: Error { case standsStill }

private final class Box {
    let continuation: CheckedContinuation<Void, Never>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
}

private func cast<Widget>(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<Widget> {
    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: Widget.self)
}
