// The protocol of display links, whose ticks make animation players go on; and the link that is advanced by calls, for
// tests and for programs that draw at moments of their own.

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

/// Ticks when it is advanced, for tests, and for programs that draw frames at moments of their own.
@MainActor
public final class ManualDisplayLink: DisplayLinkCompatible {
    /// Whether ``advance(by:)`` ticks; at first it does not.
    public var isPaused = true {
        didSet { isPaused = isPaused || isInvalid }
    }
    /// How far the link has been advanced, in seconds.
    public private(set) var timestamp: TimeInterval = 0
    /// How far it was advanced the last time, in seconds.
    public private(set) var duration: TimeInterval = 0
    /// The ticks a second; it changes the time that a tick stands for, and nothing else.
    public var preferredFramesPerSecond = 0
    /// Called with every tick.
    public var onTick: (@MainActor () -> Void)?
    /// The number of ticks so far.
    public private(set) var tickCount = 0

    private var isInvalid = false

    /// A paused link.
    public init() {}

    /// Advances the time, and ticks once unless paused.
    ///
    /// - Parameter seconds: The time that passes.
    public func advance(by seconds: TimeInterval) {
        timestamp += seconds
        guard !isPaused else { return }
        duration = seconds
        tickCount += 1
        onTick?()
    }

    /// Ends all ticks for good.
    public func invalidate() {
        isInvalid = true
        isPaused = true
        onTick = nil
    }
}
