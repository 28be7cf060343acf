// GLib's main loop, which serves the main dispatch queue, and with it the main actor.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Glibc

/// GLib's main loop, with the main actor and the main dispatch queue on it.
///
/// ``KFGTK/initialize()`` connects the queue to the default main context: what runs that context, a `GtkApplication`,
/// the loop of another binding or ``run()``, runs main-actor code too. The program's `main` must not be async: an async
/// `main` serves the queue itself, and GTK would not be on its thread.
@MainActor
public enum KFMainLoop {
    private static var isAttached = false
    private static let loop = g_main_loop_new(nil, 0)

    /// Runs the default main context until ``quit()`` is called.
    ///
    /// To be called on the process's first thread.
    public static func run() {
        attach()
        g_main_loop_run(loop)
    }

    /// Ends ``run()``.
    public static func quit() { g_main_loop_quit(loop) }

    /// Has the default main context serve the main dispatch queue.
    ///
    /// The source has the priority of redraws: in one turn of the loop both get their share, however much of the other
    /// there is, and the user's input comes before them. With a higher one a chain of jobs would keep the window from
    /// being drawn, with a lower one drawing would keep the jobs from running.
    static func attach() {
        guard !isAttached else { return }
        isAttached = true
        // The number that GDK_PRIORITY_REDRAW stands for.
        g_unix_fd_add_full(
            120,
            kf_main_queue_descriptor(),
            G_IO_IN,
            { descriptor, _, _ in
                // An event that is not read stays ready, and the loop would turn without a pause.
                var count: UInt64 = 0
                _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
                kf_drain_main_queue()
                return 1
            },
            nil,
            nil
        )
    }
}
#endif
