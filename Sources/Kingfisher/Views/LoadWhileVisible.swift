// When a load runs that pauses while its view is out of sight. For image views, KFImageView and the cells of lists.

/// The state of a load that ends when its view goes out of sight, and begins again when the view is back.
///
/// A value: its owner begins and cancels. A load that was cancelled may still end, even after the next one has begun,
/// so each has a number.
package struct LoadWhileVisible: Sendable {
    package enum Phase: Sendable {
        /// A load is to begin when the view can be seen.
        case waiting
        case loading
        /// The load has failed in sight; another is to begin when the view comes into sight the next time.
        case failed
        /// There is nothing to load any more.
        case done
    }

    package private(set) var phase = Phase.waiting
    private var number = 0

    package init() {}

    package var isLoading: Bool { phase == .loading }

    /// A load begins; returns its number.
    package mutating func begin() -> Int {
        phase = .loading
        number += 1
        return number
    }

    /// A load has ended.
    ///
    /// - Parameters:
    ///   - number: The number of the load.
    ///   - isFailed: Whether it is to be tried again.
    /// - Returns: Whether it was the current one; false when the view had left before.
    package mutating func end(_ number: Int, isFailed: Bool) -> Bool {
        guard isLoading, number == self.number else { return false }
        phase = isFailed ? .failed : .done
        return true
    }

    /// The view is out of sight; returns whether the load is to be cancelled.
    package mutating func leave() -> Bool { phase == .done ? false : reset() }

    /// Everything begins anew; returns whether the load is to be cancelled.
    package mutating func reset() -> Bool {
        defer { phase = .waiting }
        return isLoading
    }

    /// Nothing is to be loaded any more; a load that is under way goes on, but is not the current one.
    package mutating func finish() { phase = .done }
}
