// Looks for the purges before the last ones in a tier. For PurgeLog.

import Foundation

extension PurgeRecords {
    /// The same with earlier purges, back to a generation; nil if not all of them are there, or the tier cannot be asked.
    func extended(backTo known: UInt64, in tier: TierAccess, atMost limit: UInt64 = .max) async -> PurgeRecords? {
        var all = self
        var count: UInt64 = 0
        while all.base > known {
            guard count < limit, let name = all.nameBefore(within: count),
                let found = await tier.purges(name), let part = found.flatMap({ PurgeRecords(encoded: $0) }),
                all.prepend(part)
            else { return nil }
            count += 1
        }
        return all
    }
}

extension TierAccess {
    /// A value that says what was purged; nil if the tier cannot be asked.
    func purges(_ name: String) async -> Data?? {
        await callAnyway(within: limit(of: name)) { [tier] in try await tier.get(name) }
    }
}
