// The handle to cancel a look-up with, as before version 5. Knows nothing of what is looked up.

import Synchronization

/// A look-up in a cache that can be cancelled, as before version 5.
public final class RetrieveImageDiskTask: Sendable {
    private let cancelled = Atomic(false)

    init() {}

    /// Cancels the look-up: what has not been read yet is not read, what has been read is not decoded.
    ///
    /// Its handler is called all the same, once: with nothing, or with the image if that was ready. May be called from
    /// any thread, and more than once.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether the look-up was cancelled.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
}
