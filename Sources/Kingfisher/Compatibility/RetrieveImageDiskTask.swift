// What calls a look-up off that nobody waits for any more, as before version 5. Knows nothing of what is looked up.

import Synchronization

/// A look-up in a cache that may be called off, as before version 5.
public final class RetrieveImageDiskTask: Sendable {
    private let cancelled = Atomic(false)

    init() {}

    /// Calls the look-up off: what has not been read is not read any more, what has been read does not become an image.
    ///
    /// Its handler is called all the same, once: with nothing, or with the image if that was ready. May be called from any
    /// thread, and more than once.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether the look-up was called off.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
}
