// Measures for how long the main thread does not look for the user's input.

import CBaselineGTK
import Dispatch

/// Measures the time between two polls for events by GLib's main loop, without the waiting itself.
@MainActor
final class MainThreadBlocks {
    private static var times: [Double] = []
    private static var started: UInt64?

    init() {
        (Self.times, Self.started) = ([], nil)
        g_main_context_set_poll_func(nil) { descriptors, count, timeout in
            MainActor.assumeIsolated { MainThreadBlocks.willPoll() }
            let result = g_poll(descriptors, count, timeout)
            MainActor.assumeIsolated { MainThreadBlocks.started = DispatchTime.now().uptimeNanoseconds }
            return result
        }
    }

    private static func willPoll() {
        guard let started else { return }
        times.append(Double(DispatchTime.now().uptimeNanoseconds - started) / 1e9)
    }

    /// Ends measuring, and returns the times in seconds.
    func stop() -> [Double] {
        g_main_context_set_poll_func(nil, nil)
        return Self.times
    }
}
