// What suites of this target need beside this process, so that they can be chosen in an editor.

import Testing

extension Tag {
    /// Starts programs of the package; some it kills.
    @Tag static var processes: Self
}
