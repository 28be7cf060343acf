// How code of the user's among the options is compared. For the keys by which loads share their work.

/// A piece of code among the options: equal to another one if both are `Hashable` and say so, else only to itself.
struct ComparableCode: Equatable, Sendable {
    private final class Unique: Sendable {}

    private let code: any Sendable
    /// Set for code that cannot be compared.
    private let unique: Unique?

    init(_ code: any Sendable) {
        self.code = code
        unique = code is any Hashable ? nil : Unique()
    }

    /// Pieces of code that are compared one by one; nil where there is none.
    static func of(_ code: (any Sendable)?...) -> [ComparableCode?] { code.map { $0.map { ComparableCode($0) } } }

    /// Whether another one can be equal.
    var isComparable: Bool { unique == nil }

    static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.unique == nil, rhs.unique == nil else { return lhs.unique === rhs.unique }
        guard let one = lhs.code as? any Hashable, let other = rhs.code as? any Hashable else { return false }
        return AnyHashable(one) == AnyHashable(other)
    }
}
