// The right to make an image that one machine has at a time. For TierAccess and loads.

import Foundation
import KFSupport

/// A lease that is held, and renewed until it is given back or lost.
final class TierLease: Sendable {
    private let access: TierAccess
    private let leases: any SharedLeases
    private let key: TierKey
    private let owner: String
    private let renewing = Locked<Task<Void, Never>?>(nil)

    fileprivate init(_ access: TierAccess, _ leases: any SharedLeases, _ key: TierKey, owner: String) {
        (self.access, self.leases, self.key, self.owner) = (access, leases, key, owner)
    }

    /// Renews it every third of its time.
    fileprivate func keep() {
        let task = Task { [self] in
            while await access.clock.sleep(access.limits.lease / 3) {
                let duration = access.limits.lease
                let isHeld = await access.callAnyway(within: access.limit(of: key.lease)) { [leases, key, owner] in
                    try await leases.renew(key.lease, owner: owner, duration: duration)
                }
                // A lease that could not be renewed for lack of an answer may still be there.
                guard isHeld == false, !Task.isCancelled else { continue }
                return access.count { $0.lostLeases += 1 }
            }
        }
        renewing.withLock { $0 = task }
    }

    /// Waits until the made image has reached the tier, but not for long: others would wait behind slow writes.
    private func handOver(_ storing: Promise<CacheStoreResult>) async {
        let end = Promise<Void>()
        let writing = Task { [access, key] in
            _ = await storing.value
            await access.writes.finished(key)
            end.fulfil(())
        }
        let timer = Task { [access] in if await access.clock.sleep(access.limits.handOver) { end.fulfil(()) } }
        await end.value
        writing.cancel()
        timer.cancel()
    }

    /// Gives it back in the background, once the made image has reached the tier.
    ///
    /// - Parameter storing: Fulfilled when the made image is stored here; nil if nothing is stored.
    func release(after storing: Promise<CacheStoreResult>? = nil) {
        Task { [self] in
            if let storing { await handOver(storing) }
            renewing.withLock { $0 }?.cancel()
            _ = await access.callAnyway(within: access.limits.write) { [leases, key, owner] in
                try await leases.release(key.lease, owner: owner)
            }
        }
    }
}

extension TierAccess {
    /// Who may make an entry, as the tier says.
    enum LeaseResult: Sendable {
        /// This machine, until it gives the lease back.
        case taken(TierLease)
        /// Another one at this time.
        case held
        /// Each for itself: the tier cannot say.
        case unknown
    }

    /// Asks for the right to make an entry.
    func lease(_ key: TierKey) async -> LeaseResult {
        guard let leases = tier.leases else { return .unknown }
        let owner = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let duration = limits.lease
        let take: @Sendable () async throws -> Bool = {
            try await leases.lease(key.lease, owner: owner, duration: duration)
        }
        let isTaken = await call(within: limit(of: key.lease), take)
        guard let isTaken else { return .unknown }
        guard isTaken else { return .held }
        count { $0.leases += 1 }
        let lease = TierLease(self, leases, key, owner: owner)
        lease.keep()
        return .taken(lease)
    }

    /// Waits before the tier is asked again for what another machine makes, or changes: longer and longer, a fifth of a
    /// second in the end.
    ///
    /// - Parameter number: How many such waits there were before.
    /// - Returns: Whether it was not cancelled.
    func pause(after number: Int = 0) async -> Bool {
        let longest = min(20 << min(number, 10), 200)
        return await clock.sleep(.milliseconds(Int.random(in: longest * 3 / 4...longest)))
    }
}
