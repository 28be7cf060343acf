// What tests wait for instead of sleeping: a gate that is opened, and a condition that is polled.

internal import KFSupport

/// Polls until a condition holds; for conditions without a notification, such as the state of a thread of the
/// transport.
///
/// - Throws: ``WaitedInVain`` if that takes longer than it can on a busy machine.
package func until(_ what: String, _ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while !condition() {
        guard ContinuousClock.now < end else { throw WaitedInVain(what: what) }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// What a test waited for did not happen within two minutes.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let what: String

    package var description: String { "Waited for two minutes in vain: \(what)" }
}

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
