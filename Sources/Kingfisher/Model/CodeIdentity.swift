// The identity of a closure's wrapper, for those that equal their copies.

/// What makes the copies of a closure's wrapper equal.
final class CodeIdentity: Hashable, Sendable {
    static func == (lhs: CodeIdentity, rhs: CodeIdentity) -> Bool { lhs === rhs }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
