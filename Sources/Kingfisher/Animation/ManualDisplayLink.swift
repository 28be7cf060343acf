// A display link that is advanced by calls, for tests and for programs that draw at moments of their own.

public import Foundation

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
