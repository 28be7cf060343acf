// Ticks when it is advanced. Knows no other time.

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
    /// Changes nothing but what a tick stands for.
    public var preferredFramesPerSecond = 0
    /// Called with every tick.
    public var onTick: (@MainActor () -> Void)?
    /// How many ticks there were.
    public private(set) var tickCount = 0

    private var isInvalid = false

    /// A paused link.
    public init() {}

    /// Lets time pass, and ticks once unless paused.
    ///
    /// - Parameter seconds: How much.
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
