// Who makes an image that several machines want at one time: one of them, by a lease of the shared tier. A step of a
// load.

import Foundation
import KFSupport

extension ImageLoad {
    /// Makes an image, unless another machine makes it meanwhile.
    ///
    /// The machine that gets the lease looks once more, and then makes the image. The others look again and again until
    /// it is there, or the lease is free because its owner has failed or ended, or a minute is over; then they make it
    /// without a lease, so that waits do not add up. They ask less and less often, and for the lease at every fourth
    /// look only. Without a tier that has leases, the image is made at once.
    ///
    /// - Parameters:
    ///   - isRemaking: Whether the earlier image has been invalidated.
    ///   - lookAgain: Finds the image, if it has been made.
    ///   - make: Makes it.
    /// - Returns: The image.
    /// - Throws: ``KingfisherError``: what making it, or looking for it, throws.
    func madeOnce(
        isRemaking: Bool = false,
        orFound lookAgain: () async throws(KingfisherError) -> LoadedImage?,
        _ make: () async throws(KingfisherError) -> LoadedImage
    ) async throws(KingfisherError) -> LoadedImage {
        let options = plan.options
        // A load that wants its server asked does not take the image of another machine.
        guard let tier = options.targetCache?.core.tier, tier.tier.leases != nil, !options.forceRefresh,
            options.respectCacheControl || !options.refreshCached || isRemaking,
            options.layersToStore.contains(.disk)
        else { return try await make() }
        let key = TierKey(forKey: plan.key.computed, options.forcedExtension)
        var result = await tier.lease(key)
        var looks = 0
        let end = tier.clock.now() + tier.limits.wait
        while case .held = result, tier.clock.now() < end {
            if looks == 0 { tier.count { $0.waits += 1 } }
            if let found = try await lookAgain() { return found }
            guard await tier.pause(after: looks), task.isWanted else { throw plan.notExisting }
            looks += 1
            if looks.isMultiple(of: 4) { result = await tier.lease(key) }
        }
        let hasWaited = looks > 0
        guard case .taken(let lease) = result else { return try await make() }
        do throws(KingfisherError) {
            if let found = try await lookAgain() {
                lease.release()
                return found
            }
            // The other machine has failed, or may not share what it made: the next ones need not wait for this one.
            if hasWaited { lease.release() }
            let made = try await make()
            if !hasWaited { lease.release(after: made.storing) }
            return made
        } catch {
            lease.release()
            throw error
        }
    }

    /// The image, if another machine has put it into the tier, and it may be used without asking its server.
    ///
    /// - Parameter old: What the response said that the disk has, if that cannot be used.
    /// - Returns: The image; nil if there is none.
    /// - Throws: ``KingfisherError``: an image that cannot be processed.
    func imageInTier(newerThan old: CacheMetadata?) async throws(KingfisherError) -> LoadedImage? {
        // Another load of this machine may have made it.
        if case .image(let image) = plan.askMemory() { return LoadedImage(image, from: .memory) }
        let found: CachedImage?
        do throws(KingfisherError) {
            found = try await cached(validates: plan.asksServer) { lookup in
                (lookup.isAgain, lookup.original) = (true, nil)
                lookup.skipsDisk = old != nil || plan.options.refreshCached
                lookup.newerThan = old?.storedAt
            }
        } catch {
            // A disk that cannot be read has nothing.
            guard case .cacheError = error else { throw error }
            return nil
        }
        guard let cached = found, !cached.isInvalidated else { return nil }
        guard cached.isWithMetadata, let metadata = cached.metadata else { return try await result(of: cached) }
        guard plan.options.freshUntil(metadata) > Date(), await answersRequest(cached) else { return nil }
        return try await result(of: cached)
    }
}
