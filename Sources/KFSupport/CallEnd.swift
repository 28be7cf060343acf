// When a call that has begun something returns: the rule of completion handlers. For caches, downloaders and managers.

import Foundation

/// The end of one call with a completion handler, which its handler comes after, unless it is called on the call's own
/// thread.
package struct CallEnd: Sendable {
    private let thread = pthread_self()
    private let returned = Promise<Void>()

    /// The end of the call that runs now.
    package init() {}

    /// Whether the running code is on the thread of the call.
    ///
    /// Nothing else can run there until the call returns: what ends there has ended inside the call, or long after it.
    package var isOnThread: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// The call is about to return.
    package func arrive() { returned.fulfil(()) }

    /// Waits until the call returns.
    package func wait() async { await returned.value }
}
