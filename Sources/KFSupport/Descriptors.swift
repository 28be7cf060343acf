// File descriptors that are closed by themselves. For the files of stores, and for what waits for the kernel.

import Glibc

/// A file descriptor that is closed when it goes.
package struct Descriptor: ~Copyable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }
    deinit { close(number) }
}

/// A file descriptor that is closed with its last owner.
package final class OwnedDescriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }
}
