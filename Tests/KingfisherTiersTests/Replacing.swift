// Replacing a value on condition that it is the expected one, one after the other and at one time. For tests of the
// tiers.

import Foundation
import KingfisherTiers

import protocol Kingfisher.SharedTier

/// Whether a value was replaced that was expected to be another one, none, none again, the right one, and the former
/// one.
func replacements(in tier: any SharedTier, _ key: String) async throws -> [Bool] {
    let (one, two) = (Data([0, 13, 10, 255]), Data("two".utf8))
    var results: [Bool] = []
    for (value, expected) in [(one, two), (one, nil), (two, nil), (two, one), (one, one)] as [(Data, Data?)] {
        results.append(try await tier.put(value, forKey: key, replacing: expected))
    }
    return results
}

/// How many of twenty calls at one time replace a value that all of them have seen.
func winners(in tier: any SharedTier, _ key: String) async throws -> Int {
    let seen = try await tier.get(key)
    return try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<20 {
            group.addTask { try await tier.put(Data("\(number)".utf8), forKey: key, replacing: seen) }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
}
