// The URLs that have failed for good. For the manager, which does not ask for them again, and for users.

public import Foundation
import KFSupport

/// The URLs whose loads failed for good, for some time. (Not in Kingfisher.)
///
/// See ``KingfisherManager/failedURLs``. May be used from any thread, and by several managers.
public final class FailedURLRegistry: Sendable {
    private let capacity: Int
    private let expiration: Duration
    /// The time since the registry was made.
    private let age: @Sendable () -> Duration
    /// The URLs, with the registry's age when they failed.
    private let failures = Locked<[URL: Duration]>([:])

    /// Creates a registry.
    /// - Parameters:
    ///   - capacity: How many URLs it holds at most; the one that failed first makes room.
    ///   - expiration: How long a URL stays in it.
    ///   - clock: Measures that; tests set one by hand.
    public init(
        capacity: Int = 1000,
        expiration: Duration = .seconds(600),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.capacity, self.expiration) = (max(0, capacity), expiration)
        age = Self.age(by: clock)
    }

    private static func age(by clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Whether a URL has failed for good, and not too long ago.
    ///
    /// - Parameter url: The URL as it was requested.
    /// - Returns: Whether loads that skip failed URLs skip it.
    public func contains(_ url: URL) -> Bool {
        let now = age()
        return failures.withLock { failures in
            guard let failed = failures[url] else { return false }
            guard now - failed < expiration else {
                failures[url] = nil
                return false
            }
            return true
        }
    }

    /// Forgets that a URL has failed.
    ///
    /// - Parameter url: The URL as it was requested.
    public func remove(_ url: URL) { failures.withLock { $0[url] = nil } }

    /// Forgets all URLs.
    public func removeAll() { failures.withLock { $0 = [:] } }

    /// A URL has failed for good just now.
    func insert(_ url: URL) {
        let now = age()
        failures.withLock { failures in
            failures[url] = now
            guard failures.count > capacity, let oldest = failures.min(by: { $0.value < $1.value }) else { return }
            failures[oldest.key] = nil
        }
    }
}
