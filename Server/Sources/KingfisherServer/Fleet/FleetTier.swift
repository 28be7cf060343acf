// The store that several servers share, made of the settings. For the program, and for applications.

import Foundation
package import KFImageURLs
@_spi(Server) package import Kingfisher
import KingfisherTiers

extension FleetSettings {
    /// The tier; nil if none is set.
    ///
    /// A store that cannot be reached is no error: servers work without it until it can.
    ///
    /// - Throws: ``InvalidConfiguration`` if a URL is none of a store.
    package func makeTier() throws(InvalidConfiguration) -> (any SharedTier)? {
        guard let tier else {
            if leases != nil { throw InvalidConfiguration(complaints: ["KF_LEASES: It needs KF_TIER."]) }
            return nil
        }
        guard Self.scheme(of: tier) == "s3" else {
            if leases != nil {
                throw InvalidConfiguration(complaints: ["KF_LEASES: KF_TIER has leases of its own; leave this out."])
            }
            return try redis(tier, "KF_TIER")
        }
        let store = try store(tier)
        guard let leases else { return store }
        // It is near, as a store of its own would be.
        var coordinator = FleetSettings()
        (coordinator.tierTimeout, coordinator.tierRate) = (tierTimeout.map { max($0, 250) }, nil)
        return LeasedTier(store: store, coordinator: try coordinator.redis(leases, "KF_LEASES"))
    }

    private static func scheme(of text: String) -> String { components(of: text)?.scheme?.lowercased() ?? "" }

    private static func components(of text: String) -> URLComponents? {
        lenientURL(text.utf8).flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
    }

    private func redis(_ text: String, _ name: String) throws(InvalidConfiguration) -> RedisTier {
        // The largest value is a mebibyte.
        let transfer = Duration.seconds(1_048_576 / Double(tierRate ?? 4_000_000))
        do { return try RedisTier(text, readTimeout: .milliseconds(tierTimeout ?? 250) + transfer) } catch {
            throw InvalidConfiguration(complaints: ["\(name): \(error)"])
        }
    }

    /// A store by `s3://bucket/prefix?region=…&endpoint=…`.
    private func store(_ text: String) throws(InvalidConfiguration) -> S3Tier {
        func complaint(_ text: String) -> InvalidConfiguration {
            InvalidConfiguration(complaints: ["KF_TIER: \(text)"])
        }
        guard let parts = Self.components(of: text), let bucket = parts.host, !bucket.isEmpty else {
            throw complaint("It must be s3://bucket/prefix?region=…&endpoint=…, in quotes in a shell.")
        }
        var arguments: [String: String] = [:]
        for item in parts.queryItems ?? [] { arguments[item.name] = item.value }
        let unknown = arguments.keys.filter { !["region", "endpoint", "addressing"].contains($0) }.sorted()
        guard unknown.isEmpty else {
            throw complaint("\(unknown.joined(separator: ", ")) is unknown; there are region, endpoint and addressing.")
        }
        let endpoint = arguments["endpoint"].flatMap { lenientURL($0.utf8) }
        guard arguments["endpoint"] == nil || endpoint?.host != nil else { throw complaint("The endpoint is no URL.") }
        let prefix = parts.path.split(separator: "/").joined(separator: "/")
        var configuration = S3Tier.Configuration(
            bucket: bucket,
            region: arguments["region"] ?? "us-east-1",
            endpoint: endpoint,
            prefix: prefix.isEmpty ? "kingfisher" : prefix
        )
        if let addressing = arguments["addressing"] {
            guard ["path", "host"].contains(addressing) else { throw complaint("addressing is path or host.") }
            configuration.addressing = addressing == "path" ? .path : .virtualHost
        }
        if let tierTimeout { configuration.answerTimeout = .milliseconds(tierTimeout) }
        if let tierRate { configuration.minimumRate = tierRate }
        do { return try S3Tier(configuration) } catch { throw complaint("\(error)") }
    }
}
