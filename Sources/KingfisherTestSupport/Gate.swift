// Something to wait at until somebody opens it. Knows nothing of who waits.

internal import KFSupport

/// Something to wait at until somebody opens it; once open, it stays open.
///
/// Tests use gates where others sleep.
public final class Gate: Sendable {
    private let promise = Promise<Void>()

    /// A closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { promise.valueIfKept != nil }

    /// Lets everyone through, now and later.
    public func open() { promise.keep(()) }

    /// Waits until the gate is open.
    public func wait() async { await promise.value }
}
