// How often an animation is played, as players and image views are set.

/// How often an animation is played.
public enum AnimationRepeatCount: Sendable {
    /// One time.
    case once
    /// A number of times; 0 means that it does not even begin.
    case finite(count: UInt)
    /// Without end.
    case infinite

    /// After how many loops the animation ends; nil when it does not.
    var limit: UInt? {
        switch self {
        case .once: 1
        case .finite(let count): count
        case .infinite: nil
        }
    }
}

extension AnimationRepeatCount: Hashable {
    /// Whether both play as often: ``once`` is the same as one loop.
    public static func == (one: AnimationRepeatCount, other: AnimationRepeatCount) -> Bool { one.limit == other.limit }

    /// Hashes how often is played.
    public func hash(into hasher: inout Hasher) { hasher.combine(limit) }
}
