// The identity of a closure's wrapper, for those that equal their copies.

/// What makes the copies of a closure's wrapper equal.
package final class CodeIdentity: Hashable, Sendable {
    package init() {}

    package static func == (lhs: CodeIdentity, rhs: CodeIdentity) -> Bool { lhs === rhs }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
