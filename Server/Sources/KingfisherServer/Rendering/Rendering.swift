// How the routes ask for results, and why there may be none. For the routes; the renderer and tests implement it.

import Foundation
package import KFImageURLs
package import Kingfisher

/// Makes the results of plans.
package protocol Rendering: Sendable {
    /// A result that is in the caches and may be sent; nil if it would have to be loaded or made.
    func cached(_ request: RenderingRequest) async -> RenderedImage?
    /// How to look for a result in memory; for a request that comes often.
    func memoryLookup(for request: RenderingRequest) -> MemoryLookup
    /// A result: from the caches, or made. All that ask for one at a time share one making.
    ///
    /// What is made ends in a cancelled task, though not at once; the place is held until it has.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - place: The place that it takes; nil if it takes none.
    ///   - seconds: The time that is left for it.
    /// - Returns: The result.
    /// - Throws: ``RenderingError``: why there is none.
    func render(_ request: RenderingRequest, in place: Place?, within seconds: Double)
        async throws(RenderingError) -> RenderedImage
    /// Asks the source's server about a result that was sent though it is stale, and makes it anew if it has to be.
    func renew(_ request: RenderingRequest, in place: Place?) async
    /// Purges all results of a plan's source, or of a scope, on all servers that share a tier.
    func purge(_ plan: ImagePlan, _ mode: PurgeMode) async throws(RenderingError)
    func purge(_ scope: PurgeScope, _ mode: PurgeMode) async throws(RenderingError)
    /// What became of the calls to the shared tier; nil without one.
    var tierStatistics: SharedTierStatistics? { get }
    /// Whether the sources that were loaded, and of which results have yet to be made, take all the memory they may.
    var isMemoryFull: Bool { get }
}

/// Looks for one result in memory without waiting; nil if it is not there, or may not be sent without a question.
package typealias MemoryLookup = @Sendable () -> RenderedImage?

/// A plan, and what else decides about its result.
package struct RenderingRequest: Hashable, Sendable {
    package let plan: ImagePlan
    /// The formats that the server prefers for this client, best first; empty without negotiation.
    ///
    /// They come before one that the plan names: where none of them holds the result, that one does.
    package let preferredFormats: [FileFormat]
    /// Whether the server's own image is taken in place of the source.
    package var isFallback = false
    /// The cookies that are sent to the server of the source; nil sends none.
    package var cookies: String?
    /// Whether the source's server is asked, however long its answer may still be used.
    package var isReload = false

    package init(plan: ImagePlan, preferredFormats: [FileFormat] = []) {
        (self.plan, self.preferredFormats) = (plan, preferredFormats)
    }
}

/// A result as it is sent.
package struct RenderedImage: Sendable {
    package let image: EncodedImage
    /// A strong validator of its bytes, with quotes.
    package let entityTag: String
    /// How long its making took; nil for a result that was not made, or for another request.
    package var times: MakingTimes?
    /// In what it is not as it was asked for, a sentence for the log; nil as for ``times``.
    package var warning: String?
    /// Whether it may be sent, and is to be renewed.
    package var isStale = false
    /// The source that it was made of for this request; nil as for ``times``.
    package var origin: OriginSize?
    /// When the source was changed, as a field of HTTP; nil if that is not known.
    package var lastModified: String?

    package init(image: EncodedImage, entityTag: String) {
        (self.image, self.entityTag) = (image, entityTag)
        lastModified = image.cacheMetadata?.lastModified
    }
}

/// How large a source is.
package struct OriginSize: Sendable {
    package let width: Int
    package let height: Int
    package let byteCount: Int

    package init(width: Int, height: Int, byteCount: Int) {
        (self.width, self.height, self.byteCount) = (width, height, byteCount)
    }
}

/// The steps of a making.
package struct MakingTimes: Sendable {
    package let source: Duration
    package let pixels: Duration
    package let encoding: Duration
}

/// Why there is no result.
package struct RenderingError: Error, Sendable {
    /// The status code of the answer.
    package let status: Int
    /// One word for metrics, such as `source_timeout`.
    package let kind: String
    /// A sentence for those who develop and for the log, without anything secret.
    package let reason: String
    /// The seconds after which the same request may be answered; nil where that is not known.
    package let retryAfter: Int?
    /// The name of the option or preset that it is about, for the log; nil for others.
    package let subject: String?

    package init(status: Int, kind: String, reason: String, retryAfter: Int? = nil, subject: String? = nil) {
        (self.status, self.kind, self.reason, self.retryAfter) = (status, kind, reason, retryAfter)
        self.subject = subject
    }
}
