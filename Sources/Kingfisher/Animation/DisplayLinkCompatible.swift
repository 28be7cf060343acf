// The protocol of display links, whose ticks make animation players go on.

public import Foundation

/// Something that ticks, as long as it is not paused: a display's frame clock, a timer, a test.
///
/// A link belongs to one ``AnimationPlayer``.
@MainActor
public protocol DisplayLinkCompatible: AnyObject {
    /// Whether the link is paused and does not tick; true at first.
    ///
    /// A paused link wakes no thread: it has no timer and no registered callback.
    var isPaused: Bool { get set }

    /// When the last tick was, in seconds since a fixed moment.
    var timestamp: TimeInterval { get }

    /// The time that the last tick stands for, in seconds: since the tick before, or for the first one after a pause,
    /// the usual time between two ticks.
    var duration: TimeInterval { get }

    /// The requested number of ticks a second, each of which then stands for the same time; 0 means that each stands
    /// for its ``duration``.
    var preferredFramesPerSecond: Int { get set }

    /// Called with every tick, after ``timestamp`` and ``duration`` have been set.
    var onTick: (@MainActor () -> Void)? { get set }

    /// Ends all ticks for good.
    func invalidate()
}
