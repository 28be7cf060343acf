// How often an animation is played, and who is notified of it. For players and image views.

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

/// Is notified of an animation's progress, on the main actor, after the frame that is the reason is shown.
///
/// Both methods are optional.
@MainActor
public protocol AnimationPlayerDelegate: AnyObject {
    /// Called whenever all frames have been played once.
    ///
    /// - Parameters:
    ///   - player: The player.
    ///   - count: How often they have been played by now.
    func animationPlayer(_ player: AnimationPlayer, didPlayAnimationLoops count: UInt)

    /// Called once, when the animation has been played as often as it was to be, and stays on its last frame.
    ///
    /// - Parameter player: The player.
    func animationPlayerDidFinishAnimating(_ player: AnimationPlayer)
}

extension AnimationPlayerDelegate {
    /// Does nothing.
    public func animationPlayer(_ player: AnimationPlayer, didPlayAnimationLoops count: UInt) {}

    /// Does nothing.
    public func animationPlayerDidFinishAnimating(_ player: AnimationPlayer) {}
}
