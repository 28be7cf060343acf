// Writes the window into a PNG file, for `--screenshot`.

import CKFGTK
import CKFGTK4
import Foundation
import KingfisherGTK

/// An image of a window.
@MainActor
struct Screenshot {
    /// The path of the PNG file.
    let path: String

    /// The reason why there is no screenshot.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Writes the window when it is complete, or after half a minute.
    ///
    /// - Parameters:
    ///   - window: A window that is shown.
    ///   - isComplete: Whether everything is loaded.
    /// - Throws: ``Failure``.
    func write(_ window: KFWindow, when isComplete: @MainActor () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while !isComplete(), .now < end { try await Task.sleep(for: .milliseconds(100)) }
        // Images fade in, and the figures are updated every second.
        try await Task.sleep(for: .milliseconds(1500))
        guard let texture = kf_render(UnsafeMutablePointer(window.widget)) else {
            throw Failure(description: "The window cannot be drawn.")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        guard gdk_texture_save_to_png(texture, path) != 0 else {
            throw Failure(description: "\(path) cannot be written.")
        }
    }
}
