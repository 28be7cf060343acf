// One load that waits for the value of a shared task. For SharedTask.

import Foundation
import KFSupport

/// One load that waits for the value of a shared task.
struct Subscriber<Value: Sendable>: Sendable {
    /// The load that is notified; nil if none is.
    let observer: (any LoadObserver)?
    /// How urgent it is, from 0 to 1.
    var priority: Float
    /// The URL it requested, before a modifier changed that; nil where it does not matter.
    var url: URL?
    /// The longer side, in pixels, to which it will downsample the bytes; nil if it will not.
    var downsamplingLimit: Int?
    /// A value that arrived after this will do, while others use it; nil when only one that is to come will.
    var sharesValuesSince: ContinuousClock.Instant?
    /// Called with a value that may be out of date, while the task finds out.
    var showStale: (@Sendable (Value) async -> Void)?
    /// The outcome it waits for; the first one counts.
    let result = Promise<Result<Value, KingfisherError>>()

    /// Whether it still wants the value.
    var isWanted: Bool { observer?.isWanted ?? true }
}
