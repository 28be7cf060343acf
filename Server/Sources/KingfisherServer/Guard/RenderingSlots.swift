// Bounds how many results are made at one time, and what their sources take. For the routes, before they ask the
// renderer.

import KFImageURLs
import Synchronization

/// A bounded number of slots, one for each result that is being made or waits for that.
///
/// Requests for a result that has a slot share it, however many they are.
package final class RenderingSlots: Sendable {
    private struct Counts {
        /// Those who hold the slot: requests, and work that goes on for a while after its request has ended.
        var holders = 0
        var requests = 0
    }

    private let limit: Int
    private let isMemoryFull: @Sendable () -> Bool
    private let counted = Mutex<[RenderingRequest: Counts]>([:])

    /// - Parameters:
    ///   - limit: How many slots there are.
    ///   - isMemoryFull: Whether those who have slots take so much memory that there are no more of them for now.
    package init(limit: Int, isMemoryFull: @escaping @Sendable () -> Bool) {
        (self.limit, self.isMemoryFull) = (limit, isMemoryFull)
    }

    /// How many results have a slot, and how many requests wait for them.
    package var counts: (results: Int, requests: Int) {
        counted.withLock { ($0.count, $0.values.reduce(0) { $0 + $1.requests }) }
    }

    /// Takes or shares a slot; nil if none is free.
    ///
    /// - Parameters:
    ///   - request: What is made in it.
    ///   - upload: The memory of an upload, which is held as long as the slot is.
    /// - Returns: The slot.
    package func take(_ request: RenderingRequest, holding upload: UploadMemory.Share? = nil) -> RenderingSlot? {
        let key = Self.key(of: request)
        let isFull = isMemoryFull()
        let isFirst: Bool? = counted.withLock { counts in
            let isFirst = counts[key] == nil
            guard !isFirst || counts.count < limit && !isFull else { return nil }
            counts[key, default: Counts()].holders += 1
            counts[key]?.requests += 1
            return isFirst
        }
        return isFirst.map { RenderingSlot(isFirst: $0, key, in: self, holding: upload) }
    }

    fileprivate func endRequest(_ key: RenderingRequest) { counted.withLock { $0[key]?.requests -= 1 } }

    fileprivate func leave(_ key: RenderingRequest) {
        counted.withLock { counts in
            counts[key]?.holders -= 1
            if counts[key]?.holders == 0 { counts[key] = nil }
        }
    }

    /// Without what changes the answer, but not the image.
    private static func key(of request: RenderingRequest) -> RenderingRequest {
        var plan = request.plan
        plan.delivery = ImagePlan().delivery
        // Each version of a source is another download, and so is what a client's cookies get.
        plan.delivery.cacheBuster = request.plan.delivery.cacheBuster
        var key = RenderingRequest(plan: plan, preferredFormats: request.preferredFormats)
        (key.isFallback, key.cookies, key.isReload) = (request.isFallback, request.cookies, request.isReload)
        key.upload = request.upload
        return key
    }
}

/// A slot, as one request has taken or shared it.
///
/// It is given up with the last reference, and so held as long as anything may still work for the request: the
/// processor of the request has a reference.
package final class RenderingSlot: Sendable {
    /// Whether no other request had the slot.
    let isFirst: Bool
    private let key: RenderingRequest
    private let slots: RenderingSlots
    private let upload: UploadMemory.Share?
    private let hasRequest = Atomic(true)

    fileprivate init(
        isFirst: Bool,
        _ key: RenderingRequest,
        in slots: RenderingSlots,
        holding upload: UploadMemory.Share?
    ) {
        (self.isFirst, self.key, self.slots, self.upload) = (isFirst, key, slots, upload)
    }

    deinit {
        endRequest()
        slots.leave(key)
    }

    /// The request has been answered, or its client has left.
    func endRequest() {
        if hasRequest.exchange(false, ordering: .relaxed) { slots.endRequest(key) }
    }
}
