// A display link that ticks by a timer, for programs without a frame clock.

import Dispatch
public import Foundation

/// Ticks by a timer on the main queue, for programs without a frame clock.
///
/// The main queue has to be served: by an async `main`, `dispatchMain()` or a run loop. While the link is paused, there
/// is no timer.
@MainActor
public final class TimerDisplayLink: DisplayLinkCompatible {
    /// When the last tick was, in seconds since the machine was started; 0 before the first one.
    public private(set) var timestamp: TimeInterval = 0
    /// The time that the last tick stands for, in seconds.
    public private(set) var duration: TimeInterval
    /// Called with every tick.
    public var onTick: (@MainActor () -> Void)?

    private let usualInterval: TimeInterval
    private var isInvalid = false
    private var timer: (any DispatchSourceTimer)?
    /// When the previous tick was; nil for the first one.
    private var previous: TimeInterval?

    /// A paused link.
    ///
    /// - Parameter interval: The seconds from tick to tick, from a thousandth to an hour; a sixtieth by default.
    public init(interval: TimeInterval = 1 / 60) {
        usualInterval = interval.isFinite ? min(max(0.001, interval), 3600) : 1 / 60
        duration = usualInterval
    }

    isolated deinit { timer?.cancel() }

    /// Whether the link does not tick; it then has no timer.
    public var isPaused: Bool {
        get { timer == nil }
        set {
            guard newValue != isPaused else { return }
            if newValue { stop() } else { start() }
        }
    }

    /// The requested number of ticks a second, a thousand at most; 0 and less mean the usual interval.
    public var preferredFramesPerSecond = 0 {
        didSet {
            preferredFramesPerSecond = min(preferredFramesPerSecond, 1_000)
            guard preferredFramesPerSecond != oldValue, !isPaused else { return }
            stop()
            start()
        }
    }

    /// Ends all ticks for good.
    public func invalidate() {
        isInvalid = true
        onTick = nil
        stop()
    }

    /// The seconds from tick to tick.
    private var interval: TimeInterval {
        preferredFramesPerSecond > 0 ? 1 / TimeInterval(preferredFramesPerSecond) : usualInterval
    }

    private func start() {
        guard !isInvalid else { return }
        let timer = DispatchSource.makeTimerSource(queue: .main)
        // A display would not show a difference of two milliseconds.
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(2))
        timer.setEventHandler { [weak self] in
            MainActor.assumeIsolated { self?.tick(at: DispatchTime.now()) }
        }
        previous = nil
        self.timer = timer
        timer.activate()
    }

    private func stop() {
        timer?.cancel()
        timer = nil
    }

    private func tick(at now: DispatchTime) {
        // The block of a cancelled timer may have been enqueued already.
        guard !isPaused else { return }
        timestamp = TimeInterval(now.uptimeNanoseconds) / 1e9
        duration = previous.map { timestamp - $0 } ?? interval
        previous = timestamp
        onTick?()
    }
}
