// The handle that cancels a look-up, as before version 5. Returned by `ImageCache`'s older form of `retrieveImage`.

import Synchronization

/// A look-up in a cache that can be cancelled, as before version 5.
public final class RetrieveImageDiskTask: Sendable {
    private let cancelled = Atomic(false)

    init() {}

    /// Cancels the look-up: an entry that has not been read yet is not read, one that has been read is not decoded.
    ///
    /// Its handler is still called, once: with nothing, or with the image if that was ready. May be called from any
    /// thread, and more than once.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether the look-up was cancelled.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
}

extension RetrieveImageDiskTask: LoadObserver {}
