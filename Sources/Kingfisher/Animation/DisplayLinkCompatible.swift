// What makes animations go on. Knows no animation.

public import Foundation

/// Something that ticks, as long as it is not paused: a display's frame clock, a timer, a test.
///
/// A link belongs to one ``AnimationPlayer``.
@MainActor
public protocol DisplayLinkCompatible: AnyObject {
    /// Whether there are no ticks; at first there are none.
    ///
    /// A paused link wakes no thread: it has no timer and no callback anywhere.
    var isPaused: Bool { get set }

    /// When the last tick was, in seconds since a moment that is always the same.
    var timestamp: TimeInterval { get }

    /// How much time the last tick stands for, in seconds: since the tick before, and for the first one since the link
    /// was paused, as much as lies between two ticks as a rule.
    var duration: TimeInterval { get }

    /// How many ticks a second are wanted, each of which then stands for the same time; 0 means that ``duration`` says
    /// what each stands for.
    var preferredFramesPerSecond: Int { get set }

    /// Called with every tick, after ``timestamp`` and ``duration`` have been set.
    var onTick: (@MainActor () -> Void)? { get set }

    /// Ends all ticks for good.
    func invalidate()
}
