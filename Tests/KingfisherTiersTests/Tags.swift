// What suites of this target need beside this process, so that they can be chosen in an editor.

import Testing

extension Tag {
    /// Needs a program that others keep: Redis, moto, nginx.
    @Tag static var engines: Self
}
