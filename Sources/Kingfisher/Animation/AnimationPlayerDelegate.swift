// The delegate of an animation player.

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
