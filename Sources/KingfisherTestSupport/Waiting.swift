// Waiting for a condition by polling, for the tests of this package.

/// Polls until a condition holds; for conditions without a notification, such as the state of a thread of the transport.
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
