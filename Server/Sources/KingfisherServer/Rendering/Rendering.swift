// How the routes ask for results. For the routes; the renderer and tests implement it.

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
    /// What is made ends in a cancelled task, though not at once; the slot is held until it has.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - slot: The slot that it takes; nil if it takes none.
    ///   - seconds: The time that is left for it.
    /// - Returns: The result.
    /// - Throws: ``RenderingError``: why there is none.
    func render(_ request: RenderingRequest, in slot: RenderingSlot?, within seconds: Double)
        async throws(RenderingError) -> RenderedImage
    /// What is known of an upload; the slot is held until it has been found out.
    ///
    /// - Parameters:
    ///   - upload: The upload.
    ///   - slot: The slot that it takes.
    /// - Returns: What is known.
    /// - Throws: ``RenderingError``: why nothing is.
    func facts(of upload: UploadedFile, in slot: RenderingSlot) async throws(RenderingError) -> UploadFacts
    /// Asks the source's server about a result that was sent though it is stale, and makes it anew if it has to be.
    func renew(_ request: RenderingRequest, in slot: RenderingSlot?) async
    /// Purges all results of a plan's source, or of a scope, on all servers that share a tier.
    func purge(_ plan: ImagePlan, _ mode: PurgeMode) async throws(RenderingError)
    func purge(_ scope: PurgeScope, _ mode: PurgeMode) async throws(RenderingError)
    /// What became of the calls to the shared tier; nil without one.
    var tierStatistics: SharedTierStatistics? { get }
    /// How many bytes of sources may be in memory before results are made of them; as many uploads may be.
    var maxSourceBytes: Int { get }
    /// Whether the sources that were loaded, and of which results have yet to be made, take all the memory they may.
    var isMemoryFull: Bool { get }
}

/// Looks for one result in memory without waiting; nil if it is not there, or may not be sent without a question.
package typealias MemoryLookup = @Sendable () -> RenderedImage?
