// Random numbers that are the same for each seed, and the seed of a run: another one each time, or the one of the
// environment. For tests of random cases.

internal import Foundation

/// Random numbers that are the same for each seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    package var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The seed of random tests, printed once, so that a failure can be had again with `KF_TEST_SEED` in the environment.
package enum TestSeed {
    /// The seed of this run.
    package static let value: UInt64 = {
        let given = ProcessInfo.processInfo.environment["KF_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...999_999_999)
        print("KF_TEST_SEED=\(seed)")
        return seed
    }()

    /// The generator of one case: a failure in it does not depend on the cases before.
    package static func generator(_ number: Int) -> SeededGenerator {
        SeededGenerator(state: value &* 1_000_003 &+ UInt64(truncatingIfNeeded: number))
    }
}
