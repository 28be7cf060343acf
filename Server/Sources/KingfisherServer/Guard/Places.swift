// Bounds how many results are made at one time, and what their sources take. For the routes, before they ask the renderer.

import KFImageURLs
import Synchronization

/// A bounded number of places, one for each result that is being made or waits for that.
///
/// Requests for a result that has a place share it, however many they are.
package final class Places: Sendable {
    enum Entry {
        /// The first request for the result.
        case first
        /// The result is being made for others.
        case joined
    }

    private let limit: Int
    private let isMemoryFull: @Sendable () -> Bool
    private let requestCounts = Mutex<[RenderingRequest: Int]>([:])

    /// - Parameters:
    ///   - limit: How many places there are.
    ///   - isMemoryFull: Whether those who have places take so much memory that there are no more of them for now.
    package init(limit: Int, isMemoryFull: @escaping @Sendable () -> Bool) {
        (self.limit, self.isMemoryFull) = (limit, isMemoryFull)
    }

    /// How many results have a place, and how many requests wait for them.
    package var counts: (results: Int, requests: Int) {
        requestCounts.withLock { ($0.count, $0.values.reduce(0, +)) }
    }

    /// Takes or shares a place; nil if none is free.
    func enter(_ request: RenderingRequest) -> Entry? {
        let key = Self.key(of: request)
        let isFull = isMemoryFull()
        return requestCounts.withLock { counts in
            if let count = counts[key] {
                counts[key] = count + 1
                return .joined
            }
            guard counts.count < limit, !isFull else { return nil }
            counts[key] = 1
            return .first
        }
    }

    /// Gives the place up, once for each time it was entered.
    func leave(_ request: RenderingRequest) {
        let key = Self.key(of: request)
        requestCounts.withLock { counts in
            guard let count = counts[key] else { return }
            counts[key] = count > 1 ? count - 1 : nil
        }
    }

    /// Without what changes the answer, but not the image.
    private static func key(of request: RenderingRequest) -> RenderingRequest {
        var plan = request.plan
        plan.delivery = ImagePlan().delivery
        return RenderingRequest(plan: plan, preferredFormats: request.preferredFormats)
    }
}
