// The window as a file. Decides nothing about what is in it.

import CKFGTK
import CKFGTK4
import Foundation
import KingfisherGTK

/// A picture of a window.
@MainActor
struct Screenshot {
    /// Where it is written, as PNG.
    let path: String

    /// Why there is none.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Writes what the window looks like when everything is there, or after half a minute without.
    ///
    /// - Parameters:
    ///   - window: A window that is shown.
    ///   - isComplete: Whether everything is there.
    /// - Throws: ``Failure``.
    func write(_ window: Window, when isComplete: @MainActor () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while !isComplete(), .now < end { try await Task.sleep(for: .milliseconds(100)) }
        // Pictures fade in, and the figures are a second old.
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
