// A gate that tasks wait for until it is opened.

internal import KFSupport

/// A gate that tasks wait for until it is opened; once open, it stays open.
///
/// Tests use gates instead of sleeping.
public final class Gate: Sendable {
    private let promise = Promise<Void>()

    /// A closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { promise.valueIfFulfilled != nil }

    /// Resumes all tasks that wait, and lets later ones pass at once.
    public func open() { promise.fulfil(()) }

    /// Waits until the gate is open.
    public func wait() async { await promise.value }
}
