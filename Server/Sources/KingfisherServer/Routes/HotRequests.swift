// The requests that are answered from memory again and again, with what was found out about them. For the routes.

package import Foundation
import HTTPTypes
package import KFImageURLs
import Kingfisher
import Synchronization

/// A bounded number of requests that were answered from memory, by their paths and what their clients accept.
package struct HotRequests: Sendable {
    /// A request; its path was read, and its signature checked.
    package final class Known: Sendable, CacheCostCalculable {
        let parsed: ParsedPath
        let image: MemoryLookup
        /// Only the number of them is limited.
        package let cacheCost = 0
        /// The fields of the answer with the image of a tag.
        private let answer = Mutex<(entityTag: String, fields: HTTPFields)?>(nil)

        package init(_ parsed: ParsedPath, _ image: @escaping MemoryLookup) {
            (self.parsed, self.image) = (parsed, image)
        }

        /// The fields of the answer with an image, as they were made for it before, or are now.
        func fields(for entityTag: String, _ make: () -> HTTPFields) -> HTTPFields {
            if let answer = answer.withLock({ $0 }), answer.entityTag == entityTag { return answer.fields }
            let fields = make()
            answer.withLock { $0 = (entityTag, fields) }
            return fields
        }
    }

    /// Each takes some kilobytes.
    private static let limit = 4096
    private static let longestKey = 2048

    private let known: MemoryStorage.Backend<Known>

    package init() {
        var config = MemoryStorage.Config(totalCostLimit: 0, cleanInterval: 0)
        (config.countLimit, config.expiration) = (Self.limit, .never)
        known = MemoryStorage.Backend(config: config)
    }

    /// What is known of a request, if its URL is still valid.
    ///
    /// - Parameters:
    ///   - path: The path as it was sent.
    ///   - accept: What the client accepts; nil where answers do not depend on it.
    ///   - now: The time.
    /// - Returns: What is known; nil if it has to be read.
    package func find(_ path: String, accept: String?, now: Date = Date()) -> Known? {
        guard let key = Self.key(path, accept), let found = known.value(forKey: key, extendingExpiration: .none)
        else { return nil }
        if let end = found.parsed.plan.delivery.expirationDate, end < now { return nil }
        return found
    }

    /// Keeps a request in place of one that was used less.
    package func keep(_ request: Known, path: String, accept: String?) {
        guard let key = Self.key(path, accept), key.utf8.count <= Self.longestKey else { return }
        known.store(value: request, forKey: key)
    }

    /// The key of a request; no path has a blank in it.
    ///
    /// Nil for a path that is not ASCII: Swift compares texts by characters, so two different paths could be equal.
    private static func key(_ path: String, _ accept: String?) -> String? {
        guard path.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return accept.map { "\(path) \($0)" } ?? path
    }
}
